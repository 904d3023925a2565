"""The time index of a segment: up to which offset all timestamps are at most this one."""

from __future__ import annotations

import struct
from typing import ClassVar

from headwater.log.indexes.index_file import CorruptIndex, IndexFile

NO_TIMESTAMP = -1


class TimeIndex(IndexFile):
    """Maps growing timestamps to the last offset of the batch that first reached each."""

    __slots__ = ("last_offset", "last_timestamp")

    entry_format: ClassVar[struct.Struct] = struct.Struct(">qi")

    def __init__(self, path: str, base_offset: int) -> None:
        super().__init__(path, base_offset)
        self.last_timestamp = NO_TIMESTAMP
        self.last_offset = base_offset

    def append(self, timestamp: int, offset: int) -> None:
        """Add an entry, unless no timestamp has grown since the last one."""
        if timestamp > self.last_timestamp:
            self._write(timestamp, offset - self.base_offset)
            self.last_timestamp = timestamp
            self.last_offset = offset

    def entry(self, number: int) -> tuple[int, int]:
        """Return the timestamp and the offset of an entry."""
        timestamp, relative = self._read(number)
        return timestamp, self.base_offset + relative

    def first_above(self, timestamp: int) -> int:
        """Number of the first entry with a larger timestamp; `count` if there is none."""
        return self._floor(timestamp) + 1 if self.count else 0

    @classmethod
    def most_entries(cls, max_bytes: int) -> int:
        """How many entries there is room for, besides the one of the segment's end."""
        return max_bytes // cls.entry_format.size - 1

    def check(self) -> None:
        """Look for signs of damage; raises CorruptIndex."""
        if self.count == 0:
            return
        last = self.last_timestamp, self.last_offset - self.base_offset
        first = last if self.count == 1 else self._read(0)
        if first[1] < 0 or last[1] < first[1] or (self.count > 1 and last[0] <= first[0]):
            raise CorruptIndex(f"its entries do not grow: {first} to {last}")

    def _note_last(self, last: tuple[int, int] | None) -> None:
        timestamp, relative = (NO_TIMESTAMP, 0) if last is None else last
        self.last_timestamp, self.last_offset = timestamp, self.base_offset + relative
