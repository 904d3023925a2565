"""A path on any file system that Spark reaches, such as s3a:// or hdfs://, used as pathlib's are.

Only what checkpoints need: their few small files, and the names of those that Spark writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.processes.whole_file import write_whole
from headwater.spark.session import running_session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A file of an object store is there when it is closed, and then as a whole.
_WHOLE_AT_CLOSE = ("s3a", "gs", "abfs", "abfss")


class NoSessionError(Exception):
    """A path of another file system is asked for before Spark runs."""


class HadoopPath:
    """An address on a file system that the running session knows."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")

    def __str__(self) -> str:
        return self._address

    def __truediv__(self, name: str) -> HadoopPath:
        return HadoopPath(f"{self._address}/{name}")

    @property
    def name(self) -> str:
        """The last part."""
        return self._address.rpartition("/")[2]

    def exists(self) -> bool:
        """Whether there is such a file or folder."""
        files, path = self._on_its_system()
        return bool(files.exists(path))

    def mkdir(self, parents: bool = True, exist_ok: bool = True) -> None:
        """Make the folder, and those above it."""
        del parents, exist_ok
        files, path = self._on_its_system()
        files.mkdirs(path)

    def read_text(self, encoding: str) -> str:
        """Return what is in a file."""
        files, path = self._on_its_system()
        stream = files.open(path)
        try:
            data = _jvm().org.apache.hadoop.io.IOUtils.readFullyToByteArray(stream)
        finally:
            stream.close()
        return bytes(data).decode(encoding)

    def write_whole(self, text: str) -> None:
        """Write a file, or leave the one that was there."""
        files, path = self._on_its_system()
        if self._address.partition(":")[0] in _WHOLE_AT_CLOSE:
            _write(files, path, text)
            return
        partial = _jvm().org.apache.hadoop.fs.Path(f"{self._address}.new")
        _write(files, partial, text)
        files.delete(path, False)
        files.rename(partial, path)

    def unlink(self, missing_ok: bool = True) -> None:
        """Delete a file."""
        del missing_ok
        files, path = self._on_its_system()
        files.delete(path, False)

    def remove_tree(self) -> None:
        """Delete a folder with all that is in it."""
        files, path = self._on_its_system()
        files.delete(path, True)

    def glob(self, pattern: str) -> Iterator[HadoopPath]:
        """Go through what is there of such names."""
        files, path = self._on_its_system()
        found = files.globStatus(_jvm().org.apache.hadoop.fs.Path(path, pattern))
        for each in found or ():
            yield HadoopPath(str(each.getPath().toString()))

    def _on_its_system(self) -> tuple[Any, Any]:
        session: Any = running_session()
        if session is None:
            raise NoSessionError(f"{self._address} is not reached before Spark runs")
        path = session._jvm.org.apache.hadoop.fs.Path(self._address)  # noqa: SLF001 - the only door
        conf = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
        return path.getFileSystem(conf), path


def write_file(path: Path | HadoopPath, text: str) -> None:
    """Write a small file as a whole, wherever it is."""
    if isinstance(path, HadoopPath):
        path.write_whole(text)
    else:
        write_whole(path, text)


def _write(files: Any, path: Any, text: str) -> None:
    stream = files.create(path, True)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _jvm() -> Any:
    session: Any = running_session()
    return session._jvm  # noqa: SLF001 - PySpark has no other way to Hadoop's file systems
