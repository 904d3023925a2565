"""Clients of both group protocols that do what real ones do, one step at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tests.unit.broker.group_world import Answers, World, ask, topic_id

from headwater.broker.groups.classic.messages import (
    JoinRequest,
    JoinResult,
    LeavingMember,
    SyncRequest,
    SyncResult,
)
from headwater.broker.groups.consumer.messages import HeartbeatRequest, HeartbeatResult
from headwater.broker.groups.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from headwater.broker.groups.offsets.messages import CommitRequest, OffsetToCommit
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterable

Place = tuple[str, int]

GROUP = "the-group"
SESSION_MS = 1_000
REBALANCE_MS = 2_000

START_ANEW = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.GROUP_ID_NOT_FOUND,
)
TRY_AGAIN = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE)


class Client(ABC):
    """What both kinds have in common: a name, topics, and the partitions it reads."""

    def __init__(
        self, world: World, name: str, topics: Iterable[str], instance: str | None
    ) -> None:
        self.world = world
        self.name = name
        self.topics = tuple(topics)
        self.instance = instance
        self.member_id = ""
        self.generation = -1
        self.reads: set[Place] = set()
        self.is_fenced = False
        self._waits: Answers | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {self.member_id}, {self.generation})"

    @property
    @abstractmethod
    def is_settled(self) -> bool: ...

    @abstractmethod
    def step(self) -> None:
        """Do the next thing, unless an answer is still missing."""

    def commit(self, place: Place, offset: int) -> Answers:
        topic, partition = place
        wanted = OffsetToCommit(topic, topic_id(topic), partition, offset, -1, "")
        request = CommitRequest(
            GROUP, self.member_id, self.instance, self.generation, -1, (wanted,), 9
        )
        return ask(self.world.offsets.commit, request)

    def _forget(self) -> None:
        self.member_id = ""
        self.generation = -1
        self.reads = set()


class ClassicClient(Client):
    """A consumer of the classic protocol; a cooperative one keeps reading while it joins."""

    def __init__(
        self,
        world: World,
        name: str,
        topics: Iterable[str],
        instance: str | None = None,
        *,
        cooperative: bool = False,
    ) -> None:
        super().__init__(world, name, topics, instance)
        self.cooperative = cooperative
        self._phase = "join"
        self._leads: JoinResult | None = None

    @property
    def is_settled(self) -> bool:
        return self._phase == "stable"

    def step(self) -> None:
        if self.is_fenced or (self._waits is not None and not self._waits.is_given):
            return
        if self._phase == "join":
            self._join()
        elif self._phase == "joining":
            self._joined(self._take())
        elif self._phase == "syncing":
            self._synced(self._take())
        else:
            self._heartbeat()

    def leave(self) -> None:
        leaving = [LeavingMember(self.member_id, self.instance)]
        ask(self.world.shard.leave, GROUP, leaving)
        self._forget()
        self._phase = "join"
        self._waits = None

    def _take(self) -> JoinResult | SyncResult:
        assert self._waits is not None
        answer: JoinResult | SyncResult = self._waits.value
        self._waits = None
        return answer

    def _join(self) -> None:
        if not self.cooperative:
            self.reads = set()
        owned: dict[str, list[int]] = {}
        for topic, partition in sorted(self.reads):
            owned.setdefault(topic, []).append(partition)
        said = EmbeddedSubscription(3, list(self.topics), None, owned, self.generation, None)
        request = JoinRequest(
            GROUP,
            self.member_id,
            self.instance,
            self.name,
            "/here",
            SESSION_MS,
            REBALANCE_MS,
            "consumer",
            (("range", encode_subscription(said)),),
            needs_known_member_id=True,
            can_skip_assignment=True,
        )
        self._phase = "joining"
        self._waits = ask(self.world.shard.join, request)

    def _joined(self, answer: JoinResult | SyncResult) -> None:
        assert isinstance(answer, JoinResult)
        self._phase = "join"
        if answer.error is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
        elif answer.error is ErrorCode.FENCED_INSTANCE_ID:
            self.is_fenced = True
            self._forget()
        elif answer.error in START_ANEW:
            self._forget()
        elif answer.error is ErrorCode.NONE:
            self.member_id, self.generation = answer.member_id, answer.generation
            self._sync(answer)
        else:
            assert answer.error in (*TRY_AGAIN, ErrorCode.REBALANCE_IN_PROGRESS), answer

    def _sync(self, joined: JoinResult) -> None:
        assignments: dict[str, bytes] = {}
        if joined.leader_id == self.member_id and not joined.skip_assignment:
            assignments = self._assign(joined)
        request = SyncRequest(
            GROUP, self.generation, self.member_id, self.instance, "consumer", "range", assignments
        )
        self._phase = "syncing"
        self._waits = ask(self.world.shard.sync, request)

    def _assign(self, joined: JoinResult) -> dict[str, bytes]:
        wanted = {
            member.member_id: decode_subscription(member.metadata) for member in joined.members
        }
        shares: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in wanted}
        owners = {
            (topic, partition): member_id
            for member_id, said in wanted.items()
            for topic, partitions in said.owned.items()
            for partition in partitions
        }
        for topic in self.world.topics.names():
            takers = sorted(member_id for member_id, said in wanted.items() if topic in said.topics)
            for partition in range(self.world.topics.partitions[topic]) if takers else ():
                taker = takers[partition % len(takers)]
                # A cooperative leader gives nobody what another still has; it goes next time.
                if owners.get((topic, partition), taker) == taker:
                    shares[taker].setdefault(topic, []).append(partition)
        return {
            member_id: encode_assignment(EmbeddedAssignment(3, topics, None))
            for member_id, topics in shares.items()
        }

    def _synced(self, answer: JoinResult | SyncResult) -> None:
        assert isinstance(answer, SyncResult)
        self._phase = "join"
        if answer.error is ErrorCode.FENCED_INSTANCE_ID:
            self.is_fenced = True
            self._forget()
        elif answer.error in START_ANEW:
            self._forget()
        elif answer.error is ErrorCode.NONE:
            told = {
                (topic, partition)
                for topic, partitions in decode_assignment(answer.assignment).partitions.items()
                for partition in partitions
            }
            gives_up = self.reads - told
            self.reads = told
            # One who gave something up joins again, so that others can have it.
            self._phase = "join" if gives_up else "stable"
        else:
            assert answer.error in (*TRY_AGAIN, ErrorCode.REBALANCE_IN_PROGRESS), answer

    def _heartbeat(self) -> None:
        error = self.world.shard.heartbeat(GROUP, self.member_id, self.instance, self.generation)
        if error is ErrorCode.REBALANCE_IN_PROGRESS:
            self._phase = "join"
        elif error is ErrorCode.FENCED_INSTANCE_ID:
            self.is_fenced = True
            self._forget()
        elif error in START_ANEW:
            self._forget()
            self._phase = "join"
        else:
            assert error in (ErrorCode.NONE, *TRY_AGAIN), error


class ConsumerClient(Client):
    """A consumer of the new protocol."""

    def __init__(
        self, world: World, name: str, topics: Iterable[str], instance: str | None = None
    ) -> None:
        super().__init__(world, name, topics, instance)
        self.member_id = f"made-up-by-{name}"
        self.generation = 0
        self.told: set[Place] = set()

    @property
    def is_settled(self) -> bool:
        return self.generation > 0 and self.reads == self.told

    def step(self) -> None:
        if self.is_fenced:
            return
        if self._waits is not None:
            if self._waits.is_given:
                answer = self._waits.value
                self._waits = None
                self._take(answer)
            return
        # What was taken away is given up now, and said with the next heartbeat.
        self.reads &= self.told
        self._beat()

    def leave(self) -> None:
        request = HeartbeatRequest(GROUP, self.member_id, -1, self.name, "/here", self.instance)
        ask(self.world.shard.consumer_heartbeat, request)
        self._start_anew()

    def go_away(self) -> None:
        """Leave as a static member that will be back."""
        request = HeartbeatRequest(GROUP, self.member_id, -2, self.name, "/here", self.instance)
        ask(self.world.shard.consumer_heartbeat, request)
        self._start_anew()

    def _beat(self) -> None:
        joins = self.generation == 0
        owned: dict[bytes, set[int]] = {}
        for topic, partition in self.reads:
            owned.setdefault(topic_id(topic), set()).add(partition)
        request = HeartbeatRequest(
            GROUP,
            self.member_id,
            self.generation,
            self.name,
            "/here",
            self.instance,
            rebalance_timeout_ms=REBALANCE_MS,
            topics=self.topics,
            owned={} if joins else {topic: frozenset(numbers) for topic, numbers in owned.items()},
        )
        self._waits = ask(self.world.shard.consumer_heartbeat, request)

    def _take(self, answer: HeartbeatResult) -> None:
        if answer.error is ErrorCode.NONE:
            self.generation = answer.epoch
            if answer.assignment is not None:
                self.told = {
                    (topic, partition)
                    for topic in self.world.topics.names()
                    for partition in answer.assignment.get(topic_id(topic), ())
                }
                self.reads |= self.told
        elif answer.error is ErrorCode.FENCED_INSTANCE_ID:
            self.is_fenced = True
            self._start_anew()
        elif answer.error in START_ANEW or answer.error is ErrorCode.UNRELEASED_INSTANCE_ID:
            self._start_anew()
        else:
            assert answer.error in TRY_AGAIN, answer

    def _start_anew(self) -> None:
        self.generation = 0
        self.reads = set()
        self.told = set()
        self._waits = None
