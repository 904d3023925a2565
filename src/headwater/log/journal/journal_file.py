"""One file of the journal: its space is reserved, and used again and again."""

from __future__ import annotations

import errno
import mmap
import os
from typing import TYPE_CHECKING

from headwater.log.disk import sync_data, sync_directory, write_at
from headwater.log.journal.journal_format import BLOCK

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.journal.group_buffer import GroupBuffer
    from headwater.log.journal.journal_format import LogId
    from headwater.log.log import Log

# One system call that writes and syncs; elsewhere it takes two.
_DSYNC = getattr(os, "RWF_DSYNC", 0)
# Past the page cache, where nobody looks for it: that spares a copy and the search for its pages.
_DIRECT = getattr(os, "O_DIRECT", 0)
_ZEROS = memoryview(mmap.mmap(-1, BLOCK))


class JournalFile:
    """Takes groups one after the other, until it is full.

    Syncing a write to space that the file has already, and has been written to before, needs no
    commit of the file system's own journal: it costs half of what syncing an append does.
    """

    def __init__(self, path: Path, size: int) -> None:
        """Make the file; raises OSError, and leaves nothing behind then."""
        self.logs: dict[Log, LogId] = {}
        """Of whom there are entries in it."""
        self._path = path
        self._size = size
        self._position = 0
        self._first = 0
        self._fd = _open(path)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._fd, 0, size)
            os.fsync(self._fd)
            sync_directory(path.parent)
        except OSError:
            self.close()
            path.unlink()
            raise

    def has_room(self, size: int, reserve: int) -> bool:
        """Whether a group of so many bytes fits, and so much is left after it."""
        return self._position + size <= self._size - reserve

    def write(self, number: int, group: GroupBuffer) -> None:
        """Write a group and bring it to disk; raises OSError."""
        if self._position == 0:
            self._first = number
        self._write(group.seal(self._first, number), self._position)
        self._position += group.size

    def clear(self) -> None:
        """Forget what it has, on disk as well; raises OSError."""
        self._write(_ZEROS, 0)
        self._position = 0
        self.logs = {}

    def _write(self, data: memoryview, position: int) -> None:
        written = os.pwritev(self._fd, [data], position, _DSYNC) if _DSYNC else 0
        if written != len(data):
            write_at(self._fd, data[written:], position + written)
            sync_data(self._fd)

    def remove(self) -> None:
        """Take it away, on disk as well; raises OSError."""
        self._path.unlink(missing_ok=True)
        sync_directory(self._path.parent)
        self.logs = {}

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        return os.open(path, flags | _DIRECT, 0o644)
    except OSError as error:
        # Not every file system has it.
        if not _DIRECT or error.errno != errno.EINVAL:
            raise
        return os.open(path, flags, 0o644)
