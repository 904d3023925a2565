"""What an append needs to know and what it gives back."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.records.batch import place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.indexes.txn_index import AbortedTxn
    from headwater.log.records.batch import BatchHeader
    from headwater.log.segments.log_segments import LogPosition


class AppendOrigin(Enum):
    """Who appends: a client, or the broker itself to its internal topics and for markers."""

    CLIENT = 0
    COORDINATOR = 1


class AppendInfo(NamedTuple):
    """Where the records went; `log_append_time` is -1 unless the topic uses LogAppendTime."""

    base_offset: int
    last_offset: int
    log_append_time: int
    log_start_offset: int
    end: LogPosition
    is_duplicate: bool = False


class Placed(NamedTuple):
    """Batches with their offsets: the last one, the largest timestamp and the batch that has it."""

    last_offset: int
    max_timestamp: int
    max_timestamp_offset: int
    last_batch: int
    """Where the last batch starts in the records."""
    aborted: AbortedTxn | None = None
    """The transaction that this is the abort marker of."""


def place_batch(
    records: memoryview, header: BatchHeader, base_offset: int, leader_epoch: int
) -> Placed:
    """Give the one batch that a client sends its offsets, from `base_offset` on."""
    place(records, 0, base_offset, header.batch_length, leader_epoch)
    last_offset = base_offset + header.last_offset_delta
    if header.max_timestamp < 0:
        return Placed(last_offset, -1, -1, 0)
    return Placed(last_offset, header.max_timestamp, last_offset, 0)


def place_batches(
    records: memoryview,
    batches: Iterable[tuple[int, BatchHeader]],
    base_offset: int,
    leader_epoch: int,
) -> Placed:
    """Give batches, each with its position in `records`, consecutive offsets from `base_offset`."""
    last_offset = base_offset - 1
    max_timestamp = max_timestamp_offset = position = -1
    for position, header in batches:
        place(records, position, last_offset + 1, header.batch_length, leader_epoch)
        last_offset += header.last_offset_delta + 1
        if header.max_timestamp > max_timestamp:
            max_timestamp, max_timestamp_offset = header.max_timestamp, last_offset
    return Placed(last_offset, max_timestamp, max_timestamp_offset, position)
