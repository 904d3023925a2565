"""What a partition remembers of one idempotent or transactional producer."""

from __future__ import annotations

from typing import NamedTuple

BATCHES_KEPT = 5
"""A client has at most this many requests in flight, so these are all it can send again."""

NO_EPOCH = -1
NO_SEQUENCE = -1
NO_TRANSACTION = -1

_MAX_SEQUENCE = 0x7FFFFFFF


class BatchMetadata(NamedTuple):
    """One batch that the log already has."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        """Sequence of the batch's first record."""
        if self.last_sequence < 0:
            return NO_SEQUENCE
        return (self.last_sequence - self.offset_delta) & _MAX_SEQUENCE

    @property
    def first_offset(self) -> int:
        """Offset of the batch's first record."""
        return self.last_offset - self.offset_delta


class ProducerEntry:
    """The newest epoch of a producer, its last batches and its open transaction."""

    __slots__ = (
        "active_ms", "batches", "coordinator_epoch", "epoch", "last_timestamp", "producer_id",
        "txn_first_offset",
    )  # fmt: skip

    def __init__(
        self,
        producer_id: int,
        epoch: int = NO_EPOCH,
        *,
        coordinator_epoch: int = -1,
        last_timestamp: int = -1,
        active_ms: int = -1,
        txn_first_offset: int = NO_TRANSACTION,
        batches: list[BatchMetadata] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = last_timestamp
        """The newest timestamp of the records, which may be the producer's own idea of time."""
        self.active_ms = active_ms
        """When the broker last heard of the producer; this one decides when it is forgotten."""
        self.txn_first_offset = txn_first_offset
        self.batches = batches if batches is not None else []

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record, or -1 if the epoch has none yet."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def in_transaction(self) -> bool:
        """Whether the producer has an open transaction in this partition."""
        return self.txn_first_offset != NO_TRANSACTION

    def move_to(self, epoch: int) -> None:
        """Start counting sequences anew if the epoch is another."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()

    def add(self, batch: BatchMetadata) -> None:
        """Remember a batch and forget the oldest of more than five."""
        self.batches.append(batch)
        if len(self.batches) > BATCHES_KEPT:
            del self.batches[0]
        self.last_timestamp = batch.timestamp


def last_sequence_of(base_sequence: int, offset_delta: int) -> int:
    """Sequence of a batch's last record; sequences wrap from 2**31 - 1 to 0."""
    return NO_SEQUENCE if base_sequence < 0 else (base_sequence + offset_delta) & _MAX_SEQUENCE


def follows(last_sequence: int, sequence: int) -> bool:
    """Whether `sequence` is the one right after `last_sequence`."""
    return sequence == (last_sequence + 1) & _MAX_SEQUENCE
