"""Files that only their owner can read, and that are never overwritten."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_for_owner(path: Path, content: str | bytes) -> None:
    """Make a file; raises FileExistsError for one that is there."""
    data = content.encode() if isinstance(content, str) else content
    # With its mode from the beginning: there is no moment in which others could open it.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def replace_for_owner(path: Path, content: str) -> None:
    """Write a file anew, as a whole or not at all."""
    partial = path.with_name(f".{path.name}.new")
    partial.unlink(missing_ok=True)
    write_for_owner(partial, content)
    partial.replace(path)


def make_folder(path: Path) -> None:
    """Make a folder that only its owner can look into; raises FileExistsError."""
    path.mkdir(mode=0o700)


def sync_folder(path: Path) -> None:
    """See to it that a power cut leaves what was made in a folder."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def lend_path(pem: bytes) -> Iterator[str]:
    """Lend a path to bytes, which Python's ssl wants; on Linux they never come near a disk."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("headwater-pem", os.MFD_CLOEXEC)
        try:
            os.write(fd, pem)
            yield f"/proc/self/fd/{fd}"
        finally:
            os.close(fd)
    else:
        with tempfile.NamedTemporaryFile() as file:  # readable by its owner only
            file.write(pem)
            file.flush()
            yield file.name
