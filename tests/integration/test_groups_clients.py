"""Real consumers in groups: sharing, leaving, dying, coming back, with every client there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.group_workers import Worker, all_read, until_all_read, until_shared
from tests.integration.raw_client import RawClient
from tests.integration.raw_consumer_groups import describe_consumer_group
from tests.integration.raw_groups import describe, fresh_group, quick_broker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess

PARTITIONS = 4
RECORDS = 200
# A busy machine starts a client anew in less.
BOUNCE_WITHIN_MS = 45_000

CLIENTS = [
    "confluent:classic",
    "confluent:consumer",
    "aiokafka",
    "kafka-python",
    pytest.param("kafkajs", marks=pytest.mark.needs("node", "npm")),
]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    yield from quick_broker(tmp_path_factory)


@pytest.fixture
def servers(broker: BrokerProcess) -> str:
    return broker.bootstrap_servers


@pytest.fixture
def group() -> str:
    return fresh_group()


@pytest.fixture
def filled(servers: str, topic: str) -> str:
    """A topic of four partitions with two hundred records."""
    create(servers, topic)
    produce(servers, topic)
    return topic


def create(servers: str, topic: str, partitions: int = PARTITIONS) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for created in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
        created.result()


def produce(servers: str, topic: str, count: int = RECORDS, partitions: int = PARTITIONS) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": servers})
    for number in range(count):
        producer.produce(topic, str(number), partition=number % partitions)
    assert producer.flush(60) == 0


def every_record(topic: str, count: int = RECORDS) -> list[tuple[str, int, int]]:
    each = count // PARTITIONS
    return [(topic, partition, offset) for partition in range(PARTITIONS) for offset in range(each)]


@pytest.mark.parametrize("client", CLIENTS)
def test_two_share_and_one_leaves(client: str, servers: str, group: str, filled: str) -> None:
    with Worker(client, servers, group, [filled], name="one") as one:
        one.until_holds(PARTITIONS)
        one.until_read(RECORDS)
        with Worker(client, servers, group, [filled], name="two") as two:
            until_shared([one, two], PARTITIONS, each=2)
            produce(servers, filled)
            one.until_read(RECORDS + RECORDS // 2)
            two.until_read(RECORDS // 2)
            two.leave()
        one.until_holds(PARTITIONS)
        produce(servers, filled)
        one.until_read(2 * RECORDS + RECORDS // 2)
        assert sorted(all_read([one, two])) == every_record(filled, 3 * RECORDS)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_partitions_of_a_dead_member_move(
    client: str, servers: str, group: str, filled: str
) -> None:
    with (
        Worker(client, servers, group, [filled], name="one") as one,
        Worker(client, servers, group, [filled], name="two") as two,
    ):
        until_shared([one, two], PARTITIONS, each=2)
        # Killed between its commit and its word of it, it would take records along.
        until_all_read([one, two], every_record(filled))
        two.kill()
        one.until_holds(PARTITIONS)
        produce(servers, filled)
        until_all_read([one, two], every_record(filled, 2 * RECORDS))


@pytest.fixture(scope="module")
def patient_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One that misses a member of the new protocol late: there, it is not the member who says."""
    yield from quick_broker(
        tmp_path_factory, **{"group.consumer.session.timeout.ms": str(BOUNCE_WITHIN_MS)}
    )


