"""Find offsets by time: the time index narrows the search to a few batches, headers to one.

Only the batch with the answer is unpacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.log.indexes.index_proof import start_for_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from headwater.log.records.batch import BatchHeader
    from headwater.log.records.record import Record
    from headwater.log.segments.segment import Segment


class TimestampOffset(NamedTuple):
    """A record's timestamp, its offset and the leader epoch of its batch."""

    timestamp: int
    offset: int
    leader_epoch: int


def first_at_or_after(
    segments: Iterable[Segment], timestamp_ms: int, start_offset: int, upper_offset: int
) -> TimestampOffset | None:
    """First record from `start_offset` on that is not older than `timestamp_ms`."""
    for segment in segments:
        if segment.max_timestamp < timestamp_ms and segment.prove_largest_timestamp():
            continue
        start = start_for_time(segment, timestamp_ms, start_offset)
        for position, header in segment.batches(start):
            if header.base_offset >= upper_offset:
                return None
            if header.max_timestamp < timestamp_ms or header.last_offset < start_offset:
                continue
            for record in _records(segment, position, header):
                if record.timestamp >= timestamp_ms and record.offset >= start_offset:
                    if record.offset >= upper_offset:
                        return None
                    return TimestampOffset(record.timestamp, record.offset, header.leader_epoch)
    return None


def largest(segments: Sequence[Segment]) -> TimestampOffset | None:
    """First of the records with the largest timestamp; None if there is no record.

    A producer's header may claim a later time than any of its records has: the batch then stands
    for the latest of those.
    """
    segment = max(segments, key=_largest_timestamp)
    timestamp = _largest_timestamp(segment)
    start = start_for_time(segment, timestamp, segment.base_offset)
    for position, header in segment.batches(start):
        if header.max_timestamp < timestamp:
            continue
        records = list(_records(segment, position, header))
        if records:
            latest = max(records, key=lambda record: record.timestamp)
            return TimestampOffset(latest.timestamp, latest.offset, header.leader_epoch)
    return None


def _largest_timestamp(segment: Segment) -> int:
    if segment.prove_largest_timestamp():
        return segment.max_timestamp
    return max((header.max_timestamp for _, header in segment.batches()), default=-1)


def _records(segment: Segment, position: int, header: BatchHeader) -> Iterator[Record]:
    from headwater.log.records.record import decode_records

    return decode_records(segment.file.read(header.size, position))
