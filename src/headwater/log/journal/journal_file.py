"""One file of the journal: its space is reserved, and used again and again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from headwater.log.disk import sync_data, sync_directory, write_at
from headwater.log.journal.journal_format import BLOCK, encode_group, group_size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.log.journal.journal_format import LogId
    from headwater.log.log import Log

# One system call that writes and syncs; elsewhere it takes two.
_DSYNC = getattr(os, "RWF_DSYNC", 0)


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
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._fd, 0, size)
            os.fsync(self._fd)
            sync_directory(path.parent)
        except OSError:
            self.close()
            path.unlink()
            raise

    def has_room(self, length: int, reserve: int) -> bool:
        """Whether a group with entries of so many bytes fits, and so much is left after it."""
        return self._position + group_size(length) <= self._size - reserve

    def write(self, number: int, parts: Sequence[bytes], length: int) -> None:
        """Write a group and bring it to disk; raises OSError."""
        if self._position == 0:
            self._first = number
        buffers = encode_group(self._first, number, parts, length)
        size = group_size(length)
        written = os.pwritev(self._fd, buffers, self._position, _DSYNC) if _DSYNC else 0
        if written != size:
            write_at(self._fd, b"".join(buffers)[written:], self._position + written)
            sync_data(self._fd)
        self._position += size

    def clear(self) -> None:
        """Forget what it has, on disk as well; raises OSError."""
        write_at(self._fd, bytes(BLOCK), 0)
        sync_data(self._fd)
        self._position = 0
        self.logs = {}

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()
