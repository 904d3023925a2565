"""What is lost and what is not when brokers and controllers die, on a real Apache Kafka cluster.

docs/cluster-lessons.md draws the conclusions.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from tests.chaos.transactional_pipeline import (
    Feeder,
    Workers,
    check_input,
    check_output,
    wait_until_done,
)
from tests.chaos.transactional_worker import INPUT, OUTPUT
from tests.cli_command import Cli
from tests.cluster.brokers import freeze, wait_until_in_sync
from tests.cluster.reading_group import ReadingGroup
from tests.cluster.replicated_topic import EVERYWHERE, NO_LEADER, ReplicatedTopic
from tests.waiting import wait_for

from headwater.cluster import metadata

if TYPE_CHECKING:
    from concurrent.futures import Future

    from headwater.cluster import KafkaCluster

FILLERS = ("filler 1", "filler 2", "filler 3")


# --- who leads ---------------------------------------------------------------------------------


def test_a_follower_takes_over_and_the_preferred_leader_returns_only_when_elected(
    cluster: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(cluster, topic, replicas=[(1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 3, 2)])
    log.write("before")

    cluster.kill_node(3)
    log.wait_for(leader=1, in_sync={1, 2}, partition=2)
    cluster.kill_node(1)
    log.wait_for(leader=2, in_sync={2})
    assert log.leaders(2) == [2, 2, 2, 2]
    assert log.read() == ["before"]

    for broker in (1, 3):
        cluster.start_node(broker, wait=False)
    for partition in range(4):
        log.wait_for(leader=2, in_sync=EVERYWHERE, partition=partition)

    log.elect_preferred_leaders()
    for partition, preferred in enumerate((1, 2, 3, 1)):
        log.wait_for(leader=preferred, partition=partition)


def test_a_broker_that_is_stopped_hands_its_leadership_over_before_it_goes(
    cluster: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(cluster, topic)
    cluster.stop_node(1)
    # No waiting for a session to end: when the process is gone, the next one leads already.
    log.wait_for(leader=2, in_sync={2, 3})
    log.write("after")
    assert log.read() == ["after"]


# --- acks --------------------------------------------------------------------------------------


def test_acks_0_reports_success_for_a_record_that_no_broker_ever_read(
    cluster: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(cluster, topic)
    writer = log.writer(acks="0")
    writer.write("connected")
    wait_for(lambda: log.copies("connected") == EVERYWHERE, "it never came")

    freeze(cluster, 1)
    sent = writer.write("sent to the dead")
    assert sent.offset() is None or sent.offset() < 0
    cluster.kill_node(1)

    log.wait_for(leader=2, in_sync={2, 3})
    assert log.copies("sent to the dead") == set()
    assert log.read() == ["connected"]


def test_acks_1_loses_what_the_leader_alone_acknowledged_before_it_died(
    cluster: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(cluster, topic)
    writer = log.writer(acks="1")
    writer.write("copied")
    wait_for(lambda: log.copies("copied") == EVERYWHERE, "it was not copied")

    freeze_followers_of_1(cluster, log)
    writer.write("acknowledged by the leader alone")
    assert log.copies("acknowledged by the leader alone") == {1}
    cluster.kill_node(1)
    resume_followers_of_1(cluster)

    log.wait_for(leader=2, in_sync={2, 3})
    assert "acknowledged by the leader alone" not in log.read()
    assert "copied" in log.read()
    # And the old leader, which still has it, must agree with the new one.
    cluster.start_node(1)
    log.wait_for(leader=2, in_sync=EVERYWHERE)
    assert log.copies("acknowledged by the leader alone") == set()


def test_acks_all_acknowledges_nothing_that_the_leader_has_alone_and_a_retry_loses_nothing(
    cluster: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(cluster, topic)
    writer = log.writer(acks="all", enable_idempotence=True, message_send_max_retries=1_000_000)
    writer.write("copied")

    freeze_followers_of_1(cluster, log)
    pending = writer.send("on the leader alone")
    wait_for(lambda: log.copies("on the leader alone") == {1}, "it was not written")
    assert not writer.is_settled(pending)
    cluster.kill_node(1)
    resume_followers_of_1(cluster)

    writer.wait(pending)
    log.wait_for(leader=2, in_sync={2, 3})
    assert log.copies("on the leader alone") >= {2, 3}
    assert log.read().count("on the leader alone") == 1


# --- min.insync.replicas -----------------------------------------------------------------------


def test_min_insync_2_takes_acks_all_with_2_of_3_brokers_and_with_1_only_what_nobody_sees(
    cluster: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(cluster, topic, min_insync_replicas="2")
    of_two = ReplicatedTopic(cluster, f"{topic}-2", replicas=[(1, 2)], min_insync_replicas="2")
    log.write("with three")
    cluster.stop_node(3)
    log.wait_for(leader=1, in_sync={1, 2})
    log.write("with two")
    cluster.stop_node(2)
    log.wait_for(leader=1, in_sync={1})
    with pytest.raises(KafkaException, match="NOT_ENOUGH_REPLICAS"):
        log.write("with one")
    # Our own commands say it, too, and not that time ran out.
    typed = Cli(cluster.bootstrap_servers)(
        *("produce", topic, "--property", "message.timeout.ms=5000"), stdin="with one\n"
    )
    assert typed.code == 1
    assert "NOT_ENOUGH_REPLICAS" in typed.err
    assert f"{topic}-0 has 1 of 3 replicas in sync, and acks=all needs min.insync" in typed.err
    assert log.copies("with one") == set()
    assert log.read() == ["with three", "with two"]

    # acks=1 is taken, and shown to nobody until it is safe.
    of_two.wait_for(leader=1, in_sync={1})
    of_two.write("with one", acks="1")
    assert of_two.copies("with one") == {1}
    assert of_two.read() == []
    cluster.start_node(2)
    of_two.wait_for(leader=1, in_sync={1, 2})
    assert of_two.read() == ["with one"]


# --- unclean election --------------------------------------------------------------------------


def test_when_the_last_in_sync_dies_a_partition_waits_for_it_or_loses_what_only_it_had(
    cluster: KafkaCluster, topic: str
) -> None:
    """Three topics, each on brokers 1 and 2, of which broker 1 alone took a record."""
    waits, goes_on, by_hand = logs = [
        ReplicatedTopic(
            cluster,
            f"{topic}-{name}",
            replicas=[(1, 2)],
            min_insync_replicas="1",
            unclean_leader_election_enable=unclean,
        )
        for name, unclean in (("waits", "false"), ("goes-on", "true"), ("by-hand", "false"))
    ]
    cluster.stop_node(2)
    for log in logs:
        log.wait_for(leader=1, in_sync={1})
        # With min.insync.replicas=1, acks=all is a promise of the leader alone when it is alone.
        log.write("only on broker 1", acks="all")
        assert log.copies("only on broker 1") == {1}
        assert log.read() == ["only on broker 1"]
    cluster.kill_node(1)
    cluster.start_node(2)

    # Without unclean election nobody leads; an operator can elect one, and gives up the record.
    waits.wait_for(leader=NO_LEADER)
    by_hand.wait_for(leader=NO_LEADER)
    by_hand.elect_uncleanly()
    by_hand.wait_for(leader=2, in_sync={2})
    assert by_hand.read() == []
    # With it, the partition goes on at once, and loses even what acks=all acknowledged.
    goes_on.wait_for(leader=2, in_sync={2})
    goes_on.write("life goes on")
    assert goes_on.read() == ["life goes on"]

    cluster.start_node(1)
    waits.wait_for(leader=1, in_sync={1, 2})
    assert waits.read() == ["only on broker 1"]
    for log in (goes_on, by_hand):
        log.wait_for(leader=2, in_sync={1, 2})
        assert log.copies("only on broker 1") == set()


def test_the_death_of_all_brokers_at_once_loses_nothing_since_the_kernel_has_what_they_wrote(
    cluster: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(cluster, topic, min_insync_replicas="2")
    log.write("in the page cache")
    for broker in EVERYWHERE:
        cluster.kill_node(broker)
    for broker in EVERYWHERE:
        cluster.start_node(broker, wait=False)
    cluster.wait_until_ready()
    log.wait_for(in_sync=EVERYWHERE)
    assert log.read() == ["in the page cache"]


# --- controllers -------------------------------------------------------------------------------


def test_another_controller_leads_when_one_of_three_dies(cluster: KafkaCluster, topic: str) -> None:
    log = ReplicatedTopic(cluster, topic)
    first = quorum_leader(cluster)
    cluster.kill_node(first)
    wait_for_another_controller(cluster, first)

    cluster.kill_node(1)
    log.wait_for(leader=2, in_sync={2, 3})
    ReplicatedTopic(cluster, f"{topic}-new", replicas=[(2, 3)]).write("metadata can change")


def test_without_a_majority_of_controllers_leaders_serve_on_but_nothing_can_change(
    cluster: KafkaCluster, topic: str
) -> None:
    log = ReplicatedTopic(cluster, topic)
    for controller in (101, 102):
        cluster.kill_node(controller)
    log.write("the leader needs no controller")
    assert log.read() == ["the leader needs no controller"]
    creation = create(cluster, f"{topic}-new", within_s=3)
    with pytest.raises(KafkaException):
        creation.result()

    cluster.kill_node(1)
    # Nobody is there to say that broker 1 is dead: it stays the leader that it can no longer be.
    with pytest.raises(KafkaException):
        log.writer(acks="all", message_timeout_ms=3_000).write("nobody takes over")
    log.wait_for(leader=1, in_sync=EVERYWHERE)

    cluster.start_node(101)
    log.wait_for(leader=2, in_sync={2, 3})
    log.write("two of three are enough")
    assert log.read()[-1] == "two of three are enough"


def test_a_controller_that_was_frozen_finds_a_newer_epoch_and_follows(
    cluster: KafkaCluster, topic: str
) -> None:
    first = quorum_leader(cluster)
    freeze(cluster, first)
    second = wait_for_another_controller(cluster, first)

    cluster.resume_node(first)
    woken = cluster.node(first)
    wait_for(
        # Only a leader answers this question; the woken one must have stepped down.
        lambda: metadata.quorum_leader(woken.host, woken.quorum_port) is None,
        lambda: f"controller {first} still believes that it leads",
    )
    assert quorum_leader(cluster) == second
    ReplicatedTopic(cluster, topic).write("there is one controller")


# --- clients that live through it --------------------------------------------------------------


def test_a_consumer_group_and_a_transactional_pipeline_live_through_all_of_it(
    cluster: KafkaCluster,
) -> None:
    spread = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
    source = ReplicatedTopic(cluster, INPUT, replicas=spread, min_insync_replicas="2")
    ReplicatedTopic(cluster, OUTPUT, replicas=spread, min_insync_replicas="2")
    servers = cluster.bootstrap_servers
    with ReadingGroup(servers, "readers", INPUT, members=2) as group:
        feeder = Feeder(cluster, per_second=50)
        workers = Workers(cluster, random.Random(1))
        try:
            group.wait_for_more()
            cluster.kill_node(1)
            source.wait_for(in_sync={2, 3})
            group.wait_for_more()
            cluster.start_node(1)
            wait_until_in_sync(cluster)
            workers.tend()

            frozen = quorum_leader(cluster)
            freeze(cluster, frozen)
            wait_for_another_controller(cluster, frozen)
            group.wait_for_more()
            cluster.resume_node(frozen)

            cluster.stop_node(2)
            source.wait_for(in_sync={1, 3})
            group.wait_for_more()
            cluster.start_node(2)
            wait_until_in_sync(cluster)
            workers.tend()

            feeder.stop()
            wait_until_done(cluster, workers)
            written = sum(feeder.sent.values())
            wait_for(lambda: len(group.read) == written, lambda: f"{len(group.read)} of {written}")
        finally:
            workers.stop()
    check_input(cluster, feeder.sent)
    check_output(cluster)


# --- the classroom -----------------------------------------------------------------------------


def create(cluster: KafkaCluster, topic: str, within_s: float) -> Future[None]:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    asked = admin.create_topics([NewTopic(topic, 1, 3)], request_timeout=within_s)
    future: Future[None] = asked[topic]
    return future


def quorum_leader(cluster: KafkaCluster) -> int:
    wait_for(lambda: cluster.quorum_leader() is not None, "no controller leads")
    leader = cluster.quorum_leader()
    assert leader is not None
    return leader


def wait_for_another_controller(cluster: KafkaCluster, last: int) -> int:
    wait_for(lambda: cluster.quorum_leader() not in (None, last), "no new controller")
    return quorum_leader(cluster)


def freeze_followers_of_1(cluster: KafkaCluster, log: ReplicatedTopic) -> None:
    """Stop brokers 2 and 3 from copying; they stay in sync until somebody misses them.

    Each may have a fetch waiting at the leader that the next record answers, into the socket of
    the frozen. After the fillers nothing is waiting any more.
    """
    filler = log.writer(acks="1")
    filler.write("connected, since a new producer might ask a frozen broker where to go")
    freeze(cluster, 2, 3)
    for value in FILLERS:
        filler.write(value)


def resume_followers_of_1(cluster: KafkaCluster) -> None:
    for follower in (2, 3):
        cluster.resume_node(follower)
