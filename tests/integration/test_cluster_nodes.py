"""A real Apache Kafka cluster of three brokers: its nodes, and commands that move what is on it."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from tests.cli_command import Cli
from tests.integration.share_member import ShareMember
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.cluster import ClusterError, KafkaCluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browser import Browser


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    with KafkaCluster(
        tmp_path_factory.mktemp("cluster"),
        brokers=3,
        racks=("north", "south"),
        # One that dies is missed sooner than after Kafka's nine seconds.
        settings={"broker.session.timeout.ms": "4000", "broker.heartbeat.interval.ms": "1000"},
    ) as running:
        yield running


@pytest.fixture
def cli(cluster: KafkaCluster) -> Cli:
    return Cli(cluster.bootstrap_servers)


@pytest.fixture
def nodes(cluster: KafkaCluster, cli: Cli) -> Nodes:
    return Nodes(cluster, cli)


class Nodes:
    """`headwater cluster`, in another process than the one that has started the cluster."""

    def __init__(self, cluster: KafkaCluster, cli: Cli) -> None:
        self.data = str(cluster.directory.path)
        self.cli = cli

    def __call__(self, *arguments: object) -> str:
        done = self.cli("cluster", *arguments, "--data", self.data)
        assert (done.code, done.out) == (0, ""), done
        return done.err

    def states(self) -> dict[str, str]:
        found = self.cli.json("cluster", "status", "--data", self.data)
        return {node["node"]: node["state"] for node in found["nodes"]}


def partitions(cli: Cli, topic: str) -> list[dict[str, Any]]:
    (described,) = cli.json("topics", "describe", topic)
    found: list[dict[str, Any]] = described["partitions"]
    return found


def produce(servers: str, topic: str, values: list[str]) -> None:
    # Without it, a record whose acknowledgement died with the leader is written twice.
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "log_level": 0})
    failures: list[Any] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: failures.append(error))
    assert producer.flush(HUNG_AFTER_S) == 0
    assert failures == [None] * len(values)


def read_all(servers: str, topic: str, count: int) -> list[str]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "unused"})
    metadata = consumer.list_topics(topic, timeout=HUNG_AFTER_S).topics[topic]
    consumer.assign([TopicPartition(topic, each, 0) for each in metadata.partitions])
    values: list[str] = []
    deadline = time.monotonic() + HUNG_AFTER_S
    while len(values) < count and time.monotonic() < deadline:
        values += [m.value().decode() for m in consumer.consume(100, 0.5) if m.error() is None]
    consumer.close()
    return sorted(values)


def test_brokers_and_a_controller_are_processes_of_their_own(
    cluster: KafkaCluster, nodes: Nodes
) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    described = admin.describe_cluster().result(HUNG_AFTER_S)
    assert described.cluster_id == cluster.cluster_id
    assert {node.id: node.rack for node in described.nodes} == {
        1: "north",
        2: "south",
        3: "north",
    }
    assert len({status.pid for status in cluster.status()} - {None}) == 4
    assert cluster.quorum_leader() == 101
    assert nodes.states() == dict.fromkeys(
        ["broker-1", "broker-2", "broker-3", "controller-101"], "running"
    )
    table = nodes.cli.ok("cluster", "status", "--data", nodes.data)
    assert "broker-2\tbroker\trunning\t127.0.0.1:" in table
    assert table.splitlines()[-1].endswith("\tleader")


def test_new_topics_have_three_replicas_of_which_two_must_answer(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    (partition,) = partitions(cli, topic)
    assert sorted(partition["replicas"]) == [1, 2, 3]
    config = cli.json("configs", "describe", "--topic", topic, "min.insync.replicas")
    assert config["min.insync.replicas"]["value"] == "2"


def test_a_stopped_broker_hands_over_and_the_preferred_leader_can_come_back(
    cluster: KafkaCluster, cli: Cli, nodes: Nodes, topic: str
) -> None:
    cli.ok("topics", "create", topic, "-p", 3)
    preferred = [each["replicas"][0] for each in partitions(cli, topic)]
    first = preferred[0]
    assert nodes("stop-broker", first) == f"Stopped broker-{first}.\n"
    assert nodes.states()[f"broker-{first}"] == "stopped"
    for partition in partitions(cli, topic):
        assert partition["offline"] == [first]
        assert partition["leader"] not in (first, None)
        assert first not in partition["isr"]
    under = cli.json("topics", "describe", topic, "--under-replicated")
    assert len(under[0]["partitions"]) == 3
    produce(cluster.bootstrap_servers, topic, ["while it was down"])

    assert nodes("start-broker", first) == f"Started broker-{first}.\n"
    wait_for(lambda: all(len(each["isr"]) == 3 for each in partitions(cli, topic)))
    assert cli.json("topics", "describe", topic, "--under-replicated") == []
    assert first not in [each["leader"] for each in partitions(cli, topic)]
    elected = cli("topics", "elect-leaders", topic)
    assert elected.err == f"Elected the leaders of {preferred.count(first)} partitions.\n"
    assert all(each["leader"] == each["replicas"][0] for each in partitions(cli, topic))
    assert cli("topics", "elect-leaders", topic).err == "Elected the leaders of 0 partitions.\n"
    assert read_all(cluster.bootstrap_servers, topic, 1) == ["while it was down"]


def test_a_killed_leader_loses_nothing_that_was_acknowledged_by_all(
    cluster: KafkaCluster, cli: Cli, nodes: Nodes, topic: str
) -> None:
    cli.ok("topics", "create", topic)
    before = [f"before-{number}" for number in range(100)]
    after = [f"after-{number}" for number in range(100)]
    produce(cluster.bootstrap_servers, topic, before)
    (partition,) = partitions(cli, topic)
    leader = partition["leader"]
    assert nodes("kill-broker", leader) == f"Killed broker-{leader}.\n"
    # It needs a while until the others have noticed; commands and clients live through it.
    assert cli("topics", "list").code == 0
    produce(cluster.bootstrap_servers, topic, after)
    assert partitions(cli, topic)[0]["leader"] != leader
    nodes("start-broker", leader)
    assert nodes.states()[f"broker-{leader}"] == "running"
    wait_for(lambda: len(partitions(cli, topic)[0]["isr"]) == 3)
    assert read_all(cluster.bootstrap_servers, topic, 200) == sorted(before + after)


def test_partitions_move_to_other_brokers(cli: Cli, topic: str, tmp_path: Path) -> None:
    cli.ok("topics", "create", topic, "-p", 2)
    cli.ok("produce", topic, stdin="a\nb\nc\n")
    moved = cli("topics", "reassign", topic, "--brokers", "2,3", "-r", 2)
    assert (moved.code, moved.err) == (0, "Moving 2 partitions.\nDone.\n")
    assert [each["replicas"] for each in partitions(cli, topic)] == [[2, 3], [3, 2]]
    assert cli.json("topics", "reassignments") == []

    planned = cli.ok("topics", "reassign", topic, "--brokers", "1,2,3", "-r", 3, "--dry-run")
    assert [each["replicas"] for each in partitions(cli, topic)] == [[2, 3], [3, 2]]
    (tmp_path / "moves.json").write_text(planned)
    cli.ok("topics", "reassign", "--from-file", tmp_path / "moves.json")
    assert [each["replicas"] for each in partitions(cli, topic)] == [
        each["replicas"] for each in json.loads(planned)["partitions"]
    ]
    cli.ok("topics", "reassign", topic, "--replicas", "0:1")
    assert partitions(cli, topic)[0]["replicas"] == [1]
    assert {each["value"] for each in cli.records(topic)} == {"a", "b", "c"}
    assert cli("topics", "cancel-reassignments", topic).err == "Cancelled 0 moves.\n"


def test_moves_that_cannot_be(cli: Cli, topic: str) -> None:
    cli.ok("topics", "create", topic)
    one_way = "one of --brokers, --replicas and --from-file"
    for arguments, message in [
        (["--brokers", "2,7"], "there is no broker 7; there are 1, 2, 3"),
        (["--brokers", "1,2"], "should have 3 replicas, and --brokers names 2"),
        (["--replicas", "9:1,2"], "UNKNOWN_TOPIC_OR_PARTITION"),
        (["--replicas", "0:8"], "INVALID_REPLICA_ASSIGNMENT"),
        ([], one_way),
        (["--brokers", "1", "--replicas", "0:1"], one_way),
    ]:
        done = cli("topics", "reassign", topic, *arguments)
        assert done.code in (1, 2), arguments
        assert message in done.err


def test_what_cannot_be_asked_of_a_node(cluster: KafkaCluster, cli: Cli, nodes: Nodes) -> None:
    done = cli("cluster", "kill-broker", 7, "--data", nodes.data)
    assert (done.code, "there is no node 7; there are 1 (broker-1)" in done.err) == (1, True)
    done = cli("cluster", "start-broker", 1, "--data", nodes.data)
    assert (done.code, "broker-1 runs already" in done.err) == (1, True)
    with pytest.raises(ClusterError, match=f"is run by process {os.getpid()} already"):
        KafkaCluster(cluster.directory.path, brokers=3)


def test_a_frozen_broker_is_missed_and_comes_back(cluster: KafkaCluster) -> None:
    cluster.pause_node(3)
    try:
        wait_for(lambda: cluster.known_brokers(1), until=lambda found: found == {1, 2})
    finally:
        cluster.resume_node(3)
    wait_for(lambda: cluster.known_brokers(1), until=lambda found: found == {1, 2, 3})
    assert cluster.status()[2].state == "running"


def _kill_and_miss(cluster: KafkaCluster, nodes: Nodes, broker: int) -> None:
    """Kill a broker, and return when the others know.

    Until then librdkafka's admin client may fail in ways of its own, and end a command with them.
    """
    nodes("kill-broker", broker)
    others = frozenset({1, 2, 3}) - {broker}
    wait_for(
        lambda: {cluster.known_brokers(other) for other in others}, until=lambda it: it == {others}
    )


def test_groups_and_their_commands_live_through_the_death_of_their_coordinator(
    cluster: KafkaCluster, cli: Cli, nodes: Nodes, topic: str
) -> None:
    values = [str(number) for number in range(30)]
    cli.ok("topics", "create", topic)
    produce(cluster.bootstrap_servers, topic, values[:10])
    group = ("--group", topic)
    assert cli.ok("consume", topic, *group, "--from-beginning", "-n", 10).split() == values[:10]
    (described,) = cli.json("groups", "describe", topic)
    coordinator = described["coordinator"]

    with cli.start("consume", topic, *group, "-n", 20) as reading:
        produce(cluster.bootstrap_servers, topic, values[10:20])
        assert [reading.stdout.readline().strip() for _ in range(10)] == values[10:20]
        _kill_and_miss(cluster, nodes, coordinator)
        # Nobody lists a group while its next coordinator has not begun to load it.
        wait_for(lambda: topic in cli("groups", "list").out.split())
        with ThreadPoolExecutor() as at_once:
            shown = at_once.submit(cli.json, "groups", "describe", topic)
            produce(cluster.bootstrap_servers, topic, values[20:])
            assert shown.result()[0]["partitions"][0]["current_offset"] >= 10
        rest = reading.stdout.read().split()
        assert (reading.process.wait(HUNG_AFTER_S), reading.stderr.read()) == (0, "")
        assert rest == values[20:]

    nodes("start-broker", coordinator)
    wait_for(lambda: cluster.known_brokers(coordinator), until=lambda found: len(found) == 3)
    # What a member says when it leaves can be lost with a coordinator: then its session runs out.
    wait_for(lambda: cli.json("groups", "describe", topic)[0]["state"] == "Empty")
    (described,) = cli.json("groups", "describe", topic)
    (partition,) = described["partitions"]
    assert (partition["current_offset"], partition["lag"]) == (30, 0)
    _kill_and_miss(cluster, nodes, described["coordinator"])
    wait_for(lambda: topic in cli("groups", "list").out.split())
    cli.ok("groups", "reset-offsets", topic, "--all-topics", "--to-earliest", "--execute")
    cli.ok("groups", "delete", topic)
    assert topic not in cli.ok("groups", "list").split()
    nodes("start-broker", described["coordinator"])


@pytest.fixture(scope="module")
def browser(cluster: KafkaCluster) -> Iterator[Browser]:
    """A browser at a console of the cluster; none of its tests may leave an error there."""
    from tests.browser import Browser  # Selenium is slow to import, and its tests may be skipped
    from tests.console_process import ConsoleProcess

    console = ConsoleProcess(
        cluster.bootstrap_servers, ["--property", f"cluster.data={cluster.directory.path}"]
    ).start()
    browser = Browser(console.url)
    yield browser
    complaints = browser.complaints()
    browser.close()
    console.stop()
    assert complaints == []


@pytest.mark.needs("chromium", "chromedriver")
def test_share_groups_in_the_console(
    cluster: KafkaCluster, cli: Cli, topic: str, browser: Browser
) -> None:
    cli.ok("topics", "create", topic, "--partitions", "1")
    produce(cluster.bootstrap_servers, topic, ["a", "b", "c"])
    group = f"<b>{topic}"
    member = ShareMember(cluster.bootstrap_servers, group, topic)
    with member:
        pass
    member.start_at(1)
    with ShareMember(cluster.bootstrap_servers, group, topic):
        browser.open("/groups?q=share", "Groups")
        browser.click(group, "table a")
        browser.sees(group, "h1")
        browser.sees("Members\n1", ".hw-figures")
        browser.sees("Lag in records\n2", ".hw-figures")
        browser.sees("headwater", "table")
        cells = browser.text("tbody td").splitlines()
        assert cells[:5] == [topic, "0", "1", "3", "2"]
        assert "kafka-share-groups.sh" in browser.text("code")
        assert "Reset offsets" not in browser.text("button")


@pytest.mark.needs("chromium", "chromedriver")
def test_an_admin_stops_and_starts_a_node_in_the_console(browser: Browser, nodes: Nodes) -> None:
    browser.open("/brokers", "Brokers")
    browser.sees("broker-3", "table")
    for word, done in (("Stop", "stopped"), ("Start", "running")):
        browser.click(f"{word} broker-3")
        browser.type("Name", "broker-2")
        assert not browser.is_enabled(word, ".q-dialog button")
        browser.type("Name", "broker-3")
        browser.click(word, ".q-dialog button")
        browser.misses("to go on", "body")
        assert nodes.states()["broker-3"] == done
        browser.sees(done, "table")
    browser.open("/audit", "Audit")
    browser.sees("stop node", "table")
