"""The target of a group: who shall have which partitions in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.groups.assignors import ASSIGNORS, GroupSpec, MemberSpec
from headwater.broker.groups.consumer.records import TargetChanged, TargetEpochChanged

if TYPE_CHECKING:
    from headwater.broker.groups.consumer.group import ConsumerGroup
    from headwater.broker.groups.consumer.member import Partitions
    from headwater.broker.groups.environment import Topics
    from headwater.broker.groups.group_draft import GroupDraft


def update_target(draft: GroupDraft, topics: Topics, default_assignor: str, now_ms: int) -> None:
    """Compute the target for the group's epoch and write down what is different in it."""
    group = draft.group
    assign = ASSIGNORS[group.preferred_assignor(default_assignor)]
    target = assign(_spec(group, topics))
    for member_id in group.members:
        partitions = target.get(member_id, {})
        if member_id not in group.targets or group.targets[member_id] != partitions:
            draft.add(TargetChanged(group.group_id, member_id, partitions))
    draft.add(TargetEpochChanged(group.group_id, group.epoch, now_ms))


def target_of(group: ConsumerGroup, member_id: str, topics: Topics) -> Partitions:
    """Return what a member shall have, of the topics that it wants and that exist."""
    target = group.targets.get(member_id, {})
    wanted = _topic_ids(group.subscribed_topics(group.members[member_id]), topics)
    if target.keys() <= wanted:
        return target
    return {topic_id: target[topic_id] for topic_id in target.keys() & wanted}


def metadata_hash(group: ConsumerGroup, topics: Topics) -> int:
    """Return a number that changes when a topic that the group wants does; 0 if it has none."""
    # Not at the top: OpenSSL's digests take memory that only groups of the new protocol need.
    from hashlib import blake2b

    digest = blake2b(digest_size=8)
    has_topics = False
    for name in sorted(group.all_subscribed_topics()):
        topic_id, count = topics.id_of(name), topics.partition_count(name)
        if topic_id is not None:
            has_topics = True
            digest.update(f"{name} {topic_id.hex()} {count}\n".encode())
    return int.from_bytes(digest.digest(), "big", signed=True) if has_topics else 0


def _spec(group: ConsumerGroup, topics: Topics) -> GroupSpec:
    counts: dict[bytes, int] = {}
    by_subscription: dict[frozenset[str], frozenset[bytes]] = {}
    members: dict[str, MemberSpec] = {}
    for member_id, member in group.members.items():
        names = group.subscribed_topics(member)
        ids = by_subscription.get(names)
        if ids is None:
            ids = by_subscription[names] = _topic_ids(names, topics)
            for name in names:
                topic_id, count = topics.id_of(name), topics.partition_count(name)
                if topic_id is not None and count is not None:
                    counts[topic_id] = count
        assigned = group.targets.get(member_id, {})
        members[member_id] = MemberSpec(member.instance_id, ids, assigned)
    return GroupSpec(members, counts)


def _topic_ids(names: frozenset[str], topics: Topics) -> frozenset[bytes]:
    ids = (topics.id_of(name) for name in names)
    return frozenset(topic_id for topic_id in ids if topic_id is not None)
