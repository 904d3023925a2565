"""Metadata, v0 to v13: which topics there are, and which broker leads each of their partitions."""

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from headwater.protocol.encodings import Encoding, encoding
from headwater.protocol.primitives import (
    MAX_ITEMS,
    ZERO_UUID,
    ProtocolError,
    read_bool,
    read_uuid,
    skip_tagged_fields,
    write_bool,
    write_int16,
    write_int32,
    write_uuid,
)

UNKNOWN_OPERATIONS = -(1 << 31)
"""The bit set of authorized operations when nobody asked for it."""

_OFFLINE_REPLICAS = 5
_LEADER_EPOCH = 7
_OPERATIONS = 8
_FLEXIBLE = 9
_TOPIC_IDS = 10
_CLUSTER_OPERATIONS_END = 10
_NAMES_MAY_BE_NULL = 12
_TOP_LEVEL_ERROR = 13

# A partition with one replica, in sync: the only kind that a single node has. The numbers of
# items are packed with the items.
_SOLE_REPLICA_V0 = Struct(">hiiiiii")
_SOLE_REPLICA_V5 = Struct(">hiiiiiii")
_SOLE_REPLICA_V7 = Struct(">hiiiiiiii")
_SOLE_REPLICA_V9 = Struct(">hiiiBiBiBx")
_PARTITION = Struct(">hii")


class MetadataRequestTopic(NamedTuple):
    """A topic that is asked about by its name or, from v12 on, by its id."""

    name: str | None
    topic_id: bytes | None = None


class MetadataRequest(NamedTuple):
    """Which topics a client wants to know about."""

    topics: list[MetadataRequestTopic] | None
    """None for all topics, an empty list for none."""
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False


class BrokerMetadata(NamedTuple):
    """A broker and where it listens."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


class PartitionMetadata(NamedTuple):
    """A partition and where its replicas are."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    leader_id: int
    leader_epoch: int
    replicas: Sequence[int]
    isr: Sequence[int]
    offline_replicas: Sequence[int] = ()
    error_code: int = 0


class TopicPartitions:
    """The partitions of one topic, which remember how they were written.

    A broker keeps one for each topic until its partitions change, so that what a client asks for
    most is packed once and not on every request.
    """

    __slots__ = ("_written", "partitions")

    def __init__(self, partitions: Sequence[PartitionMetadata] = ()) -> None:
        self.partitions = tuple(partitions)
        self._written: dict[int, bytes] = {}

    def encode(self, version: int) -> bytes:
        """Write the array as this version of the response has it."""
        layout = _layout(version)
        written = self._written.get(layout)
        if written is None:
            written = self._written[layout] = _encode_partitions(layout, self.partitions)
        return written


class TopicMetadata(NamedTuple):
    """A topic, or why there is nothing to say about it."""

    error_code: int
    name: str | None
    topic_id: bytes | None = None
    is_internal: bool = False
    partitions: TopicPartitions | Sequence[PartitionMetadata] = ()
    authorized_operations: int = UNKNOWN_OPERATIONS


def decode_request(version: int, view: memoryview, position: int = 0) -> MetadataRequest:
    """Read the body of a request of a served version."""
    flexible = version >= _FLEXIBLE
    kind = encoding(flexible)
    topics, position = _decode_topics(version, view, position, kind)
    auto_create, of_cluster, of_topic = True, False, False
    if version >= 4:
        auto_create, position = read_bool(view, position, "allow_auto_topic_creation")
    if _OPERATIONS <= version <= _CLUSTER_OPERATIONS_END:
        field = "include_cluster_authorized_operations"
        of_cluster, position = read_bool(view, position, field)
    if version >= _OPERATIONS:
        of_topic, position = read_bool(view, position, "include_topic_authorized_operations")
    if flexible:
        skip_tagged_fields(view, position, "tagged fields")
    return MetadataRequest(topics, auto_create, of_cluster, of_topic)


