"""Fetch, v4 to v18: requests read by hand, responses as parts so that records can be sent as files.

A response is a list: packed bytes, and between them the records of each partition as the very
objects that were passed in, so that whoever writes to the socket may send them from the page cache.
"""

from collections.abc import Sequence, Sized
from struct import Struct
from typing import Generic, NamedTuple, TypeVar

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
    read_tagged_fields,
    read_uuid,
    skip_tagged_fields,
    unpack,
    write_int32,
    write_tagged_fields,
    write_uuid,
    write_uvarint,
)

_SESSIONS = 7
_FLEXIBLE = 12
_TOPICS_BY_ID = 13
_REPLICA_STATE_IS_TAGGED = 15
_ENDPOINTS_ARE_NAMED = 16

_LIMITS = Struct(">iiib")
_SESSION = Struct(">ii")
_REPLICA_STATE = Struct(">iq")
_DIVERGING_EPOCH = Struct(">iqx")
_OUTCOME = Struct(">ihi")
_ABORTED = Struct(">qq")

_PARTITION_V4 = Struct(">iqi")
_PARTITION_V5 = Struct(">iqqi")
_PARTITION_V9 = Struct(">iiqqi")
_PARTITION_V12 = Struct(">iiqiqi")

_RESULT_V4 = Struct(">ihqq")
_RESULT_V5 = Struct(">ihqqq")
_NOTHING_ABORTED_V4 = Struct(">ihqqii")
_NOTHING_ABORTED_V5 = Struct(">ihqqqii")
_NOTHING_ABORTED_V11 = Struct(">ihqqqiii")
_NOTHING_ABORTED_V12 = Struct(">ihqqqxi")


class FetchPartition(NamedTuple):
    """From where and how much to read of one partition."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    max_bytes: int


class FetchTopic(NamedTuple):
    """The partitions of one topic, named up to v12 and known by its id from v13 on."""

    name: str | None
    topic_id: bytes | None
    partitions: list[FetchPartition]


class ForgottenTopic(NamedTuple):
    """The partitions of one topic that a fetch session is to leave out from now on."""

    name: str | None
    topic_id: bytes | None
    partitions: list[int]


class FetchRequest(NamedTuple):
    """What a consumer wants to read, and how long it is ready to wait for how much."""

    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: list[FetchTopic]
    forgotten: list[ForgottenTopic]
    rack_id: str
    replica_id: int = -1
    replica_epoch: int = -1
    cluster_id: str | None = None


class AbortedTransaction(NamedTuple):
    """A transaction whose records a read-committed consumer has to drop."""

    producer_id: int
    first_offset: int


class DivergingEpoch(NamedTuple):
    """The last epoch, and where it ended, that reader and log have in common."""

    epoch: int
    end_offset: int


R = TypeVar("R", bound=Sized)


class PartitionFetched(NamedTuple, Generic[R]):
    """What was read of one partition."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    error_code: int
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    records: R | bytes = b""
    """Anything with a length; it reaches the parts of the response as it is."""
    aborted_transactions: Sequence[AbortedTransaction] | None = None
    preferred_read_replica: int = -1
    diverging_epoch: DivergingEpoch | None = None
    current_leader: CurrentLeader | None = None


