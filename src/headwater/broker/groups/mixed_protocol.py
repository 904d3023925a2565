"""Members of the classic protocol in a group of the new one, while a group changes over.

A classic member knows nothing of epochs: its generation is its member epoch, REBALANCE_IN_PROGRESS
is how it is asked to take a step, and it takes one by joining and syncing again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headwater.broker.groups.classic.messages import (
    UNKNOWN_MEMBER,
    JoinRequest,
    JoinResult,
    LeaveResult,
    LeavingMember,
    SyncRequest,
    SyncResult,
)
from headwater.broker.groups.consumer.member import (
    ClassicSupport,
    ConsumerMember,
    MemberState,
    Partitions,
    Subscription,
)
from headwater.broker.groups.embedded_protocol import (
    CONSUMER,
    EmbeddedAssignment,
    decode_subscription,
    encode_assignment,
)
from headwater.protocol.errors import ErrorCode, KafkaError, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.broker.groups.classic.group import ClassicMember
    from headwater.broker.groups.consumer.group import ConsumerGroup
    from headwater.broker.groups.consumer.protocol import ConsumerProtocol, Expire
    from headwater.broker.groups.embedded_protocol import EmbeddedSubscription
    from headwater.broker.groups.environment import Environment, Topics
    from headwater.broker.groups.group_draft import GroupDraft


class MixedProtocol:
    """Answers classic members of groups of the new protocol."""

    def __init__(
        self, environment: Environment, consumer: ConsumerProtocol, expire: Expire
    ) -> None:
        self._settings = environment.settings
        self._timers = environment.timers
        self._topics = environment.topics
        self._new_id = environment.new_id
        self._consumer = consumer
        self._expire = expire

    def join(self, draft: GroupDraft, request: JoinRequest) -> JoinResult:
        """Take a member in or a step further; it learns what it has when it syncs."""
        group = draft.group
        if not self._settings.allows_mixing:
            raise KafkaError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"the group '{group.group_id}' has members of the new protocol, and "
                "group.consumer.migration.policy forbids to mix them",
            )
        is_newcomer = request.member_id == UNKNOWN_MEMBER
        member_id = self._new_id() if is_newcomer else request.member_id
        self._consumer.check_room(group, member_id)
        said = _embedded(group, request, member_id)
        if is_newcomer and request.instance_id is None and request.needs_known_member_id:
            return JoinResult(ErrorCode.MEMBER_ID_REQUIRED, member_id)
        member = self._find(draft, request, member_id, is_newcomer)
        owned = _by_id(said.owned, self._topics)
        subscription = subscription_of(request, said)
        member = self._consumer.advance(draft, member, subscription, owned, request.sees)
        draft.then(partial(self._timers.cancel, ("rejoin", group.group_id, member_id)))
        self._consumer.keep_alive(draft, member)
        draft.then(partial(self._expect_sync, group.group_id, member))
        return JoinResult(
            ErrorCode.NONE,
            member_id,
            member.epoch,
            CONSUMER,
            request.protocols[0][0],
            # Nobody leads: the broker assigns.
            leader_id="",
        )

    def sync(self, group: ConsumerGroup, request: SyncRequest) -> SyncResult:
        """Tell a member what it has."""
        member, classic = _classic_member(group, request.member_id, request.instance_id)
        _check_generation(member, request.generation)
        name = classic.protocols[0][0]
        if request.protocol_type not in (None, CONSUMER) or request.protocol_name not in (
            None,
            name,
        ):
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        if group.epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._expect_join(group.group_id, member)
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
        self._timers.cancel(("resync", group.group_id, member.member_id))
        self._consumer.expect(group.group_id, member.member_id, classic.session_timeout_ms)
        return SyncResult(
            ErrorCode.NONE,
            request.protocol_type,
            request.protocol_name,
            embedded_assignment(member, classic, self._topics),
        )

    def heartbeat(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        """Keep a member alive, and tell it whether there is a step to take."""
        member, classic = _classic_member(group, member_id, instance_id)
        _check_generation(member, generation)
        self._consumer.expect(group.group_id, member.member_id, classic.session_timeout_ms)
        is_ready = (
            member.state is MemberState.UNRELEASED_PARTITIONS
            and not group.waits_for_unreleased(member)
        )
        if (
            member.epoch < group.epoch
            or member.state is MemberState.UNREVOKED_PARTITIONS
            or is_ready
        ):
            self._expect_join(group.group_id, member)
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def leave(self, draft: GroupDraft, leaving: Sequence[LeavingMember]) -> list[LeaveResult]:
        """Let members go; an administrator may remove those of the new protocol, too."""
        results: list[LeaveResult] = []
        gone: list[str] = []
        for one in leaving:
            try:
                member = _leaving_member(draft.group, one)
            except KafkaError as refusal:
                results.append(LeaveResult(one.member_id, one.instance_id, refusal.code))
            else:
                results.append(LeaveResult(member.member_id, one.instance_id, ErrorCode.NONE))
                gone.append(member.member_id)
        if gone:
            self._consumer.remove(draft, gone)
        return results

    def _find(
        self, draft: GroupDraft, request: JoinRequest, member_id: str, is_newcomer: bool
    ) -> ConsumerMember:
        group = draft.group
        if request.instance_id is None:
            return group.members.get(member_id) or ConsumerMember(member_id)
        former = group.static_member(request.instance_id)
        if is_newcomer:
            if former is None:
                return ConsumerMember(member_id)
            return self._consumer.replace_static(draft, former, member_id)
        if former is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"there is no static member with the instance id '{request.instance_id}'",
            )
        if former.member_id != member_id:
            raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
        return former

    def _expect_sync(self, group_id: str, member: ConsumerMember) -> None:
        timeout_ms = member.subscription.rebalance_timeout_ms
        reason = f"it did not sync within {timeout_ms} ms"
        self._timers.set(
            ("resync", group_id, member.member_id),
            timeout_ms,
            partial(self._expire, group_id, member.member_id, reason),
        )

    def _expect_join(self, group_id: str, member: ConsumerMember) -> None:
        key = ("rejoin", group_id, member.member_id)
        if key in self._timers:
            return
        timeout_ms = member.subscription.rebalance_timeout_ms
        reason = f"it did not join again within {timeout_ms} ms"
        expire = partial(self._expire, group_id, member.member_id, reason)
        self._timers.set(key, timeout_ms, expire)


def embedded_assignment(member: ConsumerMember, classic: ClassicSupport, topics: Topics) -> bytes:
    """Return what a classic member has, in the words that consumers use among themselves."""
    version = int.from_bytes(classic.protocols[0][1][:2], "big", signed=True)
    partitions: dict[str, list[int]] = {}
    for topic_id, held in member.assigned.items():
        name = topics.name_of(topic_id)
        if name is not None:
            partitions[name] = sorted(held)
    return encode_assignment(EmbeddedAssignment(version, partitions, None))


def _embedded(group: ConsumerGroup, request: JoinRequest, member_id: str) -> EmbeddedSubscription:
    names = [name for name, _ in request.protocols]
    if request.protocol_type != CONSUMER or not group.supports_classic_protocols(names):
        raise KafkaError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            f"the member {member_id} knows no assignor that all others know",
        )
    try:
        return decode_subscription(request.protocols[0][1])
    except ProtocolError as error:
        raise KafkaError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            f"the metadata of the member {member_id} is not that of a consumer: {error}",
        ) from error


def subscription_of(who: JoinRequest | ClassicMember, said: EmbeddedSubscription) -> Subscription:
    """Return what a consumer of the classic protocol has told of itself, as the new one has it."""
    return Subscription(
        instance_id=who.instance_id,
        rack_id=said.rack_id or None,
        client_id=who.client_id,
        client_host=who.client_host,
        topics=tuple(sorted(set(said.topics))),
        rebalance_timeout_ms=who.rebalance_timeout_ms,
        classic=ClassicSupport(who.session_timeout_ms, who.protocols),
    )


def _by_id(partitions: dict[str, list[int]], topics: Topics) -> Partitions:
    owned: dict[bytes, frozenset[int]] = {}
    for name, numbers in partitions.items():
        topic_id = topics.id_of(name)
        if topic_id is not None:
            owned[topic_id] = frozenset(numbers)
    return owned


def _leaving_member(group: ConsumerGroup, leaving: LeavingMember) -> ConsumerMember:
    if leaving.instance_id is None:
        return group.member(leaving.member_id)
    member = group.static_member(leaving.instance_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
    if leaving.member_id not in (UNKNOWN_MEMBER, member.member_id):
        raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
    return member


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerMember, ClassicSupport]:
    if instance_id is not None:
        static = group.static_member(instance_id)
        if static is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        if static.member_id != member_id:
            raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
    member = group.member(member_id)
    classic = member.subscription.classic
    if classic is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"the member {member_id} speaks the new protocol"
        )
    return member, classic


def _check_generation(member: ConsumerMember, generation: int) -> None:
    if member.epoch != generation:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
