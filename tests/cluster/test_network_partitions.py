"""The six ways in which a network can come apart, on a real Apache Kafka cluster.

Broker 1 leads, brokers 2 and 3 follow, and a controller stands for the quorum (what the old books
call ZooKeeper). Each has a host of its own; the tests reach all of them, as clients may that sit on
the right side. docs/cluster-lessons.md draws the conclusions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.cluster.brokers import restore
from tests.cluster.conftest import SETTINGS
from tests.cluster.network import Network, NetworkRefusedError
from tests.cluster.replicated_topic import EVERYWHERE, ReplicatedTopic
from tests.waiting import wait_for

from headwater.cluster import KafkaCluster, NodeOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

BROKERS = {1: "broker-1", 2: "broker-2", 3: "broker-3"}
CONTROLLER = "controller"
PORT = 9092

UNCOPIED = "a follower is missed only where there is something to copy"

QUICK = {
    **SETTINGS,
    "replica.lag.time.max.ms": "4000",
    "replica.socket.timeout.ms": "3000",
}

pytestmark = pytest.mark.needs("ip")


@pytest.fixture(scope="module")
def one_network() -> Iterator[Network]:
    network = Network([*BROKERS.values(), CONTROLLER])
    try:
        network.open()
    except NetworkRefusedError as refusal:
        pytest.skip(f"this machine allows no network namespaces: {refusal}")
    yield network
    network.close()


@pytest.fixture(scope="module")
def stretched(
    one_network: Network, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaCluster]:
    hosts = {**BROKERS, 101: CONTROLLER}
    nodes = {
        number: NodeOptions(
            host=one_network.address(host), port=PORT, prefix=one_network.prefix(host)
        )
        for number, host in hosts.items()
    }
    directory = tmp_path_factory.mktemp("stretched")
    with KafkaCluster(directory, brokers=3, controllers=1, settings=QUICK, nodes=nodes) as cluster:
        yield cluster


@pytest.fixture
def network(one_network: Network, stretched: KafkaCluster) -> Network:
    """The network without a cut, and the cluster on it in full health."""
    one_network.heal()
    restore(stretched)
    return one_network


def test_1_a_follower_that_cannot_see_the_leader_falls_out_of_sync_and_catches_up_later(
    network: Network, stretched: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(stretched, topic, min_insync_replicas="2")
    network.cut(BROKERS[2], BROKERS[1])
    assert log.write_at(1, UNCOPIED, acks=1) is ErrorCode.none
    log.wait_for(leader=1, in_sync={1, 3})
    assert log.write_at(1, "without broker 2") is ErrorCode.none
    assert log.copies("without broker 2") == {1, 3}

    network.heal()
    log.wait_for(leader=1, in_sync=EVERYWHERE)
    assert log.copies("without broker 2") == EVERYWHERE


def test_2_a_leader_that_sees_no_follower_leads_on_alone_and_min_insync_decides_what_it_may_take(
    network: Network, stretched: KafkaCluster, topic: str
) -> None:
    safe = ReplicatedTopic(stretched, f"{topic}-2", min_insync_replicas="2")
    lax = ReplicatedTopic(stretched, f"{topic}-1", min_insync_replicas="1")
    network.cut(BROKERS[1], BROKERS[2], BROKERS[3])
    for log in (safe, lax):
        assert log.write_at(1, UNCOPIED, acks=1) is ErrorCode.none
        log.wait_for(leader=1, in_sync={1})
    assert safe.write_at(1, "refused") is ErrorCode.not_enough_replicas
    assert lax.write_at(1, "on one disk") is ErrorCode.none
    assert lax.copies("on one disk") == {1}

    network.heal()
    lax.wait_for(leader=1, in_sync=EVERYWHERE)
    assert lax.copies("on one disk") == EVERYWHERE
    assert safe.copies("refused") == set()


def test_3_a_follower_that_sees_the_leader_but_no_controller_copies_on_but_counts_no_longer(
    network: Network, stretched: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(stretched, topic, min_insync_replicas="2")
    network.cut(BROKERS[2], CONTROLLER)
    log.wait_for(leader=1, in_sync={1, 3}, seen_by=(1, 3))
    assert log.write_at(1, "still copied") is ErrorCode.none
    wait_for(lambda: log.copies("still copied") == EVERYWHERE, "broker 2 copies no more")
    log.wait_for(leader=1, in_sync={1, 3}, seen_by=(1, 3))

    network.heal()
    log.wait_for(leader=1, in_sync=EVERYWHERE)


def test_4_a_leader_that_sees_no_controller_is_replaced_and_what_it_takes_with_acks_1_is_lost(
    network: Network, stretched: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(stretched, topic, min_insync_replicas="2")
    network.cut(BROKERS[1], CONTROLLER)
    two_leaders_write(log)

    network.heal()
    log.wait_for(leader=2, in_sync=EVERYWHERE)
    only_the_new_leaders_records_are_left(log)


def test_5_a_follower_cut_off_from_all_is_missed_by_nobody_and_catches_up_later(
    network: Network, stretched: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(stretched, topic, min_insync_replicas="2")
    network.isolate(BROKERS[2])
    log.wait_for(leader=1, in_sync={1, 3}, seen_by=(1, 3))
    assert log.write_at(1, "without broker 2") is ErrorCode.none
    assert log.copies("without broker 2") == {1, 3}

    network.heal()
    log.wait_for(leader=1, in_sync=EVERYWHERE)
    assert log.copies("without broker 2") == EVERYWHERE


def test_6_a_leader_cut_off_from_all_keeps_believing_but_cannot_promise_acks_all_even_to_itself(
    network: Network, stretched: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(stretched, topic, min_insync_replicas="1")
    network.isolate(BROKERS[1])
    two_leaders_write(log)

    network.heal()
    log.wait_for(leader=2, in_sync=EVERYWHERE)
    only_the_new_leaders_records_are_left(log)


def two_leaders_write(log: ReplicatedTopic) -> None:
    """Broker 2 leads by the controllers' will, and broker 1 by what it heard last."""
    log.wait_for(leader=2, in_sync={2, 3}, seen_by=(2, 3))
    assert log.write_at(2, "acks=all at the new leader") is ErrorCode.none
    log.wait_for(leader=1, in_sync=EVERYWHERE, seen_by=(1,))
    assert log.write_at(1, "acks=1 at the old leader", acks=1) is ErrorCode.none
    # Without a controller it cannot take the others off the list of those in sync.
    assert log.write_at(1, "acks=all at the old leader") is ErrorCode.request_timed_out
    assert log.copies("acks=1 at the old leader") == {1}
    assert log.copies("acks=all at the old leader") == {1}
    assert log.read_at(1) == []


def only_the_new_leaders_records_are_left(log: ReplicatedTopic) -> None:
    assert log.read_at(2) == ["acks=all at the new leader"]
    assert log.copies("acks=all at the new leader") == EVERYWHERE
    assert log.copies("acks=1 at the old leader") == set()
    assert log.copies("acks=all at the old leader") == set()