def decode_request(version: int, view: memoryview, position: int = 0) -> FetchRequest:
    """Read the body of a request of a served version."""
    flexible = version >= _FLEXIBLE
    kind = encoding(flexible)
    session_id, session_epoch, replica_id, replica_epoch = 0, -1, -1, -1
    if version < _REPLICA_STATE_IS_TAGGED:
        replica_id, position = read_int32(view, position, "replica_id")
    limits = unpack(_LIMITS, view, position, "max_wait_ms, min_bytes, max_bytes, isolation_level")
    max_wait_ms, min_bytes, max_bytes, isolation_level = limits
    position += _LIMITS.size
    if version >= _SESSIONS:
        session_id, session_epoch = unpack(_SESSION, view, position, "session_id, session_epoch")
        position += _SESSION.size
    topics, position = _decode_topics(version, view, position, kind)
    forgotten: list[ForgottenTopic] = []
    if version >= _SESSIONS:
        forgotten, position = _decode_forgotten(version, view, position, kind)
    rack_id, cluster_id = "", None
    if version >= 11:
        rack_id, position = kind.read_string(view, position, "rack_id")
    if flexible:
        tags, _ = read_tagged_fields(view, position, "tagged fields")
        if 0 in tags:
            cluster_id, _ = kind.read_nullable_string(tags[0], 0, "cluster_id")
        if 1 in tags and version >= _REPLICA_STATE_IS_TAGGED:
            replica_id, replica_epoch = unpack(_REPLICA_STATE, tags[1], 0, "replica_state")
    return FetchRequest(
        max_wait_ms,
        min_bytes,
        max_bytes,
        isolation_level,
        session_id,
        session_epoch,
        topics,
        forgotten,
        rack_id,
        replica_id,
        replica_epoch,
        cluster_id,
    )


def encode_response(
    version: int,
    throttle_ms: int,
    error_code: int,
    session_id: int,
    topics: Sequence[tuple[str | None, bytes | None, Sequence[PartitionFetched[R]]]],
    node_endpoints: Sequence[NodeEndpoint] = (),
) -> list[bytes | R]:
    """Write a body, in parts: for each topic its name, its id and what its partitions had."""
    flexible = version >= _FLEXIBLE
    kind = encoding(flexible)
    if version >= _SESSIONS:
        packed = [_OUTCOME.pack(throttle_ms, error_code, session_id)]
    else:
        packed = [write_int32(throttle_ms)]
    packed.append(kind.write_array_length(len(topics)))
    parts: list[bytes | R] = []
    for name, topic_id, partitions in topics:
        if version >= _TOPICS_BY_ID:
            packed.append(write_uuid(topic_id))
        else:
            packed.append(kind.write_string(name or ""))
        packed.append(kind.write_array_length(len(partitions)))
        for partition in partitions:
            if flexible:
                packed.append(_encode_flexible(partition))
            else:
                packed.append(_encode_legacy(version, partition))
            records = partition.records
            if len(records):
                parts.append(b"".join(packed))
                parts.append(records)
                packed = []
            if flexible:
                packed.append(_encode_partition_tags(partition))
        if flexible:
            packed.append(b"\x00")
    if flexible:
        tags = {}
        if node_endpoints and version >= _ENDPOINTS_ARE_NAMED:
            tags[0] = encode_node_endpoints(node_endpoints)
        packed.append(write_tagged_fields(tags))
    if packed:
        parts.append(b"".join(packed))
    return parts


def _decode_topics(
    version: int, view: memoryview, position: int, kind: Encoding
) -> tuple[list[FetchTopic], int]:
    topic_count, position = kind.read_array_length(view, position, "topics", 3)
    if topic_count > MAX_ITEMS:
        raise ProtocolError(f"topics: {topic_count} topics in one request")
    topics = []
    room = MAX_ITEMS
    for _ in range(topic_count):
        name, topic_id, position = _decode_topic_name(version, view, position, kind, "topics")
        count, position = kind.read_array_length(view, position, "topics.partitions", 16)
        room -= count
        if room < 0:
            raise ProtocolError(f"topics.partitions: over {MAX_ITEMS} in one request")
        partitions, position = _decode_partitions(version, view, position, count)
        if version >= _FLEXIBLE:
            position = skip_tagged_fields(view, position, "topics' tagged fields")
        topics.append(FetchTopic(name, topic_id, partitions))
    return topics, position


