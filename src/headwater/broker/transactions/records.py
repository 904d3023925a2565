"""Transactions as records of `__transaction_state`, in Kafka's format."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.transactions.metadata import (
    LEGACY_VERSION,
    NO_PRODUCER_ID,
    TopicPartition,
    TransactionMetadata,
    TransactionState,
)
from headwater.protocol.encodings import COMPACT, LEGACY, encoding
from headwater.protocol.primitives import (
    ProtocolError,
    read_int16,
    read_int32,
    read_int64,
    read_tagged_fields,
    skip_tagged_fields,
    unpack,
    write_int16,
    write_int64,
    write_tagged_fields,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


class TransactionRecord(NamedTuple):
    """A key and a value of the topic; a value of None takes a transactional id back."""

    key: bytes
    value: bytes | None


def transaction_record(metadata: TransactionMetadata) -> TransactionRecord:
    """Return the record that says where a transactional id stands."""
    return TransactionRecord(encode_key(metadata.transactional_id), encode_value(metadata))


def tombstone(transactional_id: str) -> TransactionRecord:
    """Return the record that forgets a transactional id."""
    return TransactionRecord(encode_key(transactional_id), None)


def encode_key(transactional_id: str) -> bytes:
    """Write a key."""
    return write_int16(_KEY_VERSION) + LEGACY.write_string(transactional_id)


def decode_key(key: bytes) -> str | None:
    """Read the transactional id; None for a kind of key that only a later Kafka knows."""
    view = memoryview(key)
    version, position = read_int16(view, 0, "version of the key")
    if version != _KEY_VERSION:
        return None
    return LEGACY.read_string(view, position, "transactional id")[0]


def encode_value(metadata: TransactionMetadata) -> bytes:
    """Write a value."""
    tags = {}
    if metadata.previous_producer_id != NO_PRODUCER_ID:
        tags[_PREVIOUS_ID_TAG] = write_int64(metadata.previous_producer_id)
    if metadata.next_producer_id != NO_PRODUCER_ID:
        tags[_NEXT_ID_TAG] = write_int64(metadata.next_producer_id)
    if metadata.client_version != LEGACY_VERSION:
        tags[_CLIENT_VERSION_TAG] = write_int16(metadata.client_version)
    return b"".join(
        (
            _HEAD.pack(
                _VALUE_VERSION,
                metadata.producer_id,
                metadata.producer_epoch,
                metadata.timeout_ms,
                metadata.state.number,
            ),
            _encode_partitions(metadata),
            _TIMES.pack(metadata.last_update_ms, metadata.start_ms),
            write_tagged_fields(tags),
        )
    )


def decode_value(transactional_id: str, value: bytes) -> TransactionMetadata:
    """Read a value of any version that Kafka ever wrote; raises ProtocolError."""
    view = memoryview(value)
    version, producer_id, epoch, timeout_ms, number = unpack(_HEAD, view, 0, "transaction")
    if version not in (0, _VALUE_VERSION):
        raise ProtocolError(f"the state of {transactional_id} has the unknown version {version}")
    try:
        state = TransactionState.of_number(number)
    except KeyError:
        raise ProtocolError(f"{transactional_id} has the unknown state {number}") from None
    partitions, position = _decode_partitions(view, _HEAD.size, flexible=version > 0)
    last_update_ms, start_ms = unpack(_TIMES, view, position, "times of the transaction")
    previous_id = next_id = NO_PRODUCER_ID
    client_version = LEGACY_VERSION
    if version > 0:
        tags, _ = read_tagged_fields(view, position + _TIMES.size, "transaction")
        if _PREVIOUS_ID_TAG in tags:
            previous_id, _ = read_int64(tags[_PREVIOUS_ID_TAG], 0, "previous producer id")
        if _NEXT_ID_TAG in tags:
            next_id, _ = read_int64(tags[_NEXT_ID_TAG], 0, "next producer id")
        if _CLIENT_VERSION_TAG in tags:
            client_version, _ = read_int16(tags[_CLIENT_VERSION_TAG], 0, "client version")
    return TransactionMetadata(
        transactional_id,
        producer_id,
        epoch,
        timeout_ms,
        state,
        last_update_ms,
        frozenset(partitions),
        start_ms,
        previous_id,
        next_id,
        client_version=client_version,
    )


_KEY_VERSION = 0
_VALUE_VERSION = 1
_HEAD = Struct(">hqhib")
_TIMES = Struct(">qq")
_PREVIOUS_ID_TAG = 0
_NEXT_ID_TAG = 1
_CLIENT_VERSION_TAG = 2
_NULL_ARRAY = b"\x00"


def _encode_partitions(metadata: TransactionMetadata) -> bytes:
    if metadata.state is TransactionState.EMPTY:
        return _NULL_ARRAY
    by_topic: dict[str, list[int]] = {}
    for topic, index in sorted(metadata.partitions):
        by_topic.setdefault(topic, []).append(index)
    parts = [COMPACT.write_array_length(len(by_topic))]
    for topic, indexes in by_topic.items():
        parts += (
            COMPACT.write_string(topic),
            COMPACT.write_array_length(len(indexes)),
            Struct(f">{len(indexes)}i").pack(*indexes),
            write_tagged_fields({}),
        )
    return b"".join(parts)


def _decode_partitions(
    view: memoryview, position: int, *, flexible: bool
) -> tuple[Iterable[TopicPartition], int]:
    lengths = encoding(flexible)
    field = "partitions of the transaction"
    partitions: list[TopicPartition] = []
    topics, position = lengths.read_nullable_array_length(view, position, field, 1)
    for _ in range(topics):
        topic, position = lengths.read_string(view, position, field)
        count, position = lengths.read_array_length(view, position, field, 4)
        for _ in range(count):
            index, position = read_int32(view, position, field)
            partitions.append((topic, index))
        if flexible:
            position = skip_tagged_fields(view, position, field)
    return partitions, position