@pytest.mark.parametrize("client", ["confluent:classic", "confluent:consumer", "kafka-python"])
def test_a_static_member_bounces_without_a_rebalance(
    client: str, patient_broker: BrokerProcess, group: str, topic: str
) -> None:
    servers = patient_broker.bootstrap_servers
    create(servers, topic)

    def member(name: str) -> Worker:
        return Worker(
            client,
            servers,
            group,
            [topic],
            name=name,
            instance=f"instance-{name}",
            session_ms=BOUNCE_WITHIN_MS,
        )

    with member("one") as one:
        with member("two") as two:
            until_shared([one, two], PARTITIONS, each=2)
            mine, changes = two.held, len(one.changes)
            if client == "confluent:consumer":
                two.leave()  # A static member of the new protocol says that it will be back.
            else:
                two.kill()
        with member("two") as two:
            two.until_holds(2)
            assert two.held == mine
            produce(servers, topic)
            two.until_read(RECORDS // 2)
            assert len(one.changes) == changes, one.changes


@pytest.mark.parametrize(
    ("client", "assignor"),
    [
        ("confluent:classic", "roundrobin"),
        ("confluent:classic", "cooperative-sticky"),
        ("confluent:consumer", "range"),
        ("confluent:consumer", "uniform"),
        ("kafka-python", "roundrobin"),
        ("kafka-python", "sticky"),
        ("aiokafka", "sticky"),
    ],
)
def test_every_assignor(client: str, assignor: str, servers: str, group: str, filled: str) -> None:
    with (
        Worker(client, servers, group, [filled], name="one", assignor=assignor) as one,
        Worker(client, servers, group, [filled], name="two", assignor=assignor) as two,
    ):
        until_shared([one, two], PARTITIONS, each=2)
        produce(servers, filled)
        until_all_read([one, two], every_record(filled, 2 * RECORDS))


@pytest.mark.parametrize(
    ("client", "assignor"),
    [("confluent:classic", "cooperative-sticky"), ("confluent:consumer", None)],
)
def test_an_incremental_rebalance_takes_only_what_moves(
    client: str, assignor: str | None, servers: str, group: str, filled: str
) -> None:
    with Worker(client, servers, group, [filled], name="one", assignor=assignor) as one:
        one.until_holds(PARTITIONS)
        with Worker(client, servers, group, [filled], name="two", assignor=assignor) as two:
            until_shared([one, two], PARTITIONS, each=2)
            kept = one.held
            after = one.changes[
                [held for _, held in one.changes].index(frozenset(kept | two.held)) :
            ]
            assert all(kept <= held for _, held in after), one.changes


@pytest.mark.parametrize("client", CLIENTS)
def test_topics_are_found_by_a_pattern(client: str, servers: str, group: str, topic: str) -> None:
    create(servers, f"{topic}.a")
    create(servers, f"not-{topic}.a")
    pattern = f"^{topic}[.].*"
    with Worker(client, servers, group, [pattern], name="one") as one:
        one.until_holds(PARTITIONS)
        assert {name for name, _ in one.held} == {f"{topic}.a"}
        if client == "kafkajs":
            return  # It looks for topics only once.
        create(servers, f"{topic}.b", 1)
        one.until_holds(PARTITIONS + 1)


def test_a_live_group_changes_over_and_back(
    broker: BrokerProcess, servers: str, group: str, filled: str
) -> None:
    strategy = "cooperative-sticky"
    with (
        RawClient(broker) as raw,
        Worker("confluent:classic", servers, group, [filled], name="old", assignor=strategy) as old,
    ):
        old.until_holds(PARTITIONS)
        with Worker("confluent:consumer", servers, group, [filled], name="new") as new:
            until_shared([old, new], PARTITIONS, each=2)
            assert describe_consumer_group(raw, group).group_state in ("Stable", "Reconciling")
            produce(servers, filled)
            old.leave()
            new.until_holds(PARTITIONS)
            with Worker(
                "confluent:classic", servers, group, [filled], name="back", assignor=strategy
            ) as back:
                until_shared([new, back], PARTITIONS, each=2)
                new.leave()
                back.until_holds(PARTITIONS)
                assert describe(raw, group).group_state == "Stable"
                produce(servers, filled)
                until_all_read([old, new, back], every_record(filled, 3 * RECORDS))


def test_eight_members_share_sixty_four_partitions(servers: str, group: str, topic: str) -> None:
    create(servers, topic, 64)
    workers = [
        Worker("confluent:classic", servers, group, [topic], name=f"w{number}")
        for number in range(8)
    ]
    try:
        until_shared(workers, 64, each=8)
    finally:
        for worker in workers:
            worker.kill()