def _decode_partitions(
    version: int, view: memoryview, position: int, count: int
) -> tuple[list[FetchPartition], int]:
    partitions = []
    if version >= _FLEXIBLE:
        for _ in range(count):
            fields = unpack(_PARTITION_V12, view, position, "topics.partitions")
            position += _PARTITION_V12.size
            position = skip_tagged_fields(view, position, "topics.partitions' tagged fields")
            partitions.append(FetchPartition(*fields))
        return partitions, position
    epoch, log_start_offset = -1, -1
    for _ in range(count):
        if version >= 9:
            layout = _PARTITION_V9
            fields = unpack(layout, view, position, "topics.partitions")
            index, epoch, offset, log_start_offset, max_bytes = fields
        elif version >= 5:
            layout = _PARTITION_V5
            fields = unpack(layout, view, position, "topics.partitions")
            index, offset, log_start_offset, max_bytes = fields
        else:
            layout = _PARTITION_V4
            index, offset, max_bytes = unpack(layout, view, position, "topics.partitions")
        position += layout.size
        partitions.append(FetchPartition(index, epoch, offset, -1, log_start_offset, max_bytes))
    return partitions, position


def _decode_forgotten(
    version: int, view: memoryview, position: int, kind: Encoding
) -> tuple[list[ForgottenTopic], int]:
    field = "forgotten_topics_data"
    topic_count, position = kind.read_array_length(view, position, field, 3)
    if topic_count > MAX_ITEMS:
        raise ProtocolError(f"{field}: {topic_count} topics in one request")
    forgotten = []
    room = MAX_ITEMS
    for _ in range(topic_count):
        name, topic_id, position = _decode_topic_name(version, view, position, kind, field)
        count, position = kind.read_array_length(view, position, f"{field}.partitions", 4)
        room -= count
        if room < 0:
            raise ProtocolError(f"{field}.partitions: over {MAX_ITEMS} in one request")
        partitions = []
        for _ in range(count):
            index, position = read_int32(view, position, f"{field}.partitions")
            partitions.append(index)
        if version >= _FLEXIBLE:
            position = skip_tagged_fields(view, position, f"{field}'s tagged fields")
        forgotten.append(ForgottenTopic(name, topic_id, partitions))
    return forgotten, position


def _decode_topic_name(
    version: int, view: memoryview, position: int, kind: Encoding, field: str
) -> tuple[str | None, bytes | None, int]:
    if version >= _TOPICS_BY_ID:
        topic_id, position = read_uuid(view, position, f"{field}.topic_id")
        return None, topic_id, position
    name, position = kind.read_string(view, position, f"{field}.topic")
    return name, None, position


def _encode_legacy(version: int, partition: PartitionFetched[R]) -> bytes:
    index, code, high, stable, start, records, aborted, replica, _, _ = partition
    size = len(records)
    if aborted is None:
        if version >= 11:
            return _NOTHING_ABORTED_V11.pack(index, code, high, stable, start, -1, replica, size)
        if version >= 5:
            return _NOTHING_ABORTED_V5.pack(index, code, high, stable, start, -1, size)
        return _NOTHING_ABORTED_V4.pack(index, code, high, stable, -1, size)
    if version >= 5:
        head = _RESULT_V5.pack(index, code, high, stable, start)
    else:
        head = _RESULT_V4.pack(index, code, high, stable)
    return b"".join(
        (
            head,
            write_int32(len(aborted)),
            *(_ABORTED.pack(*transaction) for transaction in aborted),
            write_int32(replica) if version >= 11 else b"",
            write_int32(size),
        )
    )


def _encode_flexible(partition: PartitionFetched[R]) -> bytes:
    index, code, high, stable, start, records, aborted, replica, _, _ = partition
    size = write_uvarint(len(records) + 1)
    if aborted is None:
        return _NOTHING_ABORTED_V12.pack(index, code, high, stable, start, replica) + size
    return b"".join(
        (
            _RESULT_V5.pack(index, code, high, stable, start),
            write_uvarint(len(aborted) + 1),
            *(_ABORTED.pack(*transaction) + b"\x00" for transaction in aborted),
            write_int32(replica),
            size,
        )
    )


def _encode_partition_tags(partition: PartitionFetched[R]) -> bytes:
    *_, diverging_epoch, current_leader = partition
    if diverging_epoch is None and current_leader is None:
        return b"\x00"
    tags = {}
    if diverging_epoch is not None:
        tags[0] = _DIVERGING_EPOCH.pack(*diverging_epoch)
    if current_leader is not None:
        tags[1] = encode_current_leader(current_leader)
    return write_tagged_fields(tags)
