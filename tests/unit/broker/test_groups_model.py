"""A group under a random crowd: members of both protocols come, die, return, leave, and change.

Whatever happens, no two members that the group still knows read the same partition at the same
time, a commit counts only for one who may read the partition, and when the crowd calms down, all
who are left share all there is.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule
from tests.effort import often
from tests.unit.broker.group_clients import (
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    ClassicClient,
    Client,
    ConsumerClient,
)
from tests.unit.broker.group_world import MemoryTopics, World

from headwater.broker.groups.classic.group import ClassicGroup, ClassicState
from headwater.broker.groups.consumer.group import ConsumerGroup
from headwater.broker.groups.settings import GroupSettings
from headwater.protocol.errors import ErrorCode

IDENTITIES = ((None, ("a",)), (None, ("a", "b")), ("i1", ("a",)), ("i2", ("a", "b")))
"""Instance id and topics. One who comes back under its name wants what it wanted before: that it
might want something else is for a classic leader to find out and not for the broker."""
CALM_ROUNDS = 60


class Crowd(RuleBasedStateMachine):
    """Clients, time and a disk that do what Hypothesis thinks of."""

    clients = Bundle("clients")

    def __init__(self) -> None:
        super().__init__()
        limits = GroupSettings(min_session_timeout_ms=1, consumer_session_timeout_ms=SESSION_MS)
        self.world = World(limits, MemoryTopics(a=4, b=2))
        self.alive: list[Client] = []
        self.named = 0

    @rule(target=clients, identity=st.sampled_from(IDENTITIES), cooperative=st.booleans())
    def classic_comes(
        self, identity: tuple[str | None, tuple[str, ...]], cooperative: bool
    ) -> Client:
        instance, topics = identity
        # A static member that dies after giving something up, and before joining again, comes back
        # without a rebalance: nobody gets that until the next one, with Kafka's broker as well.
        client = ClassicClient(
            self.world,
            self._name("c"),
            topics,
            instance,
            cooperative=cooperative and instance is None,
        )
        return self._add(client)

    @rule(target=clients, identity=st.sampled_from(IDENTITIES))
    def consumer_comes(self, identity: tuple[str | None, tuple[str, ...]]) -> Client:
        instance, topics = identity
        return self._add(ConsumerClient(self.world, self._name("n"), topics, instance))

    @rule(client=clients, times=st.integers(1, 4))
    def step(self, client: Client, times: int) -> None:
        for _ in range(times):
            client.step()
            self.world.timers.fire()

    @rule(times=st.integers(1, 6))
    def everybody_steps(self, times: int) -> None:
        for _ in range(times):
            for client in self.alive:
                client.step()
            self.world.settle()

    @rule(client=consumes(clients))
    def dies(self, client: Client) -> None:
        self._remove(client)

    @rule(client=consumes(clients))
    def leaves(self, client: Client) -> None:
        assert isinstance(client, ClassicClient | ConsumerClient)
        if client.member_id:
            client.leave()
        self._remove(client)

    @rule(client=consumes(clients))
    def static_member_goes_for_a_while(self, client: Client) -> None:
        if isinstance(client, ConsumerClient) and client.instance and client.generation > 0:
            client.go_away()
        self._remove(client)

    @rule()
    def disk_is_quick(self) -> None:
        self.world.journal.store()

    @rule()
    def disk_is_full(self) -> None:
        self.world.journal.is_full = True

    @rule()
    def disk_has_room(self) -> None:
        self.world.journal.is_full = False

    @rule(ms=st.sampled_from([1, 100, SESSION_MS // 2, SESSION_MS + 1, REBALANCE_MS + 1]))
    def time_passes(self, ms: int) -> None:
        self.world.wait(ms)

    @rule(partitions=st.integers(1, 6))
    def topic_changes(self, partitions: int) -> None:
        self.world.topics.set("b", max(partitions, self.world.topics.partitions["b"]))

    @rule(client=clients)
    def commits(self, client: Client) -> None:
        place = ("a", 0)
        answers = client.commit(place, 1)
        self.world.journal.store()
        result = answers.value
        if result.error is ErrorCode.NONE and client.member_id and client.generation > 0:
            assert self._is_member(client), "somebody committed whom the group does not know"

    @invariant()
    def nobody_reads_what_another_reads(self) -> None:
        readers: dict[tuple[str, int], Client] = {}
        for client in self.alive:
            if not self._is_member(client):
                continue  # It will learn so with its next heartbeat.
            for place in client.reads:
                assert place not in readers, f"{client} and {readers[place]} both read {place}"
                readers[place] = client

    @invariant()
    def the_log_tells_the_same(self) -> None:
        group = self.world.shard.groups.get(GROUP)
        stored = self.world.reloaded().groups.get(GROUP)
        if isinstance(group, ConsumerGroup):
            assert isinstance(stored, ConsumerGroup)
            assert vars(stored) == vars(group) | {"topics_version": -1}
        elif self.world.journal.has_refused:
            return  # A static member that came back under another id is told to try again.
        elif group is not None and group.state is ClassicState.STABLE:
            assert isinstance(stored, ClassicGroup)
            assert (stored.generation, stored.leader_id) == (group.generation, group.leader_id)
            assert {m.member_id: m.assignment for m in stored.members.values()} == {
                m.member_id: m.assignment for m in group.members.values()
            }

    @invariant()
    def generations_agree(self) -> None:
        group = self.world.shard.groups.get(GROUP)
        if isinstance(group, ClassicGroup):
            assert group.leader_id is None or group.leader_id in group.members
            assert group.pending_syncs <= group.members.keys()
            assert not group.pending_joins & group.members.keys()

    def teardown(self) -> None:
        self.world.journal.is_full = False
        # The dead are noticed while the living heartbeat.
        for _ in range(CALM_ROUNDS):
            for client in self.alive:
                client.step()
            self.world.wait(SESSION_MS // 8)
        living = [client for client in self.alive if not client.is_fenced]
        rivals = {client.instance for client in living if client.instance}
        if len(rivals) < sum(client.instance is not None for client in living):
            return  # Two with one name take it from each other for ever.
        group = self.world.shard.groups.get(GROUP)
        if not living:
            assert group is None or group.is_empty
            return
        assert group is not None
        assert len(group.members) == len(living), (group.members.keys(), living)
        assert all(client.is_settled for client in living), living
        wanted = {topic for client in living for topic in client.topics}
        everything = {
            (topic, partition)
            for topic in wanted
            for partition in range(self.world.topics.partitions[topic])
        }
        read = [place for client in living for place in client.reads]
        assert sorted(read) == sorted(everything)
        for client in living:
            assert {topic for topic, _ in client.reads} <= set(client.topics)

    def _name(self, kind: str) -> str:
        self.named += 1
        return f"{kind}{self.named}"

    def _add(self, client: Client) -> Client:
        self.alive.append(client)
        return client

    def _remove(self, client: Client) -> None:
        if client in self.alive:
            self.alive.remove(client)

    def _is_member(self, client: Client) -> bool:
        group = self.world.shard.groups.get(GROUP)
        if isinstance(group, ConsumerGroup):
            return client.member_id in group.members
        if isinstance(group, ClassicGroup):
            # Who is in an older generation may go on reading until it has joined the next one.
            return client.member_id in group.members and group.generation == client.generation
        return False


Crowd.TestCase.settings = settings(
    max_examples=often(60, in_soak=1000),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestCrowd = Crowd.TestCase
