"""Groups and offsets after the broker was stopped or killed: all of it is there."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import confluent_kafka
import pytest
from kio.schema.errors import ErrorCode
from tests.integration.group_workers import Worker, until_all_read, until_shared
from tests.integration.raw_client import RawClient
from tests.integration.raw_consumer_groups import (
    beat,
    describe_consumer_group,
    enter,
    held_by,
    wait_until_left,
)
from tests.integration.raw_groups import (
    QUICK,
    commit,
    committed,
    describe,
    find_coordinator,
    heartbeat,
    join,
    leave,
    stable_member,
    sync,
    wait_until_empty,
)
from tests.integration.raw_requests import create_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

NONE = ErrorCode.none


def stop_and_start(broker: BrokerProcess) -> None:
    broker.restart()


def kill_and_start(broker: BrokerProcess) -> None:
    broker.kill()
    broker.start()


def reach(broker: BrokerProcess) -> RawClient:
    """A client of a broker that has read its groups again."""
    client = RawClient(broker)
    find_coordinator(client)
    wait_for(
        lambda: client.call("list_groups", 5).error_code,
        until=lambda code: code is not ErrorCode.coordinator_load_in_progress,
    )
    return client


@pytest.mark.parametrize("flush", ["fsync", "os"])
@pytest.mark.parametrize("again", [stop_and_start, kill_and_start])
def test_everything_is_there_again(
    start_broker: StartBroker, again: Callable[[BrokerProcess], None], flush: str
) -> None:
    broker = start_broker({**QUICK, "flush": flush, "group.consumer.session.timeout.ms": "60000"})
    with reach(broker) as client:
        topic = create_topic(client, "kept", partitions=4)
        place = (topic.name, 0)
        commit(client, "simple", {place: 5}, metadata="words", leader_epoch=2)
        commit(client, "simple", {place: 6}, metadata="other words", leader_epoch=3)
        me = stable_member(client, "classic", instance="alpha").member_id
        commit(client, "classic", {place: 7}, member=me, generation=1, instance="alpha")
        enter(client, "consumer", "one", [topic])
        enter(client, "consumer", "two", [topic])
        beat(client, "consumer", "one", 2, owned={topic: [0, 1, 2, 3]})
        commit(client, "consumer", {place: 8}, member="one", generation=2)
        commit(client, "deleted", {place: 9})
        client.call("delete_groups", 2, groups_names=["deleted"])
        gone = stable_member(client, "left").member_id
        leave(client, "left", gone)
    again(broker)
    with reach(broker) as client:
        listed = {one.group_id: one.group_state for one in client.call("list_groups", 5).groups}
        assert listed == {
            "simple": "Empty",
            "classic": "Stable",
            "consumer": "Reconciling",
            "left": "Empty",
        }
        simple = committed(client, "simple", None)[place]
        assert (simple.committed_offset, simple.committed_leader_epoch, simple.metadata) == (
            6,
            3,
            "other words",
        )
        assert committed(client, "classic", None)[place].committed_offset == 7
        assert committed(client, "consumer", None)[place].committed_offset == 8
        assert committed(client, "deleted", None) == {}
        # Members go on as if nothing had happened.
        assert heartbeat(client, "classic", me, 1, instance="alpha") is NONE
        assert sync(client, "classic", me, 1, instance="alpha").assignment == b"all"
        assert join(client, "classic", instance="alpha").generation_id == 1
        assert describe(client, "classic").protocol_data == "range"
        assert held_by(describe_consumer_group(client, "consumer")) == {
            "one": {topic.name: [0, 1, 2, 3]},
            "two": {},
        }
        assert beat(client, "consumer", "one", 2, owned={topic: [0, 1]}).epoch == 3
        assert beat(client, "consumer", "two", 3, owned={}).held == {topic.id: [2, 3]}


def test_the_dead_are_noticed_after_a_restart(start_broker: StartBroker) -> None:
    broker = start_broker(QUICK)
    with reach(broker) as client:
        topic = create_topic(client, "kept")
        stable_member(client, "classic", session_ms=1000)
        enter(client, "consumer", "one", [topic])
    kill_and_start(broker)
    with reach(broker) as client:
        wait_until_empty(client, "classic")
        wait_until_left(client, "consumer")


@pytest.mark.parametrize("client", ["confluent:classic", "confluent:consumer"])
def test_consumers_go_on_after_the_broker_was_killed(
    start_broker: StartBroker, client: str
) -> None:
    broker = start_broker({**QUICK, "group.consumer.session.timeout.ms": "30000"})
    servers = broker.bootstrap_servers
    with reach(broker) as raw:
        create_topic(raw, "read", partitions=4)

    def produce(count: int) -> None:
        producer = confluent_kafka.Producer({"bootstrap.servers": servers})
        for number in range(count):
            producer.produce("read", str(number), partition=number % 4)
        assert producer.flush(60) == 0

    produce(100)
    with (
        Worker(client, servers, "group", ["read"], name="one", session_ms=30_000) as one,
        Worker(client, servers, "group", ["read"], name="two", session_ms=30_000) as two,
    ):
        until_shared([one, two], 4, each=2)
        broker.kill()
        broker.start()
        produce(100)
        everything = [("read", partition, n) for partition in range(4) for n in range(50)]
        until_all_read([one, two], everything)
        changes = [*one.changes, *two.changes]
        assert not any(event == "lost" for event, _ in changes), changes


def test_groups_are_taken_over_with_the_directories_of_the_topics(
    start_broker: StartBroker, tmp_path: Path
) -> None:
    broker = start_broker(QUICK)
    with reach(broker) as client:
        topic = create_topic(client, "kept")
        place = (topic.name, 0)
        commit(client, "simple", {place: 5})
    broker.stop()
    # As with the directories of Apache Kafka: the logs are there, and nothing else is.
    taken = tmp_path / "taken"
    taken.mkdir()
    for directory in broker.data_dir.glob("*-[0-9]"):
        shutil.copytree(directory, taken / directory.name)
    broker = start_broker(QUICK, data_dir=taken)
    with reach(broker) as client:
        assert committed(client, "simple", None)[place].committed_offset == 5
        resource = {"resource_type": 2, "resource_name": "__consumer_offsets"}
        (described,) = client.call("describe_configs", 4, resources=[resource]).results
        policy = next(one for one in described.configs if one.name == "cleanup.policy")
        assert policy.value == "compact", "its offsets would expire with the segments"
