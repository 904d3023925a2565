"""The offset index of a segment: where in the file the batch of an offset is, sparsely."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, ClassVar

from headwater.log.indexes.index_file import CorruptIndex, IndexFile

if TYPE_CHECKING:
    from collections.abc import Iterator


class OffsetIndex(IndexFile):
    """Maps the last offset of some batches to their position in the segment's file."""

    __slots__ = ()

    entry_format: ClassVar[struct.Struct] = struct.Struct(">ii")

    def append(self, last_offset: int, position: int) -> None:
        """Add the batch that ends with `last_offset` and starts at `position`."""
        self._write(last_offset - self.base_offset, position)

    def entry(self, number: int) -> tuple[int, int]:
        """Return the last offset and the position of an entry."""
        relative, position = self._read(number)
        return self.base_offset + relative, position

    def lookup(self, offset: int) -> int:
        """Position from which a forward search for `offset` finds it after a few batches.

        Whether a batch begins there is for the caller to see; raises CorruptIndex.
        """
        if self.count == 0:
            return 0
        number = self._floor(offset - self.base_offset)
        if number < 0:
            return 0
        position = self._read(number)[1]
        if position < 0:
            raise CorruptIndex(f"it points to byte {position}")
        return position

    def entries_before(self, offset: int) -> Iterator[int]:
        """Positions of the entries before the one that `lookup` finds, ever further away."""
        number, step = self._floor(offset - self.base_offset) - 1, 1
        while number >= 0:
            yield self._read(number)[1]
            number, step = number - step, step * 2

    def first_at(self, position: int) -> int:
        """Number of the first entry that is not before `position`; `count` if there is none."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self._read(middle)[1] < position:
                low = middle + 1
            else:
                high = middle
        return low

    @classmethod
    def most_entries(cls, max_bytes: int) -> int:
        """How many entries `segment.index.bytes` leaves room for."""
        return max_bytes // cls.entry_format.size

    def check(self, segment_size: int) -> None:
        """Compare the index with the size of its segment; raises CorruptIndex."""
        if self.count == 0:
            return
        first, last = self._read(0), self._read(self.count - 1)
        if first[0] < 0 or (self.count > 1 and last[0] <= first[0]):
            raise CorruptIndex(f"its offsets do not grow: {first[0]} to {last[0]}")
        if not 0 <= last[1] < segment_size:
            raise CorruptIndex(f"it points to byte {last[1]} of {segment_size}")
