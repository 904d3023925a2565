"""Hold index entries against the batches that they point at, and go on without one that lies.

An entry of the offset index is right if a batch begins at its position that is not after the
offset that was looked for: whoever starts there finds it. An entry of the time index is right if
the batch of its offset has its timestamp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.log.errors import CorruptBatch
from headwater.log.indexes.index_file import CorruptIndex
from headwater.log.records.batch import HEADER_SIZE
from headwater.log.records.batch_walk import checked_header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.log.records.batch import BatchHeader
    from headwater.log.segments.segment import Segment

_MOST_BEHIND = 64
"""How many entries behind a damaged batch are tried until one is right."""

_AFTER_ALL = (1 << 63) - 1


def locate_despite(
    segment: Segment, doubted: int, offset: int, problem: Exception | None
) -> tuple[int, BatchHeader] | None:
    """Find the first batch that ends at or after `offset` from an entry further ahead.

    `doubted` is the position where the index said to begin, `problem` why it said none. Notes in
    the segment that its index lies, unless a damaged batch turns out to be there.
    """
    is_batch = False
    try:
        for position, header in segment.batches(_proven_start(segment, offset)):
            is_batch = is_batch or position == doubted
            if header.last_offset >= offset:
                return position, header
        return None
    except CorruptBatch as error:
        is_batch = is_batch or error.position == doubted
        raise
    finally:
        if not is_batch:
            segment.index_doubt = str(
                problem or f"no batch up to offset {offset} begins at byte {doubted}"
            )


def start_before(segment: Segment, offset: int) -> int:
    """Position of a batch before `offset` from which a walk finds it, proved right."""
    try:
        position = segment.offset_index.lookup(offset)
    except (CorruptIndex, FileNotFoundError) as error:
        segment.index_doubt = str(error)
        return 0
    if position == 0 or _batch_at(segment, position, offset) is not None:
        return position
    segment.index_doubt = f"no batch up to offset {offset} begins at byte {position}"
    return _proven_start(segment, offset)


def start_for_time(segment: Segment, timestamp_ms: int, start_offset: int) -> int:
    """Position before which no batch is as young as `timestamp_ms`, at most one entry too early.

    Both indexes grow together: when a time entry is written, its batch lies after the offset
    entry before. So everything up to that offset entry is older, however long ago the previous
    time entry was written.
    """
    try:
        times = segment.time_index
        number = times.first_above(timestamp_ms - 1)
        for bracket in (number - 1, number):
            if 0 <= bracket < times.count:
                check_time_entry(segment, bracket)
        is_last = number >= times.count
        reached_at = _AFTER_ALL if is_last else times.entry(number)[1] - 1
        position = start_before(segment, reached_at)
    except (CorruptIndex, CorruptBatch, FileNotFoundError) as error:
        segment.index_doubt = str(error)
        position = 0
    return max(position, start_before(segment, start_offset))


def check_time_entry(segment: Segment, number: int) -> None:
    """Compare an entry of the time index with the batch of its offset; raises CorruptIndex."""
    timestamp, offset = segment.time_index.entry(number)
    found = segment.locate(offset) if offset >= segment.base_offset else None
    if found is None or found[1].max_timestamp != timestamp or found[1].base_offset > offset:
        raise CorruptIndex(f"the batch of offset {offset} has not the timestamp {timestamp}")


def readable_batches(segment: Segment, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """Walk the headers of the batches from one on, past those that are damaged."""
    while position < segment.size:
        try:
            for position, header in segment.batches(position):  # noqa: B020 - it moves on
                yield position, header
            return
        except CorruptBatch as error:
            behind = batch_behind(segment, error.position or position)
            if behind is None:
                return
            position = behind[0]


def batch_behind(segment: Segment, position: int) -> tuple[int, BatchHeader] | None:
    """Find a batch of the index that begins after `position`, the first that is proved right."""
    try:
        offsets = segment.offset_index
        first = offsets.first_at(position + 1)
        for number in range(first, min(first + _MOST_BEHIND, offsets.count)):
            last_offset, at = offsets.entry(number)
            header = _batch_at(segment, at, last_offset) if at > position else None
            if header is not None:
                return at, header
    except (CorruptIndex, FileNotFoundError) as error:
        segment.index_doubt = str(error)
    return None


def _proven_start(segment: Segment, offset: int) -> int:
    try:
        for position in segment.offset_index.entries_before(offset):
            if _batch_at(segment, position, offset) is not None:
                return position
    except (CorruptIndex, FileNotFoundError):
        pass  # The caller has noted its doubts.
    return 0


def _batch_at(segment: Segment, position: int, offset: int) -> BatchHeader | None:
    """Return the header at a position if it can be true and its batch is not after `offset`."""
    if not 0 <= position < segment.size:
        return None
    try:
        chunk = segment.file.read(HEADER_SIZE, position)
        header = checked_header(chunk, 0, position, segment.size)
    except CorruptBatch:
        return None
    return header if segment.base_offset <= header.base_offset <= offset else None
