"""A file of fixed-size index entries: appended in order, found by binary search.

The file is read with plain reads, not mapped into memory: a mapped file that the disk cannot
deliver kills the process, a failed read is an error for one client.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from headwater.log.disk import OpenFile, read_at, write_at

if TYPE_CHECKING:
    import struct

_BLOCK = 512
"""Entries fetched by the last read of a search, about a page."""


class CorruptIndex(Exception):  # noqa: N818 - it states the fact
    """The index does not fit its segment and has to be rebuilt."""


class IndexFile:
    """Entries of two numbers, the first of which grows; the base of both kinds of index."""

    __slots__ = ("_file", "base_offset", "count", "path")

    entry_format: ClassVar[struct.Struct]

    def __init__(self, path: str, base_offset: int) -> None:
        self.path = path
        self.base_offset = base_offset
        self.count = 0
        self._file: OpenFile | None = None

    def create(self) -> None:
        """Make an empty file, or empty the one that is there."""
        self._file = OpenFile(self.path, create=True)
        os.ftruncate(self._file.fd, 0)
        self.count = 0
        self._entries_changed()

    def load(self) -> None:
        """Take over the entries of an existing file; raises CorruptIndex if it is damaged."""
        size = self.file.size
        if size % self.entry_format.size:
            raise CorruptIndex(f"{size} bytes are not a multiple of {self.entry_format.size}")
        self.count = size // self.entry_format.size
        self._drop_preallocated()
        self._entries_changed()

    @property
    def file(self) -> OpenFile:
        """The open file; it is opened by the first use, since most segments are rarely read."""
        if self._file is None:
            self._file = OpenFile(self.path)
        return self._file

    def release(self) -> None:
        """Give the descriptor back until the index is used again."""
        self._file = None

    def truncate(self, count: int) -> None:
        """Keep the first `count` entries, in the file too."""
        self.count = count
        os.ftruncate(self.file.fd, count * self.entry_format.size)
        self._entries_changed()

    def _entries_changed(self) -> None:
        """Lets a kind of index refresh what it remembers of its entries."""

    def _read(self, number: int) -> tuple[int, int]:
        size = self.entry_format.size
        first, second = self.entry_format.unpack(read_at(self.file.fd, size, number * size))
        return first, second

    def _write(self, first: int, second: int) -> None:
        entry = self.entry_format.pack(first, second)
        write_at(self.file.fd, entry, self.count * len(entry))
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
        block = read_at(self.file.fd, (high - low) * size, low * size)
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
        # Kafka reserves space for an active segment's index and leaves zeros when it is killed.
        if self.count == 0 or self._read(self.count - 1) != (0, 0):
            return
        low, high = 0, self.count - 1
        while low < high:
            middle = (low + high) // 2
            if self._read(middle) == (0, 0):
                high = middle
            else:
                low = middle + 1
        self.truncate(low)
