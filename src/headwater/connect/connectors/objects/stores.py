"""Where files are put: a bucket of an S3-compatible store, or a folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol
from urllib.parse import unquote, urlsplit

from headwater.connect.connectors.connector import ConnectorError, RetriableError

if TYPE_CHECKING:
    from headwater.config import Values

_COPIED_AT_ONCE = 5 << 20
_CONNECT_WITHIN_S = 10.0
_KEYS = "aws.access.key.id, aws.secret.access.key"


class Store(Protocol):
    """Takes files as wholes, under names with slashes; one of the same name is replaced."""

    def put(self, name: str, file: BinaryIO) -> None:
        """Store a file, from where it stands; raises ConnectorError."""
        ...


def open_store(config: Values) -> Store:
    """Return the store that the properties name; raises ConnectorError if it is not there."""
    url = urlsplit(config.text("store.url") or "")
    if url.scheme == "file":
        return FolderStore(Path(unquote(url.path)))
    return BucketStore(config)


class FolderStore:
    """A folder of this machine."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, name: str, file: BinaryIO) -> None:
        """Write a hidden file, which gets its name when it is on disk."""
        path = self._root / name
        partial = path.with_name(f".{path.name}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as target:
                shutil.copyfileobj(file, target, _COPIED_AT_ONCE)
                target.flush()
                os.fsync(target.fileno())
            partial.replace(path)
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as failure:
            raise RetriableError(
                f"store.url: {path} cannot be written: {failure.strerror}"
            ) from failure


class BucketStore:
    """A bucket. An object is there when all of it has arrived, however large it is."""

    def __init__(self, config: Values) -> None:
        from pyarrow.fs import AwsStandardS3RetryStrategy, FileType, S3FileSystem

        self._bucket = config.text("s3.bucket.name") or ""
        self._url = config.text("store.url") or f"Amazon's S3 in {config.text('s3.region')}"
        address = urlsplit(config.text("store.url") or "")
        options: dict[str, Any] = {}
        if address.netloc:
            options |= {"endpoint_override": address.netloc, "scheme": address.scheme}
        if key := config.text("aws.access.key.id"):
            options |= {"access_key": key, "secret_key": config.text("aws.secret.access.key")}
        tries = config.integer("s3.part.retries") + 1
        self._files = S3FileSystem(
            region=config.text("s3.region"),
            connect_timeout=_CONNECT_WITHIN_S,
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=tries),
            **options,
        )
        try:
            found = self._files.get_file_info(self._bucket)
        except OSError as failure:
            raise self._explained("cannot be asked", failure) from failure
        if found.type == FileType.NotFound:
            raise ConnectorError(
                f"s3.bucket.name: {self._url} has no bucket {self._bucket}; make it, or name "
                "another one"
            )

    def put(self, name: str, file: BinaryIO) -> None:
        """Upload an object."""
        try:
            with self._files.open_output_stream(f"{self._bucket}/{name}") as target:
                while part := file.read(_COPIED_AT_ONCE):
                    target.write(part)
        except OSError as failure:
            raise self._explained(f"did not take {name}", failure) from failure

    def _explained(self, what: str, failure: OSError) -> ConnectorError:
        said = str(failure)
        if "NO_SUCH_BUCKET" in said:
            return ConnectorError(f"s3.bucket.name: {self._url} has no bucket {self._bucket}")
        if any(each in said for each in ("ACCESS_DENIED", "ACCESS_KEY_ID", "SIGNATURE")):
            return ConnectorError(
                f"{_KEYS}: {self._url} {what}, as these are refused for the bucket "
                f"{self._bucket}: {said}"
            )
        if "NETWORK_CONNECTION" in said:
            return RetriableError(f"store.url: {self._url} cannot be reached: {said}")
        return RetriableError(f"{self._url} {what}: {said}")
