"""The new protocol (KIP-848): the broker assigns, and every heartbeat is a step towards the target.

A member that joins, leaves or wants other topics raises the group's epoch. The first heartbeat
after that computes a target for the new epoch, and each member is led there on its own: first it
gives up what is not its own any more, then it gets what others have given up.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from headwater.broker.groups.consumer.group import (
    current_of,
    member_records,
    member_tombstones,
)
from headwater.broker.groups.consumer.member import (
    JOIN_EPOCH,
    NONE_HELD,
    STATIC_LEAVE_EPOCH,
    ConsumerMember,
    MemberState,
    Partitions,
    Subscription,
    without_epochs,
)
from headwater.broker.groups.consumer.messages import (
    NOT_GIVEN,
    HeartbeatRequest,
    HeartbeatResult,
)
from headwater.broker.groups.consumer.reconciliation import reconcile
from headwater.broker.groups.consumer.records import (
    GroupEpochChanged,
    MemberChanged,
    RegexResolved,
)
from headwater.broker.groups.consumer.target_assignment import (
    metadata_hash,
    target_of,
    update_target,
)
from headwater.broker.groups.consumer.topic_regex import check_regex, matching_topics, sees_all
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater.broker.groups.consumer.group import ConsumerGroup
    from headwater.broker.groups.environment import Environment
    from headwater.broker.groups.group_draft import GroupDraft

logger = logging.getLogger("headwater.broker.groups")

_WAITING_INTERVAL_MS = 500


class Expire(Protocol):
    """Puts a member out of its group, unless it has moved on from the epoch given."""

    def __call__(
        self, group_id: str, member_id: str, reason: str, epoch: int | None = None
    ) -> None:
        """Put it out."""


class ConsumerProtocol:
    """Works out what a heartbeat changes; the shard makes it last."""

    def __init__(self, environment: Environment, expire: Expire) -> None:
        self._settings = environment.settings
        self._timers = environment.timers
        self._topics = environment.topics
        self._now_ms = environment.now_ms
        self._new_id = environment.new_id
        self._expire = expire

    def heartbeat(self, draft: GroupDraft, request: HeartbeatRequest) -> HeartbeatResult:
        """Take in a member, or lead it a step further."""
        group = draft.group
        member_id = request.member_id or self._new_id()
        self.check_room(group, member_id)
        member = self._find(draft, request, member_id)
        held_before = member.assigned
        said = _said(member, request)
        member = self.advance(draft, member, said, request.owned, request.sees)
        self.keep_alive(draft, member)
        has_changed = member.assigned != held_before
        return HeartbeatResult(
            member_id=member_id,
            epoch=member.epoch,
            heartbeat_interval_ms=self._interval_ms(member),
            assignment=(
                without_epochs(member.assigned) if has_changed or request.is_full else None
            ),
        )

    def leave(self, draft: GroupDraft, request: HeartbeatRequest) -> HeartbeatResult:
        """Let a member go, or note that a static one will be back."""
        group = draft.group
        if request.instance_id is None:
            member = group.member(request.member_id)
        else:
            member = _own_static(group, request.member_id, request.instance_id)
        if request.epoch == STATIC_LEAVE_EPOCH:
            away = replace(member, epoch=STATIC_LEAVE_EPOCH, revoking=NONE_HELD)
            draft.add(current_of(group.group_id, away))
        else:
            self.remove(draft, [member.member_id])
        return HeartbeatResult(member_id=request.member_id, epoch=request.epoch)

    def remove(self, draft: GroupDraft, member_ids: Iterable[str]) -> None:
        """Put members out; `close_ranks` gives what they had to the others."""
        group_id = draft.group.group_id
        for member_id in member_ids:
            for change in member_tombstones(group_id, member_id):
                draft.add(change)
            draft.then(partial(self.forget, group_id, member_id))
        draft.lost_members = True

    def close_ranks(self, draft: GroupDraft) -> None:
        """Begin a new epoch without the members that were removed."""
        self._drop_unused_regexes(draft)
        self._raise_epoch(draft)

    def advance(
        self,
        draft: GroupDraft,
        member: ConsumerMember,
        said: Subscription,
        owned: Partitions | None,
        sees: Callable[[str], bool] = sees_all,
    ) -> ConsumerMember:
        """Note what a member said of itself, and lead it a step towards its target."""
        group_id, member_id = draft.group.group_id, member.member_id
        known = draft.group.members.get(member_id)
        before = Subscription() if known is None else known.subscription
        wants_other = (said.topics, said.regex) != (before.topics, before.regex)
        if known is None or said != known.subscription:
            if wants_other and said.regex:
                check_regex(said.regex)
            draft.add(MemberChanged(group_id, member_id, said))
        if wants_other or draft.group.topics_version != self._topics.version:
            self._look_at_topics(draft, sees, must_raise=wants_other)
        if draft.group.epoch > draft.group.target_epoch:
            update_target(draft, self._topics, self._settings.consumer_assignors[0], self._now_ms())
        group = draft.group
        member = group.members[member_id]
        moved = reconcile(
            member,
            group.target_epoch,
            target_of(group, member_id, self._topics),
            owned,
            group.is_free,
        )
        if moved is not member:
            draft.add(current_of(group_id, moved))
            self._watch_revocation(draft, moved)
        return moved

    def keep_alive(self, draft: GroupDraft, member: ConsumerMember) -> None:
        """Give a member a whole session timeout from now on."""
        classic = member.subscription.classic
        timeout_ms = (
            self._settings.consumer_session_timeout_ms
            if classic is None
            else classic.session_timeout_ms
        )
        draft.then(partial(self.expect, draft.group.group_id, member.member_id, timeout_ms))

    def expect(self, group_id: str, member_id: str, within_ms: int) -> None:
        """Put a member out unless something is heard from it."""
        expire = partial(self._expire, group_id, member_id, f"it was silent for {within_ms} ms")
        self._timers.set(("session", group_id, member_id), within_ms, expire)

    def forget(self, group_id: str, member_id: str) -> None:
        """Let no timer of a member go off any more."""
        for kind in ("session", "revoke", "rejoin", "resync"):
            self._timers.cancel((kind, group_id, member_id))

    def resume(self, group: ConsumerGroup) -> None:
        """Go on with a group that was read from the log."""
        for member in group.members.values():
            classic = member.subscription.classic
            timeout_ms = (
                self._settings.consumer_session_timeout_ms
                if classic is None
                else classic.session_timeout_ms
            )
            self.expect(group.group_id, member.member_id, timeout_ms)
            if member.state is MemberState.UNREVOKED_PARTITIONS and classic is None:
                self._expect_revocation(group.group_id, member)

    def check_room(self, group: ConsumerGroup, member_id: str) -> None:
        """Refuse one more member than the group may have; raises KafkaError."""
        limit = self._settings.consumer_max_size
        if len(group.members) >= limit and member_id not in group.members:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"the group '{group.group_id}' has {limit} members, and may not have more",
            )

    def replace_static(self, draft: GroupDraft, old: ConsumerMember, new_id: str) -> ConsumerMember:
        """Give a static member that came back its new id, with all that it had."""
        group_id = draft.group.group_id
        target = draft.group.targets.get(old.member_id, {})
        new = replace(old, member_id=new_id, epoch=0, previous_epoch=0)
        for change in member_tombstones(group_id, old.member_id):
            draft.add(change)
        for change in member_records(group_id, new, target):
            draft.add(change)
        draft.then(partial(self.forget, group_id, old.member_id))
        return new

    def _interval_ms(self, member: ConsumerMember) -> int:
        # One who waits for others to give something up asks more often than one who has it all.
        interval_ms = self._settings.consumer_heartbeat_interval_ms
        is_waiting = member.state is not MemberState.STABLE
        return min(interval_ms, _WAITING_INTERVAL_MS) if is_waiting else interval_ms

    def _find(self, draft: GroupDraft, request: HeartbeatRequest, member_id: str) -> ConsumerMember:
        group = draft.group
        joins = request.epoch == JOIN_EPOCH
        if request.instance_id is None:
            member = group.members.get(member_id)
            if member is None:
                if not joins:
                    return group.member(member_id)
                return ConsumerMember(member_id)
            _check_epoch(member, request)
            return member
        if not joins:
            member = _own_static(group, member_id, request.instance_id)
            _check_epoch(member, request)
            return member
        former = group.static_member(request.instance_id)
        if former is None:
            return group.members.get(member_id) or ConsumerMember(member_id)
        if former.member_id == member_id and not former.is_away:
            return former
        if not former.is_classic and not former.is_away:
            raise KafkaError(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                f"'{request.instance_id}' is still in use by the member {former.member_id}",
            )
        return self.replace_static(draft, former, member_id)

    def _look_at_topics(
        self, draft: GroupDraft, sees: Callable[[str], bool], *, must_raise: bool
    ) -> None:
        """Compare the subscriptions with the topics there are, as far as a member sees them."""
        self._drop_unused_regexes(draft)
        version = self._topics.version
        now_ms = self._now_ms()
        wanted = {member.subscription.regex for member in draft.group.members.values()}
        for regex in sorted(regex for regex in wanted if regex):
            topics = frozenset(filter(sees, matching_topics(regex, self._topics.names())))
            resolved = draft.group.regexes.get(regex)
            if resolved is None or resolved.topics != topics:
                draft.add(
                    RegexResolved(draft.group.group_id, regex, topics, max(version, 0), now_ms)
                )
        if must_raise or metadata_hash(draft.group, self._topics) != draft.group.metadata_hash:
            self._raise_epoch(draft)
        draft.group.topics_version = version

    def _drop_unused_regexes(self, draft: GroupDraft) -> None:
        group = draft.group
        used = {member.subscription.regex for member in group.members.values()}
        for regex in group.regexes.keys() - used:
            draft.add(RegexResolved(group.group_id, regex, None))

    def _raise_epoch(self, draft: GroupDraft) -> None:
        group = draft.group
        new_hash = metadata_hash(group, self._topics)
        draft.add(GroupEpochChanged(group.group_id, group.epoch + 1, new_hash))

    def _watch_revocation(self, draft: GroupDraft, member: ConsumerMember) -> None:
        if member.is_classic:
            return
        group_id = draft.group.group_id
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            draft.then(partial(self._expect_revocation, group_id, member))
        else:
            draft.then(partial(self._timers.cancel, ("revoke", group_id, member.member_id)))

    def _expect_revocation(self, group_id: str, member: ConsumerMember) -> None:
        timeout_ms = member.subscription.rebalance_timeout_ms
        reason = f"it did not give up its partitions within {timeout_ms} ms"
        expire = partial(self._expire, group_id, member.member_id, reason, member.epoch)
        self._timers.set(("revoke", group_id, member.member_id), timeout_ms, expire)


def _said(member: ConsumerMember, request: HeartbeatRequest) -> Subscription:
    before = member.subscription
    topics = before.topics if request.topics is None else tuple(sorted(set(request.topics)))
    timeout_ms = request.rebalance_timeout_ms
    return Subscription(
        instance_id=before.instance_id if request.instance_id is None else request.instance_id,
        rack_id=before.rack_id if request.rack_id is None else request.rack_id,
        client_id=request.client_id,
        client_host=request.client_host,
        topics=topics,
        regex=before.regex if request.regex is None else request.regex,
        rebalance_timeout_ms=(
            before.rebalance_timeout_ms if timeout_ms == NOT_GIVEN else timeout_ms
        ),
        assignor=before.assignor if request.assignor is None else request.assignor,
    )


def _own_static(group: ConsumerGroup, member_id: str, instance_id: str) -> ConsumerMember:
    member = group.static_member(instance_id)
    if member is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"there is no static member with the instance id '{instance_id}'",
        )
    if member.member_id != member_id:
        raise KafkaError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"the instance id '{instance_id}' is that of the member {member.member_id} now, "
            f"not of {member_id}",
        )
    return member


def _check_epoch(member: ConsumerMember, request: HeartbeatRequest) -> None:
    epoch = request.epoch
    if epoch in (JOIN_EPOCH, member.epoch):
        return
    if epoch == member.previous_epoch and epoch < member.epoch and _is_subset(request, member):
        return  # It has not got the answer that told of its new epoch.
    raise KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"the member {member.member_id} is in epoch {member.epoch}, not {epoch}; it has to give up "
        "its partitions and join again",
    )


def _is_subset(request: HeartbeatRequest, member: ConsumerMember) -> bool:
    if request.owned is None:
        return False
    return all(
        partitions <= member.assigned.get(topic_id, {}).keys()
        for topic_id, partitions in request.owned.items()
    )
