"""A group of the classic protocol: its members and its generation; `classic_protocol` moves it."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from headwater.broker.groups.classic.messages import JoinedMember, JoinResult, SyncResult
from headwater.broker.groups.classic.records import GroupMetadata, StoredMember
from headwater.broker.groups.embedded_protocol import CONSUMER, decode_topics
from headwater.protocol.errors import ErrorCode, KafkaError, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.broker.groups.classic.messages import JoinReply, Protocols, SyncReply


class ClassicState(Enum):
    """What a group is busy with, under Kafka's names."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    """Waiting for the members to join the next generation."""
    COMPLETING_REBALANCE = "CompletingRebalance"
    """Waiting for the leader's assignment."""
    STABLE = "Stable"
    DEAD = "Dead"


class ClassicMember:
    """One member, and the requests of its own that are not answered yet."""

    __slots__ = (
        "assignment", "client_host", "client_id", "instance_id", "is_new", "join_reply",
        "member_id", "protocols", "rebalance_timeout_ms", "session_timeout_ms", "sync_reply",
    )  # fmt: skip

    def __init__(
        self,
        member_id: str,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        session_timeout_ms: int,
        rebalance_timeout_ms: int,
        protocols: Protocols,
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.protocols = protocols
        self.assignment = assignment
        self.is_new = False
        self.join_reply: JoinReply | None = None
        self.sync_reply: SyncReply | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it cannot heartbeat, because it waits for an answer of ours."""
        return self.join_reply is not None or self.sync_reply is not None

    def metadata(self, protocol_name: str | None) -> bytes:
        """Return what it said with one of its protocols."""
        return next((data for name, data in self.protocols if name == protocol_name), b"")

    def answer_join(self, result: JoinResult) -> None:
        """Answer its JoinGroup, if there is one."""
        reply, self.join_reply = self.join_reply, None
        if reply is not None:
            reply(result)

    def answer_sync(self, result: SyncResult) -> bool:
        """Answer its SyncGroup and say whether there was one."""
        reply, self.sync_reply = self.sync_reply, None
        if reply is None:
            return False
        reply(result)
        return True


class ClassicGroup:
    """The members of a group and what they agreed on."""

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.state = ClassicState.EMPTY
        self.previous_state = ClassicState.EMPTY
        self.state_timestamp = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        """None for a group that only keeps offsets and never had members."""
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.pending_joins: set[str] = set()
        """Ids that were handed out and have not come back yet."""
        self.pending_syncs: set[str] = set()
        """Members of this generation that have not asked for their assignment yet."""
        self.newcomer_in_delay = False
        """Whether somebody joined while the first rebalance was being delayed."""
        self.subscribed_topics: frozenset[str] | None = None
        """None where the broker cannot know them."""
        self._static: dict[str, str] = {}

    @classmethod
    def from_metadata(cls, group_id: str, stored: GroupMetadata, now_ms: int) -> ClassicGroup:
        """Return the group that a record describes."""
        group = cls(group_id, now_ms)
        group.generation = stored.generation
        group.protocol_type = stored.protocol_type or None
        group.protocol_name = stored.protocol_name
        group.leader_id = stored.leader_id
        group.state_timestamp = stored.state_timestamp
        for member in stored.members:
            group.add(
                ClassicMember(
                    member.member_id,
                    member.instance_id,
                    member.client_id,
                    member.client_host,
                    member.session_timeout_ms,
                    member.rebalance_timeout_ms,
                    ((stored.protocol_name or "", member.subscription),),
                    member.assignment,
                )
            )
        group.state = ClassicState.STABLE if stored.members else ClassicState.EMPTY
        group.previous_state = group.state
        group.subscribed_topics = group.compute_subscribed_topics()
        return group

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""
        return self.state is ClassicState.EMPTY

    @property
    def is_simple(self) -> bool:
        """Whether it only keeps offsets for consumers that assign partitions themselves."""
        return self.is_empty and self.protocol_type is None and not self.pending_joins

    @property
    def is_of_consumers(self) -> bool:
        """Whether its members are consumers, whose messages the broker understands."""
        return self.protocol_type == CONSUMER

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long the slowest member may take to join the next generation."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def waiting_joins(self) -> int:
        """How many members have asked to be in the next generation."""
        return sum(member.join_reply is not None for member in self.members.values())

    @property
    def everybody_joined(self) -> bool:
        """Whether the next generation need not be waited for any longer."""
        return not self.pending_joins and self.waiting_joins >= len(self.members)

    def transition(self, state: ClassicState, now_ms: int) -> None:
        """Go over to another state."""
        self.previous_state, self.state = self.state, state
        self.state_timestamp = now_ms

    def static_member_id(self, instance_id: str | None) -> str | None:
        """Return the id that a static member has in this life of its."""
        return None if instance_id is None else self._static.get(instance_id)

    def check_member(self, member_id: str, instance_id: str | None) -> ClassicMember:
        """Return a member; raises UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID."""
        if instance_id is not None:
            current = self._static.get(instance_id)
            if current is None:
                raise KafkaError(
                    ErrorCode.UNKNOWN_MEMBER_ID,
                    f"there is no static member with the instance id '{instance_id}'",
                )
            if current != member_id:
                raise KafkaError(
                    ErrorCode.FENCED_INSTANCE_ID,
                    f"the instance id '{instance_id}' is that of the member {current} now, "
                    f"not of {member_id}",
                )
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"the group '{self.group_id}' has no member {member_id}",
            )
        return member

    def add(self, member: ClassicMember) -> None:
        """Take somebody in; the first one leads."""
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self.pending_joins.discard(member.member_id)
        if member.instance_id is not None:
            self._static[member.instance_id] = member.member_id

    def remove(self, member_id: str) -> None:
        """Forget a member, or an id that was handed out; another one leads if need be."""
        self.pending_joins.discard(member_id)
        self.pending_syncs.discard(member_id)
        member = self.members.pop(member_id, None)
        if member is None:
            return
        if member.instance_id is not None:
            self._static.pop(member.instance_id, None)
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)

    def replace_static(self, instance_id: str, new_id: str) -> ClassicMember:
        """Give a static member that came back its new id; its former life is fenced."""
        old_id = self._static[instance_id]
        member = self.members.pop(old_id)
        member.answer_join(JoinResult(ErrorCode.FENCED_INSTANCE_ID, old_id))
        member.answer_sync(SyncResult(ErrorCode.FENCED_INSTANCE_ID))
        member.member_id = new_id
        self.members[new_id] = member
        self._static[instance_id] = new_id
        self.pending_syncs.discard(old_id)
        if self.leader_id == old_id:
            self.leader_id = new_id
        return member

    def elect_joined_leader(self) -> bool:
        """Let one lead who has joined the next generation; False if nobody has."""
        leader = self.members.get(self.leader_id or "")
        if leader is not None and leader.join_reply is not None:
            return True
        for member in self.members.values():
            if member.join_reply is not None:
                self.leader_id = member.member_id
                return True
        return False

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether one who knows these protocols can be in the group."""
        if not protocol_type or not protocols:
            return False
        if not self.members:
            return True
        common = self._common_protocols()
        return protocol_type == self.protocol_type and any(name in common for name, _ in protocols)

    def select_protocol(self) -> str:
        """Return the protocol that most members like best of those that all know."""
        common = self._common_protocols()
        votes = Counter(
            next(name for name, _ in member.protocols if name in common)
            for member in self.members.values()
        )
        return votes.most_common(1)[0][0]

    def next_generation(self, now_ms: int) -> None:
        """Begin a generation with the members there are."""
        self.generation = self.generation + 1 if self.generation < _MAX_GENERATION else 1
        if self.members:
            self.protocol_name = self.select_protocol()
            self.transition(ClassicState.COMPLETING_REBALANCE, now_ms)
        else:
            self.protocol_name = None
            self.leader_id = None
            self.transition(ClassicState.EMPTY, now_ms)
        self.subscribed_topics = self.compute_subscribed_topics()
        self.pending_syncs.clear()

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """Return what the leader is told of the members."""
        return tuple(
            JoinedMember(member.member_id, member.instance_id, member.metadata(self.protocol_name))
            for member in self.members.values()
        )

    def metadata(self, assignments: Mapping[str, bytes]) -> GroupMetadata:
        """Return what the log has to know of this generation."""
        members: Iterable[ClassicMember] = self.members.values()
        return GroupMetadata(
            self.protocol_type or "",
            self.generation,
            self.protocol_name,
            self.leader_id,
            self.state_timestamp,
            tuple(
                StoredMember(
                    member.member_id,
                    member.instance_id,
                    member.client_id,
                    member.client_host,
                    member.rebalance_timeout_ms,
                    member.session_timeout_ms,
                    member.metadata(self.protocol_name),
                    assignments.get(member.member_id, b""),
                )
                for member in members
            ),
        )

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member may want a topic, so that its offsets must stay."""
        if self.subscribed_topics is None:
            return self.is_of_consumers
        return topic in self.subscribed_topics

    def compute_subscribed_topics(self) -> frozenset[str] | None:
        """Return the topics of all members, or None where they cannot be known."""
        if not self.is_of_consumers:
            return None
        if not self.members:
            return frozenset()
        if self.protocol_name is None:
            return None
        try:
            return frozenset(
                topic
                for member in self.members.values()
                for topic in decode_topics(member.metadata(self.protocol_name))
            )
        except ProtocolError:
            # Somebody calls itself a consumer and speaks another language: keep all offsets.
            return None

    def _common_protocols(self) -> set[str]:
        return set.intersection(
            *({name for name, _ in member.protocols} for member in self.members.values())
        )


_MAX_GENERATION = 0x7FFFFFFF
