"""Which of Kafka's error codes a client gets for an error of the log."""

from __future__ import annotations

from headwater.log import errors
from headwater.protocol.errors import ErrorCode

_CODES: dict[type[errors.LogError], ErrorCode] = {
    errors.CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    errors.InvalidRecord: ErrorCode.INVALID_RECORD,
    errors.NotOneBatch: ErrorCode.INVALID_RECORD,
    errors.RecordTooLarge: ErrorCode.MESSAGE_TOO_LARGE,
    errors.RecordListTooLarge: ErrorCode.RECORD_LIST_TOO_LARGE,
    errors.InvalidTimestamp: ErrorCode.INVALID_TIMESTAMP,
    errors.UnsupportedCompression: ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    errors.OffsetOutOfRange: ErrorCode.OFFSET_OUT_OF_RANGE,
    errors.StorageError: ErrorCode.KAFKA_STORAGE_ERROR,
    errors.OutOfOrderSequence: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    errors.InvalidProducerEpoch: ErrorCode.INVALID_PRODUCER_EPOCH,
    errors.InvalidTxnState: ErrorCode.INVALID_TXN_STATE,
}


def error_code_of(error: errors.LogError) -> ErrorCode:
    """Return the code that tells a client what the log said."""
    return _CODES.get(type(error), ErrorCode.UNKNOWN_SERVER_ERROR)
