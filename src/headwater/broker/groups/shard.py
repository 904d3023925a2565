"""The groups of one partition of `__consumer_offsets`: all that members ask ends up here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from headwater.broker.groups.classic.group import ClassicGroup
from headwater.broker.groups.classic.messages import (
    UNKNOWN_MEMBER,
    JoinReply,
    JoinRequest,
    JoinResult,
    LeaveResult,
    LeavingMember,
    SyncReply,
    SyncRequest,
    SyncResult,
)
from headwater.broker.groups.classic.protocol import ClassicProtocol
from headwater.broker.groups.classic.records import group_metadata_record
from headwater.broker.groups.consumer.group import ConsumerGroup
from headwater.broker.groups.consumer.member import JOIN_EPOCH
from headwater.broker.groups.consumer.messages import HeartbeatRequest, HeartbeatResult
from headwater.broker.groups.consumer.protocol import ConsumerProtocol
from headwater.broker.groups.environment import Environment, OnStored, group_error
from headwater.broker.groups.group_draft import GroupDraft
from headwater.broker.groups.migration import (
    can_downgrade,
    check_upgrade,
    downgrade,
    is_all_held,
    upgrade,
)
from headwater.broker.groups.mixed_protocol import MixedProtocol
from headwater.broker.groups.offsets.records import offset_record
from headwater.broker.groups.offsets.store import OffsetStore
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from headwater.broker.groups.record_fields import CoordinatorRecord

logger = logging.getLogger("headwater.broker.groups")

Group = ClassicGroup | ConsumerGroup

LeaveReply = Callable[[ErrorCode, Sequence[LeaveResult]], None]
HeartbeatReply = Callable[[HeartbeatResult], None]
DeleteReply = Callable[[Sequence[ErrorCode]], None]

_RETRY_MS = 1_000


class GroupShard:
    """Groups and their offsets as a state machine: no sockets, no event loop, no clock of its own.

    Every reply is called exactly once, now or later, and never before what it says is as safe as
    the broker's durability mode asks.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.groups: dict[str, Group] = {}
        self.offsets = OffsetStore()
        self.classic = ClassicProtocol(environment)
        self.consumer = ConsumerProtocol(environment, self._expire)
        self._mixed = MixedProtocol(environment, self.consumer, self._expire)

    def resume(self) -> None:
        """Begin to time what was read from the log."""
        for group in tuple(self.groups.values()):
            if isinstance(group, ClassicGroup):
                self.classic.resume(group)
            else:
                self.consumer.resume(group)

    def close(self) -> None:
        """Tell all who wait that they have to look for another coordinator."""
        for group in self.groups.values():
            if isinstance(group, ClassicGroup):
                self.classic.abandon(group, ErrorCode.NOT_COORDINATOR)

    def join(self, request: JoinRequest, reply: JoinReply) -> None:
        """JoinGroup."""
        limits = self.environment.settings
        group = self.groups.get(request.group_id)
        timeout_ms = request.session_timeout_ms
        if not limits.min_session_timeout_ms <= timeout_ms <= limits.max_session_timeout_ms:
            reply(JoinResult(ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id))
        elif isinstance(group, ConsumerGroup) and not group.is_empty:
            self._join_mixed(group, request, reply)
        else:
            self._join_classic(group, request, reply)

    def sync(self, request: SyncRequest, reply: SyncReply) -> None:
        """SyncGroup."""
        group = self.groups.get(request.group_id)
        if group is None or group.is_empty:
            reply(SyncResult(ErrorCode.UNKNOWN_MEMBER_ID))
        elif isinstance(group, ClassicGroup):
            self.classic.sync(group, request, reply)
        else:
            try:
                result = self._mixed.sync(group, request)
            except KafkaError as refusal:
                result = SyncResult(refusal.code)
            reply(result)

    def heartbeat(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        """Heartbeat of the classic protocol."""
        group = self.groups.get(group_id)
        if isinstance(group, ClassicGroup):
            return self.classic.heartbeat(group, member_id, instance_id, generation)
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        try:
            return self._mixed.heartbeat(group, member_id, instance_id, generation)
        except KafkaError as refusal:
            return refusal.code

    def leave(self, group_id: str, leaving: Sequence[LeavingMember], reply: LeaveReply) -> None:
        """LeaveGroup."""
        group = self.groups.get(group_id)
        if group is None:
            unknown = ErrorCode.UNKNOWN_MEMBER_ID
            reply(ErrorCode.NONE, [LeaveResult(*one[:2], unknown) for one in leaving])
        elif isinstance(group, ClassicGroup):
            results = self.classic.leave(group, leaving)
            self.environment.journal.when_stored(lambda _: reply(ErrorCode.NONE, results))
        else:
            draft = GroupDraft(group)
            results = self._mixed.leave(draft, leaving)
            self._commit(draft, lambda error: reply(error, [] if error else results))

    def consumer_heartbeat(self, request: HeartbeatRequest, reply: HeartbeatReply) -> None:
        """ConsumerGroupHeartbeat, of which `check_heartbeat` has seen to it that it makes sense."""
        try:
            draft = self._draft(request.group_id, joins=request.epoch == JOIN_EPOCH)
            if request.epoch < JOIN_EPOCH:
                result = self.consumer.leave(draft, request)
            else:
                result = self.consumer.heartbeat(draft, request)
        except KafkaError as refusal:
            reply(HeartbeatResult(refusal.code, refusal.message))
            return
        self._commit(draft, lambda error: reply(HeartbeatResult(error) if error else result))

    def delete(self, group_ids: Sequence[str], reply: DeleteReply) -> None:
        """DeleteGroups."""
        errors: list[ErrorCode] = []
        doomed: list[Group] = []
        for group_id in group_ids:
            group = self.groups.get(group_id)
            if group is None:
                errors.append(ErrorCode.GROUP_ID_NOT_FOUND)
            elif not group.is_empty:
                errors.append(ErrorCode.NON_EMPTY_GROUP)
            else:
                errors.append(ErrorCode.NONE)
                doomed.append(group)
        self.remove(doomed, lambda error: reply([one or error for one in errors]))

    def remove(self, groups: Sequence[Group], on_stored: OnStored) -> None:
        """Make empty groups and their offsets disappear."""
        records = [record for group in groups for record in self._tombstones(group)]

        def forget() -> None:
            for group in groups:
                self._forget(group)

        self.append(records, forget, on_stored)

    def append(
        self,
        records: Sequence[CoordinatorRecord],
        apply: Callable[[], None],
        on_stored: OnStored,
    ) -> None:
        """Write records and make what they say true, or neither."""
        if not records:
            apply()
            on_stored(ErrorCode.NONE)
            return
        try:
            self.environment.journal.append(records, lambda code: on_stored(group_error(code)))
        except KafkaError as failure:
            on_stored(group_error(failure.code))
        else:
            apply()

    def _join_classic(self, group: Group | None, request: JoinRequest, reply: JoinReply) -> None:
        if isinstance(group, ClassicGroup):
            self.classic.join(group, request, reply)
            return
        if request.member_id != UNKNOWN_MEMBER:
            reply(JoinResult(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id))
            return
        fresh = ClassicGroup(request.group_id, self.environment.now_ms())
        if not fresh.supports(request.protocol_type, request.protocols):
            reply(JoinResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
            return
        # An empty group of the new protocol makes way; its offsets stay.
        changes = [] if group is None else list(group.tombstones())

        def join() -> None:
            self.groups[request.group_id] = fresh
            self.classic.join(fresh, request, reply)

        def on_stored(error: ErrorCode) -> None:
            if error and self.groups.get(request.group_id) is not fresh:
                reply(JoinResult(error))

        self.append([change.record() for change in changes], join, on_stored)

    def _join_mixed(self, group: ConsumerGroup, request: JoinRequest, reply: JoinReply) -> None:
        draft = GroupDraft(group)
        try:
            result = self._mixed.join(draft, request)
        except KafkaError as refusal:
            reply(JoinResult(refusal.code, request.member_id))
            return
        # When a static member comes back as a classic one, everybody may keep what it has.
        rebalance = not is_all_held(draft.group, self.environment.topics)
        self._commit(
            draft, lambda error: reply(JoinResult(error) if error else result), rebalance=rebalance
        )

    def _draft(self, group_id: str, *, joins: bool) -> GroupDraft:
        group = self.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return GroupDraft(group)
        if not joins:
            problem = (
                f"there is no group '{group_id}'"
                if group is None
                else f"the group '{group_id}' uses the classic protocol"
            )
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, problem)
        if group is None:
            return GroupDraft.of_new_group(group_id)
        if group.is_empty:
            draft = GroupDraft.of_new_group(group_id, [group_metadata_record(group_id, None)])
            draft.then(partial(self.classic.abandon, group, ErrorCode.UNKNOWN_MEMBER_ID))
            return draft
        check_upgrade(group, self.environment.settings)
        draft = upgrade(group, self.environment.topics, self.environment.now_ms())
        draft.then(partial(self.classic.abandon, group, ErrorCode.REBALANCE_IN_PROGRESS))
        for member in group.members.values():
            self.consumer.keep_alive(draft, draft.group.members[member.member_id])
        return draft

    def _commit(self, draft: GroupDraft, on_stored: OnStored, *, rebalance: bool = True) -> None:
        """Make a draft the group, once it is in the log."""
        if can_downgrade(draft, self.environment.settings):
            downgrade(draft, self.environment.topics, self.environment.now_ms())
        elif draft.lost_members:
            self.consumer.close_ranks(draft)
        self.append(draft.records, partial(self._install, draft, rebalance), on_stored)

    def _install(self, draft: GroupDraft, rebalance: bool) -> None:
        group_id = draft.before.group_id
        self.groups[group_id] = draft.downgraded or draft.group
        draft.finish()
        if draft.downgraded is not None:
            for member_id in draft.before.members:
                self.consumer.forget(group_id, member_id)
            self.classic.resume(draft.downgraded)
            if rebalance:
                self.classic.rebalance(draft.downgraded, "it went back to the classic protocol")

    def _expire(self, group_id: str, member_id: str, reason: str, epoch: int | None = None) -> None:
        group = self.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            return
        member = group.members.get(member_id)
        if member is None or (epoch is not None and member.epoch != epoch):
            return
        logger.info("removed member %s from group %s: %s", member_id, group_id, reason)
        draft = GroupDraft(group)
        self.consumer.remove(draft, [member_id])

        def on_stored(error: ErrorCode) -> None:
            if error:
                logger.warning(
                    "could not store the removal of member %s from group %s (%s); trying again",
                    member_id, group_id, error.name,
                )  # fmt: skip
                self.consumer.expect(group_id, member_id, _RETRY_MS)

        self._commit(draft, on_stored)

    def _tombstones(self, group: Group) -> list[CoordinatorRecord]:
        keys = self.offsets.keys_of_group(group.group_id)
        records = [offset_record(key, None) for key in keys]
        if isinstance(group, ClassicGroup):
            records.append(group_metadata_record(group.group_id, None))
        else:
            records += [change.record() for change in group.tombstones()]
        return records

    def _forget(self, group: Group) -> None:
        for key in self.offsets.keys_of_group(group.group_id):
            self.offsets.remove(key)
        if isinstance(group, ClassicGroup):
            self.classic.abandon(group, ErrorCode.UNKNOWN_MEMBER_ID)
        self.groups.pop(group.group_id, None)
