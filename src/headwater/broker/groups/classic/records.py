"""Groups of the classic protocol as records of `__consumer_offsets`, in Kafka's format."""

from __future__ import annotations

from typing import NamedTuple

from headwater.broker.groups.record_fields import CoordinatorRecord, FieldReader, FieldWriter

GROUP_METADATA_KEY_VERSION = 2

_VALUE_VERSION = 3
_FIRST_VERSION_WITH_REBALANCE_TIMEOUT = 1
_FIRST_VERSION_WITH_STATE_TIMESTAMP = 2
_FIRST_VERSION_WITH_INSTANCE_ID = 3
_FIRST_FLEXIBLE_VERSION = 4
NO_TIMESTAMP = -1


class StoredMember(NamedTuple):
    """A member as the group's record has it: with the one protocol that was chosen."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class GroupMetadata(NamedTuple):
    """A generation of a group, written when its assignment is known."""

    protocol_type: str
    generation: int
    protocol_name: str | None
    leader_id: str | None
    state_timestamp: int
    members: tuple[StoredMember, ...]


def group_metadata_record(group_id: str, metadata: GroupMetadata | None) -> CoordinatorRecord:
    """Return the record of a generation, or the tombstone of a group."""
    key = FieldWriter(GROUP_METADATA_KEY_VERSION, flexible=False).string(group_id).build()
    return CoordinatorRecord(key, None if metadata is None else _encode(metadata))


def decode_group_metadata(data: bytes) -> GroupMetadata:
    """Read a value of any version that Kafka ever wrote."""
    value = FieldReader(data)
    version = value.version(_FIRST_FLEXIBLE_VERSION)
    protocol_type = value.string()
    generation = value.int32()
    protocol_name = value.nullable_string()
    leader_id = value.nullable_string()
    timestamp = value.int64() if version >= _FIRST_VERSION_WITH_STATE_TIMESTAMP else NO_TIMESTAMP
    members = tuple(value.array(lambda reader: _decode_member(reader, version)))
    return GroupMetadata(protocol_type, generation, protocol_name, leader_id, timestamp, members)


def _encode(metadata: GroupMetadata) -> bytes:
    return (
        FieldWriter(_VALUE_VERSION, flexible=False)
        .string(metadata.protocol_type)
        .int32(metadata.generation)
        .string(metadata.protocol_name)
        .string(metadata.leader_id)
        .int64(metadata.state_timestamp)
        .array(metadata.members, _encode_member)
        .build()
    )


def _encode_member(value: FieldWriter, member: StoredMember) -> None:
    value.string(member.member_id).string(member.instance_id)
    value.string(member.client_id).string(member.client_host)
    value.int32(member.rebalance_timeout_ms).int32(member.session_timeout_ms)
    value.blob(member.subscription).blob(member.assignment)


def _decode_member(value: FieldReader, version: int) -> StoredMember:
    member_id = value.string()
    has_instance_id = version >= _FIRST_VERSION_WITH_INSTANCE_ID
    instance_id = value.nullable_string() if has_instance_id else None
    client_id, client_host = value.string(), value.string()
    has_rebalance_timeout = version >= _FIRST_VERSION_WITH_REBALANCE_TIMEOUT
    rebalance_timeout_ms = value.int32() if has_rebalance_timeout else -1
    session_timeout_ms = value.int32()
    member = StoredMember(
        member_id,
        instance_id,
        client_id,
        client_host,
        rebalance_timeout_ms if has_rebalance_timeout else session_timeout_ms,
        session_timeout_ms,
        value.blob(),
        value.blob(),
    )
    value.tags()
    return member
