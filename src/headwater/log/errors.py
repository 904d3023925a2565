"""What can go wrong in the log, one class for each answer that a client can get."""

# ruff: noqa: N818 - the names are those of Kafka's error codes, which have no suffix

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class LogError(Exception):
    """Base of all errors of the log; its text is a full sentence for a client or an operator."""

    bad_records: Sequence[tuple[int, str]] = ()
    """The records of the batch that are to blame, by their index, each with the reason."""


class CorruptBatch(LogError):
    """The bytes are not an intact record batch (Kafka's CORRUPT_MESSAGE)."""

    position: int | None = None
    segment_base: int | None = None
    """Where the batch begins and which segment has it, if it comes from one."""


class InvalidRecord(LogError):
    """The batch is intact, but the partition must not take it (Kafka's INVALID_RECORD)."""


class NotOneBatch(InvalidRecord):
    """The bytes are no single batch of the one accepted format (Kafka's INVALID_RECORD)."""


class RecordTooLarge(LogError):
    """The batch is larger than `max.message.bytes` (Kafka's MESSAGE_TOO_LARGE)."""


class RecordListTooLarge(LogError):
    """The batch is larger than `segment.bytes` (Kafka's RECORD_LIST_TOO_LARGE)."""


class InvalidTimestamp(LogError):
    """The batch's timestamps are too far from the broker's clock (Kafka's INVALID_TIMESTAMP)."""


class UnsupportedCompression(LogError):
    """The batch names a codec that does not exist (Kafka's UNSUPPORTED_COMPRESSION_TYPE)."""


class OffsetOutOfRange(LogError):
    """The offset is below the log's start or above its end (Kafka's OFFSET_OUT_OF_RANGE)."""


class StorageError(LogError):
    """The disk refused: full, read-only or broken (Kafka's KAFKA_STORAGE_ERROR, retriable)."""


class OutOfOrderSequence(LogError):
    """An idempotent producer skipped a sequence number (Kafka's OUT_OF_ORDER_SEQUENCE_NUMBER)."""


class InvalidProducerEpoch(LogError):
    """The producer was fenced by a newer epoch (Kafka's INVALID_PRODUCER_EPOCH)."""


class InvalidTxnState(LogError):
    """The batch does not fit the producer's transaction (Kafka's INVALID_TXN_STATE)."""


class TransactionCoordinatorFenced(LogError):
    """The marker is of an old coordinator (Kafka's TRANSACTION_COORDINATOR_FENCED)."""
