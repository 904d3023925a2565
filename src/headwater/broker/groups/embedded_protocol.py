"""The messages that consumers of the classic protocol send each other through the broker.

They are opaque to the broker, except that it wants to know the topics of a group (not to expire
their offsets), and everything when a group changes to the new protocol or back.
"""

from __future__ import annotations

from typing import NamedTuple

from headwater.broker.groups.record_fields import FieldReader, FieldWriter

CONSUMER = "consumer"
"""The protocol type of consumers; Connect and others have protocols of their own."""

TopicPartitions = dict[str, list[int]]

_NEVER_FLEXIBLE = 1 << 15
_NEWEST_VERSION = 3
_FIRST_VERSION_WITH_OWNED = 1
_FIRST_VERSION_WITH_GENERATION = 2
_FIRST_VERSION_WITH_RACK = 3


class EmbeddedSubscription(NamedTuple):
    """What a consumer sends with its JoinGroup."""

    version: int
    topics: list[str]
    user_data: bytes | None
    owned: TopicPartitions
    generation: int
    rack_id: str | None


class EmbeddedAssignment(NamedTuple):
    """What the leader sends to a consumer with its SyncGroup."""

    version: int
    partitions: TopicPartitions
    user_data: bytes | None


def decode_topics(data: bytes) -> list[str]:
    """Read only the topics of a subscription, which all versions have in the same place."""
    value = FieldReader(data)
    value.version(_NEVER_FLEXIBLE)
    return value.array(FieldReader.string)


def decode_subscription(data: bytes) -> EmbeddedSubscription:
    """Read a subscription; newer versions than ours only add fields at the end."""
    value = FieldReader(data)
    version = value.version(_NEVER_FLEXIBLE)
    topics = value.array(FieldReader.string)
    user_data = value.nullable_blob()
    owned: TopicPartitions = {}
    if version >= _FIRST_VERSION_WITH_OWNED:
        owned = _read_partitions(value)
    generation = value.int32() if version >= _FIRST_VERSION_WITH_GENERATION else -1
    rack_id = value.nullable_string() if version >= _FIRST_VERSION_WITH_RACK else None
    return EmbeddedSubscription(version, topics, user_data, owned, generation, rack_id)


def encode_subscription(subscription: EmbeddedSubscription) -> bytes:
    """Write a subscription as a consumer would."""
    version = min(subscription.version, _NEWEST_VERSION)
    value = FieldWriter(version, flexible=False)
    value.array(subscription.topics, FieldWriter.string)
    value.nullable_blob(subscription.user_data)
    if version >= _FIRST_VERSION_WITH_OWNED:
        _write_partitions(value, subscription.owned)
    if version >= _FIRST_VERSION_WITH_GENERATION:
        value.int32(subscription.generation)
    if version >= _FIRST_VERSION_WITH_RACK:
        value.string(subscription.rack_id)
    return value.build()


def decode_assignment(data: bytes) -> EmbeddedAssignment:
    """Read an assignment; none at all is how the broker says that there is nothing."""
    if not data:
        return EmbeddedAssignment(0, {}, None)
    value = FieldReader(data)
    version = value.version(_NEVER_FLEXIBLE)
    return EmbeddedAssignment(version, _read_partitions(value), value.nullable_blob())


def encode_assignment(assignment: EmbeddedAssignment) -> bytes:
    """Write an assignment as a leader would."""
    value = FieldWriter(min(assignment.version, _NEWEST_VERSION), flexible=False)
    _write_partitions(value, assignment.partitions)
    return value.nullable_blob(assignment.user_data).build()


def _read_partitions(value: FieldReader) -> TopicPartitions:
    return dict(value.array(lambda reader: (reader.string(), reader.array(FieldReader.int32))))


def _write_partitions(value: FieldWriter, partitions: TopicPartitions) -> None:
    value.array(
        partitions.items(),
        lambda writer, item: writer.string(item[0]).array(item[1], FieldWriter.int32),
    )
