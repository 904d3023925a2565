"""Find offsets by time: the time index narrows the search to a few batches, headers to one.

Only the batch with the answer is unpacked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.log.disk import read_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from headwater.log.batch import BatchHeader
    from headwater.log.record import Record
    from headwater.log.segment import Segment


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
        if segment.max_timestamp < timestamp_ms:
            continue
        for position, header in segment.batches(_start(segment, timestamp_ms, start_offset)):
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
    segment = max(segments, key=lambda candidate: candidate.max_timestamp)
    timestamp = segment.max_timestamp
    for position, header in segment.batches(_start(segment, timestamp, segment.base_offset)):
        if header.max_timestamp < timestamp:
            continue
        records = list(_records(segment, position, header))
        if records:
            latest = max(records, key=lambda record: record.timestamp)
            return TimestampOffset(latest.timestamp, latest.offset, header.leader_epoch)
    return None


def _start(segment: Segment, timestamp_ms: int, start_offset: int) -> int:
    """Position before which no batch is as young as `timestamp_ms`, at most one entry too early.

    Both indexes grow together: when a time entry is written, its batch lies after the offset
    entry before. So everything up to that offset entry is older, however long ago the previous
    time entry was written.
    """
    offsets = segment.offset_index
    reached_at = segment.time_index.next_offset_above(timestamp_ms - 1)
    if reached_at is not None:
        position = offsets.lookup(reached_at - 1)
    else:
        position = offsets.entry(offsets.count - 1)[1] if offsets.count else 0
    return max(position, offsets.lookup(start_offset))


def _records(segment: Segment, position: int, header: BatchHeader) -> Iterator[Record]:
    from headwater.log.record import decode_records

    return decode_records(read_at(segment.file.fd, header.size, position))
