"""The classic protocol as members see it: join, sync, heartbeat, leave, commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.groups.classic.group import ClassicGroup, ClassicMember, ClassicState
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
from headwater.broker.groups.classic.rebalance import ClassicRebalance
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.broker.groups.environment import Environment

EMPTY = ClassicState.EMPTY
PREPARING = ClassicState.PREPARING_REBALANCE
COMPLETING = ClassicState.COMPLETING_REBALANCE
STABLE = ClassicState.STABLE
DEAD = ClassicState.DEAD


class ClassicProtocol:
    """Answers what members of classic groups ask."""

    def __init__(self, environment: Environment) -> None:
        self._settings = environment.settings
        self._now_ms = environment.now_ms
        self._new_id = environment.new_id
        self._rebalance = ClassicRebalance(environment)

    def join(self, group: ClassicGroup, request: JoinRequest, reply: JoinReply) -> None:
        """Take a member into the next generation; the answer comes when that begins."""
        member_id = request.member_id
        if group.state is DEAD:
            reply(JoinResult(ErrorCode.COORDINATOR_NOT_AVAILABLE, member_id))
        elif not self._has_room(group, member_id):
            self._rebalance.remove(group, member_id)
            reply(JoinResult(ErrorCode.GROUP_MAX_SIZE_REACHED))
            self._rebalance.complete_join_if_all_are_here(group)
        elif not group.supports(request.protocol_type, request.protocols):
            reply(JoinResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id))
        elif member_id != UNKNOWN_MEMBER:
            self._rejoin(group, request, reply)
        elif request.instance_id is not None:
            self._join_static(group, request, request.instance_id, reply)
        elif request.needs_known_member_id:
            new_id = f"{request.client_id}-{self._new_id()}"
            group.pending_joins.add(new_id)
            self._rebalance.expect(group, new_id, request.session_timeout_ms)
            reply(JoinResult(ErrorCode.MEMBER_ID_REQUIRED, new_id))
        else:
            self._add(group, f"{request.client_id}-{self._new_id()}", request, reply)

    def sync(self, group: ClassicGroup, request: SyncRequest, reply: SyncReply) -> None:
        """Hand out assignments; a follower's answer comes when the leader has brought them."""
        error = _check_sync(group, request)
        if error is not ErrorCode.NONE:
            reply(SyncResult(error))
            return
        if group.state is PREPARING:
            reply(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))
            return
        member = group.members[request.member_id]
        self._rebalance.has_synced(group, member.member_id)
        if group.state is COMPLETING:
            member.answer_sync(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))
            member.sync_reply = reply
            if member.member_id == group.leader_id:
                self._rebalance.store_assignment(group, request.assignments)
        else:
            reply(
                SyncResult(
                    ErrorCode.NONE, group.protocol_type, group.protocol_name, member.assignment
                )
            )

    def heartbeat(
        self, group: ClassicGroup, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        """Keep a member alive, and tell it whether it has to join again."""
        if group.state is DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        try:
            member = group.check_member(member_id, instance_id)
        except KafkaError as refusal:
            return refusal.code
        if generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        self._rebalance.keep_alive(group, member)
        return ErrorCode.REBALANCE_IN_PROGRESS if group.state is PREPARING else ErrorCode.NONE

    def leave(self, group: ClassicGroup, leaving: Sequence[LeavingMember]) -> list[LeaveResult]:
        """Let members go; the others share what they had."""
        results = [self._let_go(group, one) for one in leaving]
        gone = [result.member_id for result in results if result.error is ErrorCode.NONE]
        if gone and group.state in (STABLE, COMPLETING):
            self._rebalance.prepare(group, f"{', '.join(gone)} left")
        elif gone:
            self._rebalance.complete_join_if_all_are_here(group)
        return results

    def check_commit(
        self,
        group: ClassicGroup,
        member_id: str,
        instance_id: str | None,
        generation: int,
        *,
        is_transactional: bool = False,
    ) -> None:
        """Refuse the commit of one who has no say in this generation; else keep it alive."""
        if group.state is DEAD:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        if generation < 0 and group.is_empty:
            return
        if generation >= 0 or member_id or instance_id is not None:
            member = group.check_member(member_id, instance_id)
            if generation != group.generation:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
            if not is_transactional and group.state in (STABLE, PREPARING):
                self._rebalance.keep_alive(group, member)
        elif not is_transactional:
            # Who names no member assigns partitions itself, and must not meddle with a group
            # that has members.
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        if not is_transactional and group.state is COMPLETING:
            # It may be about to learn that its partitions are somebody else's.
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)

    def resume(self, group: ClassicGroup) -> None:
        """Go on with a group that was read from the log, or that comes from the new protocol."""
        for member in group.members.values():
            self._rebalance.keep_alive(group, member)
        if len(group.members) > self._settings.max_size:
            self.rebalance(group, "it has more members than group.max.size allows")

    def rebalance(self, group: ClassicGroup, reason: str) -> None:
        """Ask everybody to join a new generation."""
        self._rebalance.prepare(group, reason)

    def abandon(self, group: ClassicGroup, error: ErrorCode) -> None:
        """Give a group up: all who wait are told why, and no timer goes off any more."""
        self._rebalance.forget_timers(group)
        for member in group.members.values():
            member.answer_join(JoinResult(error, member.member_id))
            member.answer_sync(SyncResult(error))
        group.transition(DEAD, self._now_ms())

    def _has_room(self, group: ClassicGroup, member_id: str) -> bool:
        limit = self._settings.max_size
        if group.state is PREPARING:
            # Counted are those who have joined already: the last to come back have to go.
            member = group.members.get(member_id)
            is_waiting = member is not None and member.join_reply is not None
            return is_waiting or group.waiting_joins < limit
        if group.state in (COMPLETING, STABLE):
            return member_id in group.members or len(group.members) < limit
        return True

    def _rejoin(self, group: ClassicGroup, request: JoinRequest, reply: JoinReply) -> None:
        member_id = request.member_id
        if member_id in group.pending_joins and request.instance_id is None:
            self._add(group, member_id, request, reply)
            return
        try:
            member = group.check_member(member_id, request.instance_id)
        except KafkaError as refusal:
            reply(JoinResult(refusal.code, member_id))
            return
        is_unchanged = member.protocols == request.protocols
        leads = group.leader_id == member_id
        # A leader that joins a stable group anew has seen something that matters only to it, such
        # as more partitions. One who just lost our answer may have it again.
        if group.state is PREPARING or not is_unchanged or (group.state is STABLE and leads):
            self._update(group, member, request, reply)
        else:
            as_leader = leads and group.state is COMPLETING
            reply(self._rebalance.join_result(group, member, as_leader=as_leader))

    def _join_static(
        self, group: ClassicGroup, request: JoinRequest, instance_id: str, reply: JoinReply
    ) -> None:
        new_id = f"{instance_id}-{self._new_id()}"
        old_id = group.static_member_id(instance_id)
        if old_id is None:
            self._add(group, new_id, request, reply)
            return
        former_leader = group.leader_id or ""
        self._rebalance.forget(group, old_id)
        member = group.replace_static(instance_id, new_id)
        self._rebalance.keep_alive(group, member)
        _take(member, request, reply)
        if group.state is PREPARING:
            self._rebalance.complete_join_if_all_are_here(group)
        elif group.state is COMPLETING or group.select_protocol() != group.protocol_name:
            # While the leader assigns, it may do so to the old id, and the new would get nothing.
            self._rebalance.prepare(group, f"static member {new_id} came back")
        else:
            self._store_static_return(group, member, former_leader, request.can_skip_assignment)

    def _store_static_return(
        self, group: ClassicGroup, member: ClassicMember, former_leader: str, can_skip: bool
    ) -> None:
        generation = group.generation

        def on_stored(error: ErrorCode) -> None:
            if group.state is not STABLE or group.generation != generation:
                return  # A rebalance has begun meanwhile, and its end will be the answer.
            if error is not ErrorCode.NONE:
                member.answer_join(JoinResult(error))
                return
            leads = group.leader_id == member.member_id
            result = self._rebalance.join_result(group, member, as_leader=leads and can_skip)
            if can_skip:
                result = result._replace(skip_assignment=leads)
            else:
                # Told that somebody else leads, it does not assign what is assigned already.
                result = result._replace(leader_id=former_leader)
            member.answer_join(result)

        assignments = {one.member_id: one.assignment for one in group.members.values()}
        self._rebalance.store(group, assignments, on_stored)

    def _add(
        self, group: ClassicGroup, member_id: str, request: JoinRequest, reply: JoinReply
    ) -> None:
        if not group.members:
            group.protocol_type = request.protocol_type
        member = ClassicMember(
            member_id,
            request.instance_id,
            request.client_id,
            request.client_host,
            request.session_timeout_ms,
            request.rebalance_timeout_ms,
            request.protocols,
        )
        member.is_new = True
        member.join_reply = reply
        group.newcomer_in_delay |= group.state is PREPARING and group.previous_state is EMPTY
        group.add(member)
        # It cannot heartbeat before it knows its id. Should it hang up and come again, it would
        # leave a dead member behind each time, were there no end to its waiting.
        self._rebalance.expect(group, member_id, self._settings.new_member_join_timeout_ms)
        if group.state is PREPARING:
            self._rebalance.complete_join_if_all_are_here(group)
        else:
            self._rebalance.prepare(group, f"{member_id} joined ({request.reason})")

    def _update(
        self, group: ClassicGroup, member: ClassicMember, request: JoinRequest, reply: JoinReply
    ) -> None:
        _take(member, request, reply)
        if group.state is PREPARING:
            self._rebalance.complete_join_if_all_are_here(group)
        else:
            self._rebalance.prepare(group, f"{member.member_id} joined again ({request.reason})")

    def _let_go(self, group: ClassicGroup, leaving: LeavingMember) -> LeaveResult:
        member_id: str | None = leaving.member_id
        if member_id == UNKNOWN_MEMBER:
            member_id = group.static_member_id(leaving.instance_id)
            if member_id is None:
                return LeaveResult(*leaving[:2], ErrorCode.UNKNOWN_MEMBER_ID)
        elif member_id not in group.pending_joins:
            try:
                group.check_member(leaving.member_id, leaving.instance_id)
            except KafkaError as refusal:
                return LeaveResult(*leaving[:2], refusal.code)
        assert member_id is not None
        self._rebalance.remove(group, member_id)
        return LeaveResult(*leaving[:2], ErrorCode.NONE)


def _take(member: ClassicMember, request: JoinRequest, reply: JoinReply) -> None:
    # A second JoinGroup takes the place of one that still waits: its sender has given up on it.
    member.answer_join(JoinResult(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id))
    member.protocols = request.protocols
    member.session_timeout_ms = request.session_timeout_ms
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    member.join_reply = reply


def _check_sync(group: ClassicGroup, request: SyncRequest) -> ErrorCode:
    if group.state is DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    try:
        group.check_member(request.member_id, request.instance_id)
    except KafkaError as refusal:
        return refusal.code
    if request.generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if request.protocol_type not in (None, group.protocol_type):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if request.protocol_name not in (None, group.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.NONE
