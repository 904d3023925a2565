"""The segments of a log in order: which one has an offset, and where in it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.indexes.txn_index import AbortedTxn
    from headwater.log.segments.segment import FileSlice, Segment

_MOST_HINTS = 64


class LogPosition(NamedTuple):
    """An offset with its place: the segment's base offset and the position in its file."""

    offset: int
    segment_base: int
    position: int


class LogSegments:
    """An immutable list of segments that is exchanged as a whole; the last one is active.

    It also remembers where the last readers stopped, so that reading on needs no index.
    """

    __slots__ = ("_bases", "_hints", "_with_aborts", "active", "all", "end")

    def __init__(self, segments: Iterable[Segment], next_offset: int) -> None:
        self._hints: dict[int, tuple[Segment, int]] = {}
        self.replace(segments)
        self.end = LogPosition(next_offset, self.active.base_offset, self.active.size)
        """Where the next batch goes."""

    def replace(self, segments: Iterable[Segment]) -> None:
        """Exchange the list; at least one segment is left, the active one."""
        self.all = tuple(segments)
        self.active = self.all[-1]
        self._bases = [segment.base_offset for segment in self.all]
        self._with_aborts = [segment for segment in self.all[:-1] if segment.aborted]
        self._hints.clear()

    def add(self, segment: Segment) -> None:
        """Put a new, empty active segment at the end."""
        if self.active.aborted:
            self._with_aborts.append(self.active)
        self.all = (*self.all, segment)
        self.active = segment
        self._bases.append(segment.base_offset)
        self.end = LogPosition(self.end.offset, segment.base_offset, 0)
        # Who stopped at the end of the former active segment goes on in this one.
        self._hints.clear()

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return sum(segment.size for segment in self.all)

    def find(self, offset: int) -> tuple[Segment, int]:
        """Segment and position of the first batch that ends at or after `offset`.

        Where compaction has left a gap, that is the next batch; after the last batch, it is the
        end of the active segment.
        """
        hint = self._hints.get(offset)
        if hint is not None:
            return hint
        first = max(0, bisect_right(self._bases, offset) - 1)
        for number in range(first, len(self.all)):
            found = self.all[number].locate(offset)
            if found is not None:
                return self.all[number], found[0]
        return self.active, self.active.size

    def offset_after(self, batches: FileSlice, start: int, upper: LogPosition) -> int:
        """Some offset after a region of a segment that begins with `start`, near its end."""
        holder = self.find(start)[0]
        for segment, following in pairwise(self.all):
            if segment is holder:
                known = segment.offset_after(batches.position + batches.length)
                return min(known or following.base_offset, upper.offset)
        known = self.active.offset_after(batches.position + batches.length)
        return min(known or upper.offset, upper.offset)

    @property
    def has_aborts(self) -> bool:
        """Whether any transaction of the log was aborted at all; of most logs, none was."""
        return bool(self._with_aborts or self.active.aborted)

    def aborted_transactions(self, start: int, end: int) -> list[AbortedTxn]:
        """Find the aborted transactions that overlap the offsets from `start` up to `end`."""
        found: list[AbortedTxn] = []
        # A marker lies after its records, so that earlier segments have none that matters.
        first = self._bases[max(0, bisect_right(self._bases, start) - 1)]
        for segment in (*self._with_aborts, self.active):
            if segment.base_offset < first:
                continue
            more, is_complete = segment.aborted.collect(start, end)
            found += more
            if is_complete:
                break
        return found

    def remember(self, upper: LogPosition) -> None:
        """Note where the batch after the readable ones will be, for whoever reads on there."""
        hints = self._hints
        if upper.offset not in hints and upper.segment_base == self.active.base_offset:
            if len(hints) >= _MOST_HINTS:
                del hints[next(iter(hints))]
            hints[upper.offset] = self.active, upper.position

    def readable_end(self, segment: Segment, upper: LogPosition) -> int:
        """Up to which position of `segment` the batches before `upper` reach."""
        if segment is self.active:
            if upper.segment_base == segment.base_offset:
                return upper.position
            return 0 if upper.segment_base < segment.base_offset else segment.size
        number = bisect_right(self._bases, segment.base_offset)
        if upper.offset >= self._bases[number]:
            return segment.size
        if upper.segment_base == segment.base_offset and not segment.is_cleaned:
            return upper.position
        # Compaction has moved the batches since `upper` was taken.
        holder, position = self.find(upper.offset)
        if holder is segment:
            return position
        return segment.size if holder.base_offset > segment.base_offset else 0
