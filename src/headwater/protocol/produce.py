"""Produce, v3 to v13: requests without copying their records, responses packed by hand."""

from collections.abc import Iterable, Sequence
from struct import Struct
from typing import NamedTuple

from headwater.protocol.encodings import Encoding, encoding
from headwater.protocol.leadership import (
    CurrentLeader,
    NodeEndpoint,
    encode_current_leader,
    encode_node_endpoints,
)
from headwater.protocol.primitives import (
    MAX_ITEMS,
    ProtocolError,
    read_int32,
    read_uuid,
    skip_tagged_fields,
    unpack,
    write_int32,
    write_tagged_fields,
    write_uuid,
)

_FLEXIBLE = 9
_LEADER_IS_NAMED = 10
_TOPICS_BY_ID = 13

_ACKS_AND_TIMEOUT = Struct(">hi")
_PARTITION_V2 = Struct(">ihqq")
_PARTITION_V5 = Struct(">ihqqq")
_NO_ERRORS_V8 = b"\x00\x00\x00\x00\xff\xff"
_NO_ERRORS_V9 = b"\x01\x00\x00"


class TopicProduceData(NamedTuple):
    """What is to be appended to one topic, named up to v12 and known by its id from v13 on."""

    name: str | None
    topic_id: bytes | None
    partitions: list[tuple[int, memoryview | None]]
    """Partition index, and its record batch as a slice of the frame."""


class ProduceRequest(NamedTuple):
    """A producer's batches, one to a partition."""

    transactional_id: str | None
    acks: int
    timeout_ms: int
    topics: list[TopicProduceData]


class RecordError(NamedTuple):
    """Which record of a batch made the broker refuse it, and why."""

    batch_index: int
    message: str | None = None


class PartitionProduceResult(NamedTuple):
    """What became of one partition's batch."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    error_code: int
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    record_errors: Sequence[RecordError] = ()
    error_message: str | None = None
    current_leader: CurrentLeader | None = None


def decode_request(version: int, view: memoryview, position: int = 0) -> ProduceRequest:
    """Read the body of a request of a served version."""
    flexible = version >= _FLEXIBLE
    kind = encoding(flexible)
    transactional_id, position = kind.read_nullable_string(view, position, "transactional_id")
    acks, timeout_ms = unpack(_ACKS_AND_TIMEOUT, view, position, "acks, timeout_ms")
    position += _ACKS_AND_TIMEOUT.size
    topic_count, position = kind.read_array_length(view, position, "topic_data", 3)
    if topic_count > MAX_ITEMS:
        raise ProtocolError(f"topic_data: {topic_count} topics in one request")
    topics = []
    room = MAX_ITEMS
    for _ in range(topic_count):
        topic, position = _decode_topic(version, view, position, kind, room)
        topics.append(topic)
        room -= len(topic.partitions)
    if flexible:
        skip_tagged_fields(view, position, "tagged fields")
    return ProduceRequest(transactional_id, acks, timeout_ms, topics)


def encode_response(
    version: int,
    topics: Sequence[tuple[str | None, bytes | None, Sequence[PartitionProduceResult]]],
    throttle_ms: int = 0,
    node_endpoints: Sequence[NodeEndpoint] = (),
) -> bytes:
    """Write a body: for each topic its name, its id and the results of its partitions."""
    flexible = version >= _FLEXIBLE
    kind = encoding(flexible)
    parts = [kind.write_array_length(len(topics))]
    for name, topic_id, partitions in topics:
        if version >= _TOPICS_BY_ID:
            parts.append(write_uuid(topic_id))
        else:
            parts.append(kind.write_string(name or ""))
        parts.append(kind.write_array_length(len(partitions)))
        if flexible:
            _encode_flexible(version, partitions, parts)
            parts.append(b"\x00")
        else:
            _encode_legacy(version, partitions, kind, parts)
    parts.append(write_int32(throttle_ms))
    if flexible:
        tags = {}
        if node_endpoints and version >= _LEADER_IS_NAMED:
            tags[0] = encode_node_endpoints(node_endpoints)
        parts.append(write_tagged_fields(tags))
    return b"".join(parts)


def _decode_topic(
    version: int, view: memoryview, position: int, kind: Encoding, room: int
) -> tuple[TopicProduceData, int]:
    name = topic_id = None
    if version >= _TOPICS_BY_ID:
        topic_id, position = read_uuid(view, position, "topic_data.topic_id")
    else:
        name, position = kind.read_string(view, position, "topic_data.name")
    count, position = kind.read_array_length(view, position, "topic_data.partition_data", 5)
    if count > room:
        raise ProtocolError(f"topic_data.partition_data: over {MAX_ITEMS} in one request")
    flexible = version >= _FLEXIBLE
    partitions = []
    for _ in range(count):
        index, position = read_int32(view, position, "partition_data.index")
        records, position = kind.read_nullable_bytes(view, position, "partition_data.records")
        if flexible:
            position = skip_tagged_fields(view, position, "partition_data's tagged fields")
        partitions.append((index, records))
    if flexible:
        position = skip_tagged_fields(view, position, "topic_data's tagged fields")
    return TopicProduceData(name, topic_id, partitions), position


def _encode_flexible(
    version: int, partitions: Iterable[PartitionProduceResult], parts: list[bytes]
) -> None:
    kind = encoding(flexible=True)
    for index, code, base_offset, append_time, log_start, errors, message, leader in partitions:
        parts.append(_PARTITION_V5.pack(index, code, base_offset, append_time, log_start))
        if not errors and message is None and leader is None:
            parts.append(_NO_ERRORS_V9)
            continue
        parts.append(kind.write_array_length(len(errors)))
        for batch_index, reason in errors:
            parts += write_int32(batch_index), kind.write_nullable_string(reason), b"\x00"
        parts.append(kind.write_nullable_string(message))
        tags = {}
        if leader is not None and version >= _LEADER_IS_NAMED:
            tags[0] = encode_current_leader(leader)
        parts.append(write_tagged_fields(tags))


def _encode_legacy(
    version: int, partitions: Iterable[PartitionProduceResult], kind: Encoding, parts: list[bytes]
) -> None:
    for index, code, base_offset, append_time, log_start, errors, message, _ in partitions:
        if version < 5:
            parts.append(_PARTITION_V2.pack(index, code, base_offset, append_time))
            continue
        parts.append(_PARTITION_V5.pack(index, code, base_offset, append_time, log_start))
        if version < 8:
            continue
        if not errors and message is None:
            parts.append(_NO_ERRORS_V8)
            continue
        parts.append(kind.write_array_length(len(errors)))
        for batch_index, reason in errors:
            parts += write_int32(batch_index), kind.write_nullable_string(reason)
        parts.append(kind.write_nullable_string(message))
