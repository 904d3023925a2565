"""Downloads jars from a Maven repository that the user has named, such as a company's mirror."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater.java.coordinates import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.java.coordinates import Coordinate

_VARIABLE = "HEADWATER_MAVEN_REPOSITORY"
_AT_ONCE = 8
_ANSWER_WITHIN_S = 60.0
_NOT_FOUND = 404


def is_chosen() -> bool:
    """Whether the user has named a repository; then it is asked, and no other."""
    return bool(os.environ.get(_VARIABLE))


def address() -> str:
    """Return the address of the repository that was named."""
    return os.environ[_VARIABLE].rstrip("/")


def download(wanted: Sequence[Coordinate], into: Path) -> None:
    """Put the jars into a directory; raises ArtifactError if one cannot be had."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        tasks = [pool.submit(_download, each, into) for each in wanted]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _download(coordinate: Coordinate, into: Path) -> None:
    data = _get(coordinate, f"{address()}/{coordinate.path}")
    checksum = _get(coordinate, f"{address()}/{coordinate.path}.sha1").decode("latin-1").split()
    # Maven's own check: every repository has this sum beside each file.
    if hashlib.sha1(data, usedforsecurity=False).hexdigest() != (checksum or [""])[0].lower():
        raise ArtifactError(
            f"{coordinate} arrived damaged from {address()}: its checksum is another. Try again; "
            "if it stays so, something between here and there changes what it passes on"
        )
    (into / coordinate.file_name).write_bytes(data)


def _get(coordinate: Coordinate, url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_ANSWER_WITHIN_S) as answer:
            data: bytes = answer.read()
            return data
    except urllib.error.HTTPError as failure:
        if failure.code == _NOT_FOUND:
            raise ArtifactError(f"{address()} does not have {coordinate}") from None
        raise _unreachable(coordinate, f"HTTP {failure.code}") from None
    except urllib.error.URLError as failure:
        raise _unreachable(coordinate, str(failure.reason)) from None
    except (OSError, http.client.HTTPException) as failure:
        raise _unreachable(coordinate, str(failure)) from None


def _unreachable(coordinate: Coordinate, reason: str) -> ArtifactError:
    return ArtifactError(
        f"{coordinate} cannot be fetched from {address()} ({reason}). Connect this machine to the "
        f"internet once, give its proxy in the variable HTTPS_PROXY, or set {_VARIABLE} to the "
        "address of a mirror"
    )
