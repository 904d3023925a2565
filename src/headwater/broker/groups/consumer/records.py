"""Groups of the new protocol as records of `__consumer_offsets`, in Kafka's format.

A group is spread over several kinds of records, so that a small change writes little. Each kind
is a class here: what it says about a group (None where it says that something is gone), and
`record()` for the bytes. A group changes by applying these and in no other way, so that a group
read from the log is the one that was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.broker.groups.consumer.member import (
    ClassicSupport,
    HeldPartitions,
    MemberState,
    Partitions,
    Subscription,
)
from headwater.broker.groups.record_fields import CoordinatorRecord, FieldReader, FieldWriter
from headwater.protocol.primitives import write_int64

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

GROUP_KEY_VERSION = 3
PARTITION_METADATA_KEY_VERSION = 4
"""Kept topic metadata until Kafka 4.1; a hash in the group's record has taken its place."""
MEMBER_KEY_VERSION = 5
TARGET_EPOCH_KEY_VERSION = 6
TARGET_KEY_VERSION = 7
CURRENT_KEY_VERSION = 8
REGEX_KEY_VERSION = 16

_FIRST_TAG = 0
_NULL_STRUCT = b"\x00"
"""In place of a structure that can be null; a one goes before one that is not."""
_NO_EPOCHS = b"\x00"


@dataclass(frozen=True, slots=True)
class GroupEpochChanged:
    """The group has a new epoch: somebody came, went, or wants something else."""

    group_id: str
    epoch: int | None
    metadata_hash: int = 0

    def record(self) -> CoordinatorRecord:
        """Return it in Kafka's format."""
        value = None
        if self.epoch is not None:
            tags = {_FIRST_TAG: write_int64(self.metadata_hash)} if self.metadata_hash else None
            value = FieldWriter(0, flexible=True).int32(self.epoch).tags(tags).build()
        return CoordinatorRecord(_key(GROUP_KEY_VERSION, self.group_id), value)


@dataclass(frozen=True, slots=True)
class MemberChanged:
    """A member came, went, or said something new of itself."""

    group_id: str
    member_id: str
    subscription: Subscription | None

    def record(self) -> CoordinatorRecord:
        """Return it in Kafka's format."""
        key = _key(MEMBER_KEY_VERSION, self.group_id, self.member_id)
        said = self.subscription
        return CoordinatorRecord(key, None if said is None else _encode_subscription(said))


@dataclass(frozen=True, slots=True)
class TargetEpochChanged:
    """The target assignment is that of this epoch."""

    group_id: str
    epoch: int | None
    timestamp_ms: int = 0

    def record(self) -> CoordinatorRecord:
        """Return it in Kafka's format."""
        value = None
        if self.epoch is not None:
            tags = {_FIRST_TAG: write_int64(self.timestamp_ms)} if self.timestamp_ms else None
            value = FieldWriter(0, flexible=True).int32(self.epoch).tags(tags).build()
        return CoordinatorRecord(_key(TARGET_EPOCH_KEY_VERSION, self.group_id), value)


@dataclass(frozen=True, slots=True)
class TargetChanged:
    """A member shall have these partitions in the end."""

    group_id: str
    member_id: str
    partitions: Partitions | None

    def record(self) -> CoordinatorRecord:
        """Return it in Kafka's format."""
        key = _key(TARGET_KEY_VERSION, self.group_id, self.member_id)
        if self.partitions is None:
            return CoordinatorRecord(key, None)
        value = FieldWriter(0, flexible=True)
        value.array(
            sorted(self.partitions.items()),
            lambda writer, item: _write_partitions(writer, item[0], sorted(item[1])).tags(),
        )
        return CoordinatorRecord(key, value.tags().build())


@dataclass(frozen=True, slots=True)
class CurrentAssignment:
    """Where a member stands: its epoch, and what it holds until the next change."""

    epoch: int
    previous_epoch: int
    state: MemberState
    assigned: HeldPartitions
    revoking: HeldPartitions