def encode_response(
    version: int,
    brokers: Sequence[BrokerMetadata],
    cluster_id: str | None,
    controller_id: int,
    topics: Sequence[TopicMetadata],
    *,
    throttle_ms: int = 0,
    cluster_authorized_operations: int = UNKNOWN_OPERATIONS,
    error_code: int = 0,
) -> bytes:
    """Write a body for a request of a served version."""
    end = b"\x00" if version >= _FLEXIBLE else b""
    kind = encoding(version >= _FLEXIBLE)
    parts = [] if version < 3 else [write_int32(throttle_ms)]
    parts.append(kind.write_array_length(len(brokers)))
    for node_id, host, port, rack in brokers:
        parts += write_int32(node_id), kind.write_string(host), write_int32(port)
        if version >= 1:
            parts.append(kind.write_nullable_string(rack))
        parts.append(end)
    if version >= 2:
        parts.append(kind.write_nullable_string(cluster_id))
    if version >= 1:
        parts.append(write_int32(controller_id))
    parts.append(kind.write_array_length(len(topics)))
    for topic in topics:
        _encode_topic(version, topic, kind, parts)
        parts.append(end)
    if _OPERATIONS <= version <= _CLUSTER_OPERATIONS_END:
        parts.append(write_int32(cluster_authorized_operations))
    if version >= _TOP_LEVEL_ERROR:
        parts.append(write_int16(error_code))
    parts.append(end)
    return b"".join(parts)


def _decode_topics(
    version: int, view: memoryview, position: int, kind: Encoding
) -> tuple[list[MetadataRequestTopic] | None, int]:
    if version == 0:
        # Before null could be told from empty, a client that named no topic meant all of them.
        count, position = kind.read_array_length(view, position, "topics", 2)
        count = count or -1
    else:
        count, position = kind.read_nullable_array_length(view, position, "topics", 2)
    if count < 0:
        return None, position
    if count > MAX_ITEMS:
        raise ProtocolError(f"topics: {count} topics in one request")
    topics = []
    topic_id = None
    for _ in range(count):
        if version >= _TOPIC_IDS:
            raw, position = read_uuid(view, position, "topics.topic_id")
            topic_id = None if raw == ZERO_UUID else raw
            name, position = kind.read_nullable_string(view, position, "topics.name")
        else:
            name, position = kind.read_string(view, position, "topics.name")
        if version >= _FLEXIBLE:
            position = skip_tagged_fields(view, position, "topics' tagged fields")
        topics.append(MetadataRequestTopic(name, topic_id))
    return topics, position


def _encode_topic(version: int, topic: TopicMetadata, kind: Encoding, parts: list[bytes]) -> None:
    code, name, topic_id, is_internal, partitions, operations = topic
    parts.append(write_int16(code))
    if version >= _NAMES_MAY_BE_NULL:
        parts.append(kind.write_nullable_string(name))
    else:
        parts.append(kind.write_string(name or ""))
    if version >= _TOPIC_IDS:
        parts.append(write_uuid(topic_id))
    if version >= 1:
        parts.append(write_bool(is_internal))
    if isinstance(partitions, TopicPartitions):
        parts.append(partitions.encode(version))
    else:
        parts.append(_encode_partitions(_layout(version), partitions))
    if version >= _OPERATIONS:
        parts.append(write_int32(operations))


def _layout(version: int) -> int:
    """The first version that wrote partitions as this one does."""
    if version >= _FLEXIBLE:
        return _FLEXIBLE
    if version >= _LEADER_EPOCH:
        return _LEADER_EPOCH
    return _OFFLINE_REPLICAS if version >= _OFFLINE_REPLICAS else 0


def _encode_partitions(layout: int, partitions: Sequence[PartitionMetadata]) -> bytes:
    kind = encoding(layout >= _FLEXIBLE)
    parts = [kind.write_array_length(len(partitions))]
    for index, leader, epoch, replicas, isr, offline, code in partitions:
        if len(replicas) == 1 and len(isr) == 1 and not offline:
            replica, in_sync = replicas[0], isr[0]
            if layout >= _FLEXIBLE:
                pack = _SOLE_REPLICA_V9.pack
                parts.append(pack(code, index, leader, epoch, 2, replica, 2, in_sync, 1))
            elif layout >= _LEADER_EPOCH:
                pack = _SOLE_REPLICA_V7.pack
                parts.append(pack(code, index, leader, epoch, 1, replica, 1, in_sync, 0))
            elif layout >= _OFFLINE_REPLICAS:
                pack = _SOLE_REPLICA_V5.pack
                parts.append(pack(code, index, leader, 1, replica, 1, in_sync, 0))
            else:
                pack = _SOLE_REPLICA_V0.pack
                parts.append(pack(code, index, leader, 1, replica, 1, in_sync))
            continue
        parts.append(_PARTITION.pack(code, index, leader))
        if layout >= _LEADER_EPOCH:
            parts.append(write_int32(epoch))
        for nodes in (replicas, isr, offline) if layout >= _OFFLINE_REPLICAS else (replicas, isr):
            parts.append(kind.write_array_length(len(nodes)))
            parts += map(write_int32, nodes)
        if layout >= _FLEXIBLE:
            parts.append(b"\x00")
    return b"".join(parts)
