"""A group of the new protocol: its members, its target assignment and who holds what."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from headwater.broker.groups.consumer.member import (
    NONE_HELD,
    ConsumerMember,
    HeldPartitions,
    MemberState,
    Partitions,
)
from headwater.broker.groups.consumer.records import (
    Change,
    CurrentAssignment,
    CurrentChanged,
    GroupEpochChanged,
    MemberChanged,
    PartitionMetadataForgotten,
    RegexResolved,
    TargetChanged,
    TargetEpochChanged,
)
from headwater.broker.groups.embedded_protocol import CONSUMER
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FIRST_EPOCH = 1


class ConsumerGroupState(Enum):
    """What a group is busy with, under Kafka's names."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class ConsumerGroup:
    """The state that a group's records add up to; it changes by `apply` and in no other way."""

    protocol_type = CONSUMER

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        """Of the subscribed topics as they were at the last change of the epoch."""
        self.target_epoch = FIRST_EPOCH
        self.members: dict[str, ConsumerMember] = {}
        self.targets: dict[str, Partitions] = {}
        self.regexes: dict[str, RegexResolved] = {}
        self.topics_version = -1
        """The state of the broker's topics that the subscriptions were last compared with."""
        self._static: dict[str, str] = {}
        self._holders: dict[bytes, dict[int, str]] = {}

    def copy(self) -> ConsumerGroup:
        """Return a group that can change without changing this one."""
        other = ConsumerGroup(self.group_id)
        other.epoch = self.epoch
        other.metadata_hash = self.metadata_hash
        other.target_epoch = self.target_epoch
        other.members = dict(self.members)
        other.targets = dict(self.targets)
        other.regexes = dict(self.regexes)
        other.topics_version = self.topics_version
        other._static = dict(self._static)
        other._holders = {topic_id: dict(held) for topic_id, held in self._holders.items()}
        return other

    @property
    def state(self) -> ConsumerGroupState:
        """What the group is busy with."""
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.target_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.target_epoch) for member in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""
        return not self.members

    @property
    def classic_members(self) -> list[ConsumerMember]:
        """The members that speak the classic protocol."""
        return [member for member in self.members.values() if member.is_classic]

    def member(self, member_id: str) -> ConsumerMember:
        """Return a member; raises UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"the group '{self.group_id}' has no member {member_id}",
            )
        return member

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """Return the member that goes by this instance id, if there is one."""
        member_id = None if instance_id is None else self._static.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def is_free(self, topic_id: bytes, partition: int) -> bool:
        """Whether nobody holds a partition."""
        return partition not in self._holders.get(topic_id, ())

    def subscribed_topics(self, member: ConsumerMember) -> frozenset[str]:
        """Return the names of the topics that a member wants, whether they exist or not."""
        topics = frozenset(member.subscription.topics)
        resolved = self.regexes.get(member.subscription.regex)
        if resolved is None or resolved.topics is None:
            return topics
        return topics | resolved.topics

    def all_subscribed_topics(self) -> frozenset[str]:
        """Return the names of the topics that any member wants."""
        return frozenset().union(*map(self.subscribed_topics, self.members.values()))

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether any member wants a topic."""
        return any(topic in self.subscribed_topics(member) for member in self.members.values())

    def preferred_assignor(self, default: str) -> str:
        """Return the assignor that most members asked for."""
        votes = Counter(
            member.subscription.assignor
            for member in self.members.values()
            if member.subscription.assignor is not None
        )
        # With as many votes for two, the name decides, so that all calls agree.
        return max(sorted(votes), key=votes.__getitem__, default=default)

    def waits_for_unreleased(self, member: ConsumerMember) -> bool:
        """Whether a partition that a member shall get is still held by somebody else."""
        return any(
            partition not in member.assigned.get(topic_id, ())
            and not self.is_free(topic_id, partition)
            for topic_id, partitions in self.targets.get(member.member_id, {}).items()
            for partition in partitions
        )

    def supports_classic_protocols(self, names: Iterable[str]) -> bool:
        """Whether all members of the classic protocol know one of these assignors."""
        known = [
            {name for name, _ in member.subscription.classic.protocols}
            for member in self.members.values()
            if member.subscription.classic is not None
        ]
        return any(all(name in names_of for names_of in known) for name in names)

    def tombstones(self) -> Iterator[Change]:
        """Yield what makes the group disappear from the log."""
        for member_id in self.members:
            yield from member_tombstones(self.group_id, member_id)
        yield TargetEpochChanged(self.group_id, None)
        for regex in self.regexes:
            yield RegexResolved(self.group_id, regex, None)
        yield PartitionMetadataForgotten(self.group_id)
        yield GroupEpochChanged(self.group_id, None)

    def apply(self, change: Change) -> None:
        """Change as a record says; the records of a group may come in any order."""
        if isinstance(change, CurrentChanged):
            self._apply_current(change)
        elif isinstance(change, MemberChanged):
            self._apply_member(change)
        elif isinstance(change, TargetChanged):
            if change.partitions is None:
                self.targets.pop(change.member_id, None)
            else:
                self.targets[change.member_id] = change.partitions
        elif isinstance(change, GroupEpochChanged):
            self.epoch = FIRST_EPOCH if change.epoch is None else change.epoch
            self.metadata_hash = change.metadata_hash
        elif isinstance(change, TargetEpochChanged):
            self.target_epoch = FIRST_EPOCH if change.epoch is None else change.epoch
        elif isinstance(change, RegexResolved):
            if change.topics is None:
                self.regexes.pop(change.regex, None)
            else:
                self.regexes[change.regex] = change

    def _apply_member(self, change: MemberChanged) -> None:
        member_id = change.member_id
        old = self.members.get(member_id)
        if old is not None and self._static.get(old.instance_id or "") == member_id:
            del self._static[old.instance_id or ""]
        if change.subscription is None:
            if old is not None:
                self._release(old)
                del self.members[member_id]
            return
        base = old or ConsumerMember(member_id)
        self.members[member_id] = replace(base, subscription=change.subscription)
        if change.subscription.instance_id is not None:
            self._static[change.subscription.instance_id] = member_id

    def _apply_current(self, change: CurrentChanged) -> None:
        old = self.members.get(change.member_id)
        if old is None:
            if change.current is None:
                return
            # Compaction may have put this record before that of the member itself.
            old = ConsumerMember(change.member_id)
        self._release(old)
        current = change.current or CurrentAssignment(
            0, 0, MemberState.STABLE, NONE_HELD, NONE_HELD
        )
        member = replace(
            old,
            epoch=current.epoch,
            previous_epoch=current.previous_epoch,
            state=current.state,
            assigned=current.assigned,
            revoking=current.revoking,
        )
        self.members[change.member_id] = member
        self._hold(member.member_id, member.assigned)
        self._hold(member.member_id, member.revoking)

    def _hold(self, member_id: str, partitions: HeldPartitions) -> None:
        for topic_id, held in partitions.items():
            holders = self._holders.setdefault(topic_id, {})
            for partition in held:
                holders[partition] = member_id

    def _release(self, member: ConsumerMember) -> None:
        for partitions in (member.assigned, member.revoking):
            for topic_id, held in partitions.items():
                holders = self._holders.get(topic_id, {})
                for partition in held:
                    # Somebody else's by now, if records were read in another order.
                    if holders.get(partition) == member.member_id:
                        del holders[partition]
                if not holders:
                    self._holders.pop(topic_id, None)


def member_tombstones(group_id: str, member_id: str) -> Iterator[Change]:
    """Yield what makes a member disappear from the log."""
    yield CurrentChanged(group_id, member_id, None)
    yield TargetChanged(group_id, member_id, None)
    yield MemberChanged(group_id, member_id, None)


def member_records(group_id: str, member: ConsumerMember, target: Partitions) -> Iterator[Change]:
    """Yield all that the log has to know of a member."""
    yield MemberChanged(group_id, member.member_id, member.subscription)
    yield TargetChanged(group_id, member.member_id, target)
    yield current_of(group_id, member)


def current_of(group_id: str, member: ConsumerMember) -> CurrentChanged:
    """Return the record of where a member stands."""
    current = CurrentAssignment(
        member.epoch, member.previous_epoch, member.state, member.assigned, member.revoking
    )
    return CurrentChanged(group_id, member.member_id, current)