@dataclass(frozen=True, slots=True)
class CurrentChanged:
    """A member has moved towards its target."""

    group_id: str
    member_id: str
    current: CurrentAssignment | None

    def record(self) -> CoordinatorRecord:
        """Return it in Kafka's format."""
        key = _key(CURRENT_KEY_VERSION, self.group_id, self.member_id)
        current = self.current
        if current is None:
            return CoordinatorRecord(key, None)
        value = (
            FieldWriter(0, flexible=True)
            .int32(current.epoch)
            .int32(current.previous_epoch)
            .int8(current.state)
            .array(sorted(current.assigned.items()), _write_held)
            .array(sorted(current.revoking.items()), _write_held)
        )
        return CoordinatorRecord(key, value.tags().build())


@dataclass(frozen=True, slots=True)
class RegexResolved:
    """A regular expression that members subscribed to matches these topics."""

    group_id: str
    regex: str
    topics: frozenset[str] | None
    version: int = 0
    timestamp_ms: int = 0

    def record(self) -> CoordinatorRecord:
        """Return it in Kafka's format."""
        key = _key(REGEX_KEY_VERSION, self.group_id, self.regex)
        if self.topics is None:
            return CoordinatorRecord(key, None)
        value = FieldWriter(0, flexible=True).array(sorted(self.topics), FieldWriter.string)
        value.int64(self.version).int64(self.timestamp_ms)
        return CoordinatorRecord(key, value.tags().build())


@dataclass(frozen=True, slots=True)
class PartitionMetadataForgotten:
    """Takes back the topic metadata that an older Kafka kept for the group."""

    group_id: str

    def record(self) -> CoordinatorRecord:
        """Return it in Kafka's format."""
        return CoordinatorRecord(_key(PARTITION_METADATA_KEY_VERSION, self.group_id), None)


Change = (
    GroupEpochChanged
    | MemberChanged
    | TargetEpochChanged
    | TargetChanged
    | CurrentChanged
    | RegexResolved
    | PartitionMetadataForgotten
)


def decode_change(key_version: int, key: FieldReader, data: bytes | None) -> Change | None:
    """Read one of the records above; None for one that no longer means anything."""
    decode = _DECODERS.get(key_version)
    return None if decode is None else decode(key, data)


def _decode_group_epoch(key: FieldReader, data: bytes | None) -> Change:
    group_id = key.string()
    if data is None:
        return GroupEpochChanged(group_id, None)
    value = _value(data)
    epoch = value.int32()
    tagged = value.tags().get(_FIRST_TAG)
    return GroupEpochChanged(group_id, epoch, 0 if tagged is None else FieldReader(tagged).int64())


def _decode_member(key: FieldReader, data: bytes | None) -> Change:
    group_id, member_id = key.string(), key.string()
    said = None if data is None else _decode_subscription(_value(data))
    return MemberChanged(group_id, member_id, said)


def _decode_target_epoch(key: FieldReader, data: bytes | None) -> Change:
    group_id = key.string()
    if data is None:
        return TargetEpochChanged(group_id, None)
    value = _value(data)
    epoch = value.int32()
    tagged = value.tags().get(_FIRST_TAG)
    return TargetEpochChanged(group_id, epoch, 0 if tagged is None else FieldReader(tagged).int64())


def _decode_target(key: FieldReader, data: bytes | None) -> Change:
    group_id, member_id = key.string(), key.string()
    if data is None:
        return TargetChanged(group_id, member_id, None)
    topics = _value(data).array(_read_target_topic)
    return TargetChanged(group_id, member_id, dict(topics))


def _decode_current(key: FieldReader, data: bytes | None) -> Change:
    group_id, member_id = key.string(), key.string()
    if data is None:
        return CurrentChanged(group_id, member_id, None)
    value = _value(data)
    epoch, previous_epoch, state = value.int32(), value.int32(), value.int8()
    known = MemberState(state) if state in _STATES else MemberState.UNKNOWN
    assigned = dict(value.array(lambda reader: _read_held(reader, epoch)))
    revoking = dict(value.array(lambda reader: _read_held(reader, epoch)))
    current = CurrentAssignment(epoch, previous_epoch, known, assigned, revoking)
    return CurrentChanged(group_id, member_id, current)


