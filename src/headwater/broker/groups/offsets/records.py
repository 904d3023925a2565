"""Committed offsets as records of `__consumer_offsets`, in Kafka's format."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from headwater.broker.groups.record_fields import CoordinatorRecord, FieldReader, FieldWriter
from headwater.protocol.encodings import COMPACT, LEGACY
from headwater.protocol.primitives import ZERO_UUID, write_int16, write_int32

LEGACY_OFFSET_KEY_VERSION = 0
OFFSET_KEY_VERSION = 1

NO_EPOCH = -1
NO_TIMESTAMP = -1

_VALUE_VERSION = 4
_VALUE_VERSION_WITH_EXPIRY = 1
_FIRST_VERSION_WITH_EPOCH = 3
_FIRST_FLEXIBLE_VERSION = 4
_TOPIC_ID_TAG = 0

_OFFSET_AND_EPOCH = Struct(">hqi")
_TIMESTAMP = Struct(">q")
_ONE_TAG_OF_AN_ID = b"\x01\x00\x10"
_NO_TAGS = b"\x00"


class OffsetKey(NamedTuple):
    """Which offset: that of a group in a partition."""

    group_id: str
    topic: str
    partition: int


class CommittedOffset(NamedTuple):
    """How far a group has come in a partition, as a record says it."""

    offset: int
    leader_epoch: int = NO_EPOCH
    metadata: str = ""
    commit_timestamp: int = NO_TIMESTAMP
    expire_timestamp: int = NO_TIMESTAMP
    """Only commits of old clients have one; all others live for `offsets.retention.minutes`."""
    topic_id: bytes = ZERO_UUID
    record_offset: int = -1
    """Where in `__consumer_offsets` it lies; not part of the record."""


def offset_record(key: OffsetKey, committed: CommittedOffset | None) -> CoordinatorRecord:
    """Return the record of a commit, or the tombstone that takes it back."""
    return CoordinatorRecord(
        _encode_key(key), None if committed is None else _encode_value(committed)
    )


def decode_offset_key(key: FieldReader) -> OffsetKey:
    """Read a key whose version has been read already."""
    return OffsetKey(key.string(), key.string(), key.int32())


def decode_offset_value(data: bytes, record_offset: int) -> CommittedOffset:
    """Read a value of any version that Kafka ever wrote."""
    value = FieldReader(data)
    version = value.version(_FIRST_FLEXIBLE_VERSION)
    offset = value.int64()
    leader_epoch = value.int32() if version >= _FIRST_VERSION_WITH_EPOCH else NO_EPOCH
    metadata = value.string()
    commit_timestamp = value.int64()
    expire_timestamp = value.int64() if version == _VALUE_VERSION_WITH_EXPIRY else NO_TIMESTAMP
    topic_id = value.tags().get(_TOPIC_ID_TAG)
    return CommittedOffset(
        offset,
        leader_epoch,
        metadata,
        commit_timestamp,
        expire_timestamp,
        ZERO_UUID if topic_id is None else bytes(topic_id),
        record_offset,
    )


def _encode_key(key: OffsetKey) -> bytes:
    # Commits are frequent, so both halves are put together by hand.
    return b"".join(
        (
            write_int16(OFFSET_KEY_VERSION),
            LEGACY.write_string(key.group_id),
            LEGACY.write_string(key.topic),
            write_int32(key.partition),
        )
    )


def _encode_value(committed: CommittedOffset) -> bytes:
    if committed.expire_timestamp != NO_TIMESTAMP:
        return (
            FieldWriter(_VALUE_VERSION_WITH_EXPIRY, flexible=False)
            .int64(committed.offset)
            .string(committed.metadata)
            .int64(committed.commit_timestamp)
            .int64(committed.expire_timestamp)
            .build()
        )
    has_id = committed.topic_id != ZERO_UUID
    return b"".join(
        (
            _OFFSET_AND_EPOCH.pack(_VALUE_VERSION, committed.offset, committed.leader_epoch),
            COMPACT.write_string(committed.metadata),
            _TIMESTAMP.pack(committed.commit_timestamp),
            _ONE_TAG_OF_AN_ID + committed.topic_id if has_id else _NO_TAGS,
        )
    )
