"""The two barriers of a classic rebalance, and who is removed for being late.

At the first barrier all members join the next generation (state PreparingRebalance); at the
second the leader brings the assignment and everybody gets its share (CompletingRebalance).
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from headwater.broker.groups.classic.group import ClassicGroup, ClassicMember, ClassicState
from headwater.broker.groups.classic.messages import JoinResult, SyncResult
from headwater.broker.groups.classic.records import group_metadata_record
from headwater.broker.groups.environment import group_error
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.broker.groups.environment import Environment, OnStored

logger = logging.getLogger("headwater.broker.groups")

EMPTY = ClassicState.EMPTY
PREPARING = ClassicState.PREPARING_REBALANCE
COMPLETING = ClassicState.COMPLETING_REBALANCE
STABLE = ClassicState.STABLE
DEAD = ClassicState.DEAD


class ClassicRebalance:
    """Moves groups of the classic protocol from one generation to the next."""

    def __init__(self, environment: Environment) -> None:
        self._settings = environment.settings
        self._timers = environment.timers
        self._journal = environment.journal
        self._now_ms = environment.now_ms

    def prepare(self, group: ClassicGroup, reason: str) -> None:
        """Ask everybody to join a new generation."""
        logger.debug(
            "rebalancing group %s after generation %s: %s", group.group_id, group.generation, reason
        )
        if group.state is COMPLETING:
            self._give_up_assignment(group, ErrorCode.REBALANCE_IN_PROGRESS)
        group.pending_syncs.clear()
        self._timers.cancel(_sync_key(group))
        is_first = group.is_empty
        group.transition(PREPARING, self._now_ms())
        if is_first:
            delay_ms = self._settings.initial_rebalance_delay_ms
            left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._delay_first(group, delay_ms, left_ms)
        elif group.everybody_joined:
            self._complete_join(group)
        else:
            self._wait_for_joins(group)

    def complete_join_if_all_are_here(self, group: ClassicGroup) -> None:
        """Begin the next generation if nobody is missing; the first one only after its delay."""
        is_delayed = group.previous_state is EMPTY
        if group.state is PREPARING and group.everybody_joined and not is_delayed:
            self._complete_join(group)

    def has_synced(self, group: ClassicGroup, member_id: str) -> None:
        """Note that a member has asked for its assignment."""
        group.pending_syncs.discard(member_id)
        if not group.pending_syncs:
            self._timers.cancel(_sync_key(group))

    def store_assignment(self, group: ClassicGroup, assignments: Mapping[str, bytes]) -> None:
        """Write down what the leader decided, and tell everybody once it cannot be lost."""
        generation = group.generation
        shares = {member_id: assignments.get(member_id, b"") for member_id in group.members}

        def on_stored(error: ErrorCode) -> None:
            if group.state is not COMPLETING or group.generation != generation:
                return  # Another rebalance has begun, and everybody was told.
            if error is not ErrorCode.NONE:
                self._give_up_assignment(group, error)
                self.prepare(group, f"its assignment could not be stored ({error.name})")
                return
            group.transition(STABLE, self._now_ms())
            for member in group.members.values():
                member.assignment = shares.get(member.member_id, b"")
                self._answer_sync(group, member, ErrorCode.NONE)

        self.store(group, shares, on_stored)

    def store(
        self, group: ClassicGroup, assignments: Mapping[str, bytes], on_stored: OnStored
    ) -> None:
        """Write the group's present generation down."""
        record = group_metadata_record(group.group_id, group.metadata(assignments))
        try:
            self._journal.append([record], lambda error: on_stored(group_error(error)))
        except KafkaError as failure:
            on_stored(group_error(failure.code))

    def keep_alive(self, group: ClassicGroup, member: ClassicMember) -> None:
        """Give a member a whole session timeout from now on."""
        self.expect(group, member.member_id, member.session_timeout_ms)

    def expect(self, group: ClassicGroup, member_id: str, within_ms: int) -> None:
        """Put a member, or one who was given an id, out unless something is heard from it."""
        self._timers.set(
            _session_key(group, member_id), within_ms, partial(self._expire, group, member_id)
        )

    def remove(self, group: ClassicGroup, member_id: str) -> None:
        """Put a member out; what happens to the others is for the caller to decide."""
        self._timers.cancel(_session_key(group, member_id))
        member = group.members.get(member_id)
        if member is not None:
            # If it is alive after all, this makes it join again, as somebody new.
            member.answer_join(JoinResult(ErrorCode.UNKNOWN_MEMBER_ID))
            member.answer_sync(SyncResult(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member_id)

    def forget(self, group: ClassicGroup, member_id: str) -> None:
        """No longer expect to hear from an id."""
        self._timers.cancel(_session_key(group, member_id))

    def forget_timers(self, group: ClassicGroup) -> None:
        """Let no timer of a group go off any more."""
        for member_id in (*group.members, *group.pending_joins):
            self._timers.cancel(_session_key(group, member_id))
        self._timers.cancel(_join_key(group))
        self._timers.cancel(_sync_key(group))

    def join_result(
        self, group: ClassicGroup, member: ClassicMember, *, as_leader: bool
    ) -> JoinResult:
        """Return the present generation as a member is told of it; the leader learns who is in."""
        return JoinResult(
            ErrorCode.NONE,
            member.member_id,
            group.generation,
            group.protocol_type,
            group.protocol_name,
            group.leader_id or "",
            members=group.joined_members() if as_leader else (),
        )

    def _delay_first(self, group: ClassicGroup, delay_ms: int, left_ms: int) -> None:
        self._timers.set(
            _join_key(group), delay_ms, partial(self._end_delay, group, delay_ms, left_ms)
        )

    def _end_delay(self, group: ClassicGroup, delay_ms: int, left_ms: int) -> None:
        if group.newcomer_in_delay and left_ms > 0 and delay_ms > 0:
            group.newcomer_in_delay = False
            next_delay_ms = min(self._settings.initial_rebalance_delay_ms, left_ms)
            self._delay_first(group, next_delay_ms, max(left_ms - delay_ms, 0))
        else:
            self._complete_join(group)

    def _wait_for_joins(self, group: ClassicGroup) -> None:
        self._timers.set(
            _join_key(group), group.rebalance_timeout_ms, partial(self._complete_join, group)
        )

    def _complete_join(self, group: ClassicGroup) -> None:
        self._timers.cancel(_join_key(group))
        late = [
            member.member_id
            for member in group.members.values()
            if member.join_reply is None and member.instance_id is None
        ]
        for member_id in late:
            self.remove(group, member_id)
        if not group.elect_joined_leader() and group.members:
            # Only static members are left, and all are away. Their sessions decide.
            self._wait_for_joins(group)
            return
        group.newcomer_in_delay = False
        group.next_generation(self._now_ms())
        if group.is_empty:
            self.store(group, {}, partial(_warn_if_lost, group.group_id))
            return
        for member in tuple(group.members.values()):
            is_leader = member.member_id == group.leader_id
            member.is_new = False
            group.pending_syncs.add(member.member_id)
            self.keep_alive(group, member)
            member.answer_join(self.join_result(group, member, as_leader=is_leader))
        self._timers.set(
            _sync_key(group),
            group.rebalance_timeout_ms,
            partial(self._expire_syncs, group, group.generation),
        )

    def _give_up_assignment(self, group: ClassicGroup, error: ErrorCode) -> None:
        for member in group.members.values():
            member.assignment = b""
            self._answer_sync(group, member, error)

    def _answer_sync(self, group: ClassicGroup, member: ClassicMember, error: ErrorCode) -> None:
        if error is ErrorCode.NONE:
            result = SyncResult(error, group.protocol_type, group.protocol_name, member.assignment)
        else:
            result = SyncResult(error)
        if member.answer_sync(result):
            # It could not heartbeat while it waited for us.
            self.keep_alive(group, member)

    def _expire(self, group: ClassicGroup, member_id: str) -> None:
        if group.state is DEAD:
            return
        member = group.members.get(member_id)
        if member is not None and member.is_waiting and not member.is_new:
            return  # It waits for us, and will be given a new session with our answer.
        if member is not None:
            logger.info(
                "removed member %s from group %s: it has sent no heartbeat for %s ms",
                member_id, group.group_id, member.session_timeout_ms,
            )  # fmt: skip
        self.remove(group, member_id)
        if member is not None and group.state in (STABLE, COMPLETING):
            self.prepare(group, f"the session of {member_id} has ended")
        else:
            self.complete_join_if_all_are_here(group)

    def _expire_syncs(self, group: ClassicGroup, generation: int) -> None:
        if group.generation != generation or group.state not in (STABLE, COMPLETING):
            return
        late = sorted(group.pending_syncs)
        for member_id in late:
            self.remove(group, member_id)
        self.prepare(group, f"{', '.join(late)} did not ask for an assignment")


def _session_key(group: ClassicGroup, member_id: str) -> tuple[str, str, str]:
    return ("session", group.group_id, member_id)


def _join_key(group: ClassicGroup) -> tuple[str, str]:
    return ("join", group.group_id)


def _sync_key(group: ClassicGroup) -> tuple[str, str]:
    return ("sync", group.group_id)


def _warn_if_lost(group_id: str, error: ErrorCode) -> None:
    if error is not ErrorCode.NONE:
        # After a restart the last members would be back, and time out.
        logger.warning("could not store that group %s is empty: %s", group_id, error.name)