def _decode_regex(key: FieldReader, data: bytes | None) -> Change:
    group_id, regex = key.string(), key.string()
    if data is None:
        return RegexResolved(group_id, regex, None)
    value = _value(data)
    topics = frozenset(value.array(FieldReader.string))
    return RegexResolved(group_id, regex, topics, value.int64(), value.int64())


_STATES = frozenset(MemberState)

_DECODERS: dict[int, Callable[[FieldReader, bytes | None], Change]] = {
    GROUP_KEY_VERSION: _decode_group_epoch,
    MEMBER_KEY_VERSION: _decode_member,
    TARGET_EPOCH_KEY_VERSION: _decode_target_epoch,
    TARGET_KEY_VERSION: _decode_target,
    CURRENT_KEY_VERSION: _decode_current,
    REGEX_KEY_VERSION: _decode_regex,
}


def _key(version: int, *strings: str) -> bytes:
    key = FieldWriter(version, flexible=False)
    for string in strings:
        key.string(string)
    return key.build()


def _value(data: bytes) -> FieldReader:
    value = FieldReader(data)
    value.version(flexible_from=0)
    return value


def _encode_subscription(said: Subscription) -> bytes:
    value = (
        FieldWriter(0, flexible=True)
        .string(said.instance_id)
        .string(said.rack_id)
        .string(said.client_id)
        .string(said.client_host)
        .array(said.topics, FieldWriter.string)
        .string(said.regex)
        .int32(said.rebalance_timeout_ms)
        .string(said.assignor)
    )
    if said.classic is None:
        return value.tags({_FIRST_TAG: _NULL_STRUCT}).build()
    classic = FieldWriter.fields_only().int8(1).int32(said.classic.session_timeout_ms)
    classic.array(
        said.classic.protocols,
        lambda writer, protocol: writer.string(protocol[0]).blob(protocol[1]).tags(),
    )
    return value.tags({_FIRST_TAG: classic.tags().build()}).build()


def _decode_subscription(value: FieldReader) -> Subscription:
    said = Subscription(
        instance_id=value.nullable_string(),
        rack_id=value.nullable_string(),
        client_id=value.string(),
        client_host=value.string(),
        topics=tuple(sorted(set(value.array(FieldReader.string)))),
        regex=value.nullable_string() or "",
        rebalance_timeout_ms=value.int32(),
        assignor=value.nullable_string(),
    )
    tagged = value.tags().get(_FIRST_TAG)
    if tagged is None:
        return said
    classic = FieldReader(tagged).as_flexible()
    if not classic.int8():
        return said
    support = ClassicSupport(classic.int32(), tuple(classic.array(_read_protocol)))
    return said._replace(classic=support)


def _read_protocol(value: FieldReader) -> tuple[str, bytes]:
    protocol = value.string(), value.blob()
    value.tags()
    return protocol


def _write_partitions(value: FieldWriter, topic_id: bytes, partitions: list[int]) -> FieldWriter:
    return value.uuid(topic_id).array(partitions, FieldWriter.int32)


def _write_held(value: FieldWriter, item: tuple[bytes, Mapping[int, int]]) -> None:
    topic_id, held = item
    partitions = sorted(held)
    epochs = FieldWriter.fields_only()
    epochs.array((held[partition] for partition in partitions), FieldWriter.int32)
    _write_partitions(value, topic_id, partitions).tags({_FIRST_TAG: epochs.build()})


def _read_target_topic(value: FieldReader) -> tuple[bytes, frozenset[int]]:
    topic = value.uuid(), frozenset(value.array(FieldReader.int32))
    value.tags()
    return topic


def _read_held(value: FieldReader, member_epoch: int) -> tuple[bytes, dict[int, int]]:
    topic_id = value.uuid()
    partitions = value.array(FieldReader.int32)
    tagged = value.tags().get(_FIRST_TAG)
    if tagged is None or bytes(tagged) == _NO_EPOCHS:
        # Before Kafka 4.3 there were none: the member's own epoch errs on the safe side.
        return topic_id, dict.fromkeys(partitions, member_epoch)
    epochs = FieldReader(tagged).as_flexible().array(FieldReader.int32)
    return topic_id, dict(zip(partitions, epochs, strict=True))
