"""The system calls that the log makes, and what their failures mean to a client."""

from __future__ import annotations

import errno
import mmap
import os
from typing import TYPE_CHECKING

from headwater.log.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.records.batch import Buffer

# macOS has no fdatasync.
sync_data = getattr(os, "fdatasync", os.fsync)

_ADVICE = {
    errno.ENOSPC: "free some disk space or lower retention.bytes; no restart is needed",
    errno.EDQUOT: "raise the disk quota or free some space; no restart is needed",
    errno.EROFS: "the file system is mounted read-only: look for disk errors, remount and restart",
    errno.EIO: "the disk reports errors: check its health before restarting",
    errno.EACCES: "give the broker's user write access to the data directory",
    errno.EPERM: "give the broker's user write access to the data directory",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "raise the system's limit of open files",
    errno.EFBIG: "raise the limit of the file size (ulimit -f)",
}


class OpenFile:
    """Owns a file descriptor and closes it when nobody refers to it any more.

    A reader that still sends from a deleted segment keeps its bytes reachable this way.
    """

    __slots__ = ("fd", "is_unsynced", "is_used")

    def __init__(self, path: str, *, create: bool = False) -> None:
        self.fd = -1
        self.is_used = True
        """Whether anybody has used it since this was last set to false."""
        self.is_unsynced = False
        """Whether bytes were written to it that may not be on disk."""
        self.fd = _open(path, os.O_CREAT if create else 0)

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        return os.fstat(self.fd).st_size

    @property
    def modified_ns(self) -> int:
        """When it was last written to."""
        return os.fstat(self.fd).st_mtime_ns

    def read(self, length: int, position: int) -> bytes:
        """Read `length` bytes from a position, fewer only where the file ends."""
        return read_at(self.fd, length, position)

    def write(self, data: Buffer, position: int) -> None:
        """Write all of `data` at a position."""
        self.is_unsynced = True
        written = os.pwrite(self.fd, data, position)
        if written < len(data):
            write_at(self.fd, memoryview(data)[written:], position + written)

    def truncate(self, size: int) -> None:
        """Cut the file to a size."""
        self.is_unsynced = True
        os.ftruncate(self.fd, size)

    def sync(self) -> None:
        """Bring the file's bytes to the disk."""
        # First, since others may write while this is under way.
        self.is_unsynced = False
        try:
            sync_data(self.fd)
        except OSError:
            self.is_unsynced = True
            raise

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def write_at(fd: int, data: Buffer, position: int) -> None:
    """Write all of `data` at a position; the system may take it in several bites."""
    written = os.pwrite(fd, data, position)
    if written == len(data):
        return
    view = memoryview(data)
    while written < len(view):
        written += os.pwrite(fd, view[written:], position + written)


def read_at(fd: int, length: int, position: int) -> bytes:
    """Read `length` bytes from a position, fewer only where the file ends."""
    data = os.pread(fd, length, position)
    if len(data) == length or not data:
        return data
    parts = [data]
    got = len(data)
    while got < length:
        data = os.pread(fd, length - got, position + got)
        if not data:
            break
        parts.append(data)
        got += len(data)
    return b"".join(parts)


def read_from_disk(fd: int, length: int, position: int) -> bytes:
    """Do the same with what the disk has, as far as nothing waits to be written there.

    Pages that a disk has refused count as written, and would be read from memory until a reboot.
    """
    if hasattr(os, "posix_fadvise"):  # not on macOS
        start = position - position % mmap.PAGESIZE
        past = position + length + mmap.PAGESIZE - 1
        os.posix_fadvise(fd, start, past - past % mmap.PAGESIZE - start, os.POSIX_FADV_DONTNEED)
    return read_at(fd, length, position)


def names_in(directory: str | Path) -> list[str]:
    """List what a directory has; a start does so for every partition, so without `Path`s."""
    return os.listdir(directory)  # noqa: PTH208


def sync_directory(path: str | Path) -> None:
    """Make created, renamed and removed names in a directory survive a power cut."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_atomically(
    path: Path, data: bytes, *, durable: bool = True, is_private: bool = False
) -> None:
    """Replace a file in one step: a crash leaves the old content or the new, never a mixture.

    One that is private can be read by its owner alone, from its first byte on.
    """
    if is_private:
        # Whoever has opened what a crash left there would read on.
        temporary_of(path).unlink(missing_ok=True)
    replace_file(path, data, durable=durable, mode=0o600 if is_private else 0o644)
    if durable:
        sync_directory(path.parent)


def temporary_of(path: Path) -> Path:
    """Return the file that is renamed to this one, which a crash may leave behind."""
    return path.with_name(f"{path.name}.tmp")


def replace_file(path: str | Path, data: bytes, *, durable: bool, mode: int = 0o644) -> None:
    """Do the same without the directory, which a caller with more to rename syncs once."""
    temporary = f"{path}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        write_at(fd, data, 0)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(temporary, path)  # noqa: PTH105 - many partitions, and a Path takes its time


def remove_tree(directory: Path, *, ignore_errors: bool = False) -> None:
    """Remove a directory with all that is in it."""
    # Not at the top: it loads three compressors for archives, and most brokers delete nothing.
    import shutil

    shutil.rmtree(directory, ignore_errors=ignore_errors)


def storage_error(error: OSError, doing: str) -> StorageError:
    """Say which operation the disk refused, why, and what the operator can do."""
    reason = error.strerror or str(error)
    where = f" ({error.filename})" if error.filename else ""
    advice = _ADVICE.get(error.errno or 0, "see the system's log for the cause")
    return StorageError(f"{doing} failed{where}: {reason}; {advice}.")


def _open(path: str, flags: int) -> int:
    flags |= os.O_CLOEXEC
    try:
        return os.open(path, os.O_RDWR | flags, 0o644)
    except OSError as error:
        # What cannot be written can still be served.
        if error.errno not in (errno.EACCES, errno.EROFS, errno.EPERM) or flags & os.O_CREAT:
            raise
        return os.open(path, os.O_RDONLY | flags)
