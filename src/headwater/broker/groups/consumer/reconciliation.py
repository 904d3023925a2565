"""One step of a member towards its target: give up first, then take what others have released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.groups.consumer.member import (
    ConsumerMember,
    HeldPartitions,
    MemberState,
    Partitions,
    contains,
)
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable


def reconcile(
    member: ConsumerMember,
    target_epoch: int,
    target: Partitions,
    owned: Partitions | None,
    is_free: Callable[[bytes, int], bool],
) -> ConsumerMember:
    """Return the member as it is after a heartbeat, or the very same one if nothing changes.

    `target` holds only topics that the member is subscribed to. `owned` is what the member says
    it has; None if it did not say, which means that it has given up nothing. Nobody is given a
    partition before `is_free` says that its last owner is done with it.
    """
    if member.is_reconciled_to(target_epoch) and not _exceeds(member.assigned, target):
        return member
    if member.state is MemberState.UNREVOKED_PARTITIONS and _still_has(owned, member.revoking):
        return member
    if member.state is MemberState.UNKNOWN and (owned is None or owned):
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"the member {member.member_id} is in a state that this broker does not know; it has "
            "to give up its partitions and join again",
        )
    kept, revoked, added, waits = _compare(member, target_epoch, target, is_free)
    if revoked and _still_has(owned, revoked):
        state = MemberState.UNREVOKED_PARTITIONS
        next_member = member.moved_to(member.epoch, state, kept, revoked)
    else:
        for topic_id, partitions in added.items():
            kept.setdefault(topic_id, {}).update(partitions)
        state = MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE
        next_member = member.moved_to(target_epoch, state, kept)
    return member if _is_same(member, next_member) else next_member


def _compare(
    member: ConsumerMember,
    target_epoch: int,
    target: Partitions,
    is_free: Callable[[bytes, int], bool],
) -> tuple[
    dict[bytes, dict[int, int]], dict[bytes, dict[int, int]], dict[bytes, dict[int, int]], bool
]:
    kept: dict[bytes, dict[int, int]] = {}
    revoked: dict[bytes, dict[int, int]] = {}
    added: dict[bytes, dict[int, int]] = {}
    waits = False
    for topic_id, partitions in member.assigned.items():
        wanted = target.get(topic_id, frozenset())
        for partition, epoch in partitions.items():
            side = kept if partition in wanted else revoked
            side.setdefault(topic_id, {})[partition] = epoch
    for topic_id, wanted in target.items():
        for partition in sorted(wanted):
            if contains(member.assigned, topic_id, partition):
                continue
            if is_free(topic_id, partition):
                added.setdefault(topic_id, {})[partition] = target_epoch
            else:
                waits = True
    return kept, revoked, added, waits


def _still_has(owned: Partitions | None, revoked: HeldPartitions) -> bool:
    if owned is None:
        return True
    return any(
        not owned.get(topic_id, frozenset()).isdisjoint(revoked[topic_id]) for topic_id in revoked
    )


def _exceeds(assigned: HeldPartitions, target: Partitions) -> bool:
    """Whether a member that has reached its target has lost a topic since by unsubscribing."""
    return any(
        not target.get(topic_id, frozenset()) >= assigned[topic_id].keys() for topic_id in assigned
    )


def _is_same(member: ConsumerMember, other: ConsumerMember) -> bool:
    # Taken by itself, the previous epoch is not worth a record.
    return (
        member.epoch == other.epoch
        and member.state is other.state
        and member.assigned == other.assigned
        and member.revoking == other.revoking
    )
