"""A live group on its way from the classic protocol to the new one, or back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.groups.classic.group import ClassicGroup, ClassicMember, ClassicState
from headwater.broker.groups.classic.records import group_metadata_record
from headwater.broker.groups.consumer.group import member_records
from headwater.broker.groups.consumer.member import (
    ConsumerMember,
    without_epochs,
)
from headwater.broker.groups.consumer.records import GroupEpochChanged, TargetEpochChanged
from headwater.broker.groups.consumer.target_assignment import metadata_hash
from headwater.broker.groups.embedded_protocol import (
    CONSUMER,
    decode_assignment,
    decode_subscription,
)
from headwater.broker.groups.group_draft import GroupDraft
from headwater.broker.groups.mixed_protocol import embedded_assignment, subscription_of
from headwater.protocol.errors import ErrorCode, KafkaError, ProtocolError

if TYPE_CHECKING:
    from headwater.broker.groups.consumer.group import ConsumerGroup
    from headwater.broker.groups.consumer.member import ClassicSupport
    from headwater.broker.groups.environment import Topics
    from headwater.broker.groups.settings import GroupSettings


def check_upgrade(group: ClassicGroup, settings: GroupSettings) -> None:
    """Refuse to change a group that cannot be changed; raises KafkaError."""
    if not settings.allows_upgrade:
        problem = "group.consumer.migration.policy forbids it"
    elif not group.is_of_consumers:
        problem = f"its members are of the kind '{group.protocol_type}' and no consumers"
    elif len(group.members) > settings.consumer_max_size:
        problem = "it has more members than group.consumer.max.size allows"
    else:
        return
    raise KafkaError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"the group '{group.group_id}' stays with the classic protocol: {problem}",
    )


def upgrade(group: ClassicGroup, topics: Topics, now_ms: int) -> GroupDraft:
    """Return a group of the new protocol in which everybody keeps what the last leader gave it."""
    tombstone = group_metadata_record(group.group_id, None)
    draft = GroupDraft.of_new_group(group.group_id, [tombstone])
    epoch = max(group.generation, 1)
    try:
        members = [_to_consumer(group, member, epoch, topics) for member in group.members.values()]
    except ProtocolError as error:
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND,
            f"the group '{group.group_id}' stays with the classic protocol: the metadata of its "
            f"members cannot be read ({error})",
        ) from error
    for member in members:
        for change in member_records(group.group_id, member, without_epochs(member.assigned)):
            draft.add(change)
    # With the hash of the topics as they are, a static member that merely changes the protocol
    # causes no rebalance. One is due if the old leader had not given everything out yet.
    is_settled = is_all_held(draft.group, topics)
    known_hash = metadata_hash(draft.group, topics) if is_settled else 0
    draft.add(GroupEpochChanged(group.group_id, epoch, known_hash))
    draft.add(TargetEpochChanged(group.group_id, epoch, now_ms))
    return draft


def is_all_held(group: ConsumerGroup, topics: Topics) -> bool:
    """Whether each partition of each topic that the members want is held by one of them."""
    wanted = {
        (topics.id_of(name), partition)
        for name in group.all_subscribed_topics()
        for partition in range(topics.partition_count(name) or 0)
    }
    held = [
        (topic_id, partition)
        for member in group.members.values()
        for topic_id, partitions in member.assigned.items()
        for partition in partitions
    ]
    return len(held) == len(wanted) and wanted == set(held)


def can_downgrade(draft: GroupDraft, settings: GroupSettings) -> bool:
    """Whether the last member of the new protocol goes, and the others may go back."""
    left = draft.group.members.values()
    return (
        settings.allows_downgrade
        and 0 < len(left) <= settings.max_size
        and all(member.is_classic for member in left)
        and not all(member.is_classic for member in draft.before.members.values())
    )


def downgrade(draft: GroupDraft, topics: Topics, now_ms: int) -> None:
    """Turn a draft in which only classic members are left into a classic group.

    Everybody keeps what it has; whether they must join anew is for the caller to decide.
    """
    group = draft.group
    classic = ClassicGroup(group.group_id, now_ms)
    classic.protocol_type = CONSUMER
    classic.generation = group.epoch
    for member in group.members.values():
        support = member.subscription.classic
        assert support is not None
        classic.add(_to_classic(member, support, topics))
    classic.protocol_name = classic.select_protocol()
    classic.transition(ClassicState.STABLE, now_ms)
    classic.subscribed_topics = classic.compute_subscribed_topics()
    for change in tuple(group.tombstones()):
        draft.add(change)
    shares = {one.member_id: one.assignment for one in classic.members.values()}
    draft.write(group_metadata_record(group.group_id, classic.metadata(shares)))
    draft.downgraded = classic


def _to_consumer(
    group: ClassicGroup, member: ClassicMember, epoch: int, topics: Topics
) -> ConsumerMember:
    # Before its first generation a group has not agreed on a protocol yet; all of a consumer's
    # protocols come with the same subscription.
    name = group.protocol_name or member.protocols[0][0]
    said = decode_subscription(member.metadata(name) or member.protocols[0][1])
    assigned: dict[bytes, dict[int, int]] = {}
    for topic, partitions in decode_assignment(member.assignment).partitions.items():
        topic_id = topics.id_of(topic)
        if topic_id is not None and partitions:
            assigned[topic_id] = dict.fromkeys(partitions, epoch)
    return ConsumerMember(
        member.member_id,
        subscription_of(member, said),
        epoch=epoch,
        previous_epoch=epoch,
        assigned=assigned,
    )


def _to_classic(member: ConsumerMember, support: ClassicSupport, topics: Topics) -> ClassicMember:
    said = member.subscription
    return ClassicMember(
        member.member_id,
        said.instance_id,
        said.client_id,
        said.client_host,
        support.session_timeout_ms,
        said.rebalance_timeout_ms,
        support.protocols,
        embedded_assignment(member, support, topics),
    )
