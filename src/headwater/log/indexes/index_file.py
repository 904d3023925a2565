"""A file of fixed-size index entries: appended in order, found by binary search.

Beyond its first dozens, an index keeps new entries in memory and writes them together, since a
write for each batch would cost an append a tenth of its time. What a crash loses of them recovery
builds anew, as it does with everything in the indexes of an active segment; and their place on the
disk is taken at once, so that it can do so on a full one.

The file is read with plain reads, not mapped into memory: a mapped file that the disk cannot
deliver kills the process, a failed read is an error for one client.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from headwater.log.disk import write_atomically
from headwater.log.open_files import FileHolder

if TYPE_CHECKING:
    import struct

_BLOCK = 512
"""Entries fetched by the last read of a search, about a page."""

_WRITE_TOGETHER = 64
"""Entries that are written at once, when there are as many already."""

_DISK_BLOCK = 4096


class CorruptIndex(Exception):  # noqa: N818 - it states the fact
    """The index does not fit its segment and has to be rebuilt."""


class IndexFile(FileHolder):
    """Entries of two numbers, the first of which grows; the base of both kinds of index."""

    __slots__ = ("_tail", "base_offset", "count", "path")

    entry_format: ClassVar[struct.Struct]

    def __init__(self, path: str, base_offset: int) -> None:
        super().__init__()
        self.path = path
        self.base_offset = base_offset
        self.count = 0
        # How many entries the file has, and those that come after them. One attribute, so that
        # another thread that reads meanwhile sees both as they belong together.
        self._tail = 0, b""

    def create(self) -> None:
        """Make an empty file, or empty the one that is there."""
        self.create_file().truncate(0)
        self.count = 0
        self._tail = 0, b""
        self._entries_changed()

    def load(self) -> None:
        """Take over the entries of an existing file; raises CorruptIndex if it is damaged."""
        size = os.stat(self.path).st_size  # noqa: PTH116 - it is called for every partition
        if size % self.entry_format.size:
            raise CorruptIndex(f"{size} bytes are not a multiple of {self.entry_format.size}")
        self.count = size // self.entry_format.size
        self._tail = self.count, b""
        last = self._read(self.count - 1) if self.count else None
        if last == (0, 0):
            # Kafka reserves space for an active segment's index and leaves zeros when it is killed.
            self._drop_preallocated()
        else:
            self._note_last(last)

    @property
    def file_path(self) -> str:
        """Where the file is at present."""
        return self.path

    def store(self) -> None:
        """Write the entries that are only in memory to the file; if that fails, they stay."""
        stored, unwritten = self._tail
        if unwritten:
            self.file.write(unwritten, stored * self.entry_format.size)
            self._tail = stored + len(unwritten) // self.entry_format.size, b""

    def release(self) -> None:
        """Give the descriptor back until the index is used again."""
        self.store()
        self.close_file()

    def replace(self, entries: bytes) -> None:
        """Exchange all entries in one step, without waiting for the disk."""
        write_atomically(Path(self.path), entries, durable=False)
        self.close_file()
        self.count = len(entries) // self.entry_format.size
        self._tail = self.count, b""
        self._entries_changed()

    def truncate(self, count: int) -> None:
        """Keep the first `count` entries, in the file too."""
        size = self.entry_format.size
        stored, unwritten = self._tail
        kept = min(stored, count)
        self.file.truncate(kept * size)
        self.count = count
        self._tail = kept, unwritten[: (count - kept) * size]
        self._entries_changed()

    def _entries_changed(self) -> None:
        self._note_last(self._read(self.count - 1) if self.count else None)

    def _note_last(self, last: tuple[int, int] | None) -> None:
        """Lets a kind of index remember its last entry, if it has any."""

    def _read(self, number: int) -> tuple[int, int]:
        first, second = self.entry_format.unpack(self._read_range(number, number + 1))
        return first, second

    def _read_range(self, low: int, high: int) -> bytes:
        size = self.entry_format.size
        stored, unwritten = self._tail
        if low >= stored:
            return unwritten[(low - stored) * size : (high - stored) * size]
        wanted = (min(high, stored) - low) * size
        in_file = self.file.read(wanted, low * size)
        if len(in_file) < wanted:
            raise CorruptIndex(f"it ends before entry {min(high, stored)}")
        return in_file if high <= stored else in_file + unwritten[: (high - stored) * size]

    def _write(self, first: int, second: int) -> None:
        stored, unwritten = self._tail
        size = self.entry_format.size
        unwritten += self.entry_format.pack(first, second)
        file_end = stored * size
        if (
            stored < _WRITE_TOGETHER
            or len(unwritten) >= _WRITE_TOGETHER * size
            or (file_end + len(unwritten) - 1) // _DISK_BLOCK != (file_end - 1) // _DISK_BLOCK
        ):
            self.file.write(unwritten, file_end)
            self._tail = stored + len(unwritten) // size, b""
        else:
            self._tail = stored, unwritten
        self.count += 1

    def _floor(self, target: int) -> int:
        """Number of the last entry whose first number is at most `target`, -1 if there is none."""
        low, high = 0, self.count
        # Most look-ups are near the end of the log.
        if high > _BLOCK:
            if self._read(high - _BLOCK)[0] <= target:
                low = high - _BLOCK
            else:
                high -= _BLOCK
        while high - low > _BLOCK:
            middle = (low + high) // 2
            if self._read(middle)[0] <= target:
                low = middle
            else:
                high = middle
        size = self.entry_format.size
        block = self._read_range(low, high)
        first = low
        unpack = self.entry_format.unpack_from
        while low < high:
            middle = (low + high) // 2
            if unpack(block, (middle - first) * size)[0] <= target:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def _drop_preallocated(self) -> None:
        low, high = 0, self.count - 1
        while low < high:
            middle = (low + high) // 2
            if self._read(middle) == (0, 0):
                high = middle
            else:
                low = middle + 1
        self.truncate(low)
