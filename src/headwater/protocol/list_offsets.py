"""ListOffsets, v1 to v11: which offset a partition has at a time or at one of the named places."""

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from headwater.protocol.encodings import encoding
from headwater.protocol.primitives import (
    MAX_ITEMS,
    ProtocolError,
    read_int8,
    read_int32,
    skip_tagged_fields,
    unpack,
    write_int32,
)

LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL_TIMESTAMP = -4
LATEST_TIERED_TIMESTAMP = -5
EARLIEST_PENDING_UPLOAD_TIMESTAMP = -6

_LEADER_EPOCH = 4
_FLEXIBLE = 6
_TIMEOUT = 10

_PARTITION_V1 = Struct(">iq")
_PARTITION_V4 = Struct(">iiq")
_RESULT_V1 = Struct(">ihqq")
_RESULT_V4 = Struct(">ihqqi")


class ListOffsetsPartition(NamedTuple):
    """One partition, and the time or named place to look up in it."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    current_leader_epoch: int
    timestamp: int
    """Epoch milliseconds, or one of the negative constants of this module."""


class ListOffsetsTopic(NamedTuple):
    """The partitions of one topic to look something up in."""

    name: str
    partitions: list[ListOffsetsPartition]


class ListOffsetsRequest(NamedTuple):
    """What a client wants to know the offsets of."""

    replica_id: int
    isolation_level: int
    topics: list[ListOffsetsTopic]
    timeout_ms: int = 0


class PartitionOffset(NamedTuple):
    """What was found in one partition; -1 stands for nothing."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    error_code: int
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1


def decode_request(version: int, view: memoryview, position: int = 0) -> ListOffsetsRequest:
    """Read the body of a request of a served version."""
    flexible = version >= _FLEXIBLE
    kind = encoding(flexible)
    isolation_level = timeout_ms = 0
    replica_id, position = read_int32(view, position, "replica_id")
    if version >= 2:
        isolation_level, position = read_int8(view, position, "isolation_level")
    topic_count, position = kind.read_array_length(view, position, "topics", 3)
    if topic_count > MAX_ITEMS:
        raise ProtocolError(f"topics: {topic_count} topics in one request")
    topics = []
    room = MAX_ITEMS
    for _ in range(topic_count):
        name, position = kind.read_string(view, position, "topics.name")
        count, position = kind.read_array_length(view, position, "topics.partitions", 12)
        room -= count
        if room < 0:
            raise ProtocolError(f"topics.partitions: over {MAX_ITEMS} in one request")
        partitions, position = _decode_partitions(version, view, position, count)
        if flexible:
            position = skip_tagged_fields(view, position, "topics' tagged fields")
        topics.append(ListOffsetsTopic(name, partitions))
    if version >= _TIMEOUT:
        timeout_ms, position = read_int32(view, position, "timeout_ms")
    if flexible:
        skip_tagged_fields(view, position, "tagged fields")
    return ListOffsetsRequest(replica_id, isolation_level, topics, timeout_ms)


def encode_response(
    version: int,
    topics: Sequence[tuple[str, Sequence[PartitionOffset]]],
    throttle_ms: int = 0,
) -> bytes:
    """Write a body: for each topic its name and what was found in its partitions."""
    end = b"\x00" if version >= _FLEXIBLE else b""
    kind = encoding(version >= _FLEXIBLE)
    parts = [] if version < 2 else [write_int32(throttle_ms)]
    parts.append(kind.write_array_length(len(topics)))
    for name, partitions in topics:
        parts += kind.write_string(name), kind.write_array_length(len(partitions))
        for partition in partitions:
            if version >= _LEADER_EPOCH:
                parts.append(_RESULT_V4.pack(*partition) + end)
            else:
                parts.append(_RESULT_V1.pack(*partition[:4]))
        parts.append(end)
    parts.append(end)
    return b"".join(parts)


def _decode_partitions(
    version: int, view: memoryview, position: int, count: int
) -> tuple[list[ListOffsetsPartition], int]:
    partitions = []
    for _ in range(count):
        if version >= _LEADER_EPOCH:
            index, epoch, timestamp = unpack(_PARTITION_V4, view, position, "topics.partitions")
            position += _PARTITION_V4.size
        else:
            index, timestamp = unpack(_PARTITION_V1, view, position, "topics.partitions")
            epoch = -1
            position += _PARTITION_V1.size
        if version >= _FLEXIBLE:
            position = skip_tagged_fields(view, position, "topics.partitions' tagged fields")
        partitions.append(ListOffsetsPartition(index, epoch, timestamp))
    return partitions, position
