"""The monitor, watching a real broker with real groups."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families
from tests.integration.registry_fixtures import read_topic
from tests.unit.http.running_app import RunningApp
from tests.waiting import wait_for

from headwater.clients import ClusterAccess
from headwater.clients.connection import Connection
from headwater.monitor.alerts.alerts import Alert
from headwater.monitor.alerts.delivery import AlertTopic
from headwater.monitor.config import MonitorConfig
from headwater.monitor.instance import Instance
from headwater.testing import Broker

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTER = "plant"
WINDOW = 3
LABELS = ("group", "consumergroup", "consumer_group", "topic", "partition")
AN_HOUR_AGO_MS = round((time.time() - 3600) * 1000)


class Watched:
    """A broker, and a monitor that looks when it is told to."""

    def __init__(self, broker: Broker, **settings: Any) -> None:
        self.broker = broker
        access = ClusterAccess(broker.bootstrap_servers)
        config = MonitorConfig(access=access, cluster_name=CLUSTER, window=WINDOW, **settings)
        self.instance = Instance(config)
        self.app = RunningApp(self.instance.app)

    def look(self) -> None:
        self.instance.service.cluster.look()

    def get(self, path: str) -> tuple[int, Any]:
        code, body, _ = self.app.ask("GET", path)
        return code, json.loads(body)

    def samples(self, name: str) -> dict[tuple[str, ...], float]:
        """The values of a metric by its labels, those of cluster and member left out."""
        _, body, _ = self.app.ask("GET", "/metrics")
        families = list(text_string_to_metric_families(body.decode()))
        names = [sample.name for family in families for sample in family.samples]
        assert name in names, sorted(set(names))
        return {
            tuple(sample.labels[label] for label in LABELS if label in sample.labels): sample.value
            for family in families
            for sample in family.samples
            if sample.name == name
        }

    def status(self, group: str, kind: str = "lag") -> dict[str, Any]:
        code, answer = self.get(f"/v3/kafka/{CLUSTER}/consumer/{group}/{kind}")
        assert code == 200, answer
        status: dict[str, Any] = answer["status"]
        return status


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture(scope="module")
def watched(broker: Broker) -> Iterator[Watched]:
    watched = Watched(broker)
    with watched.app:
        yield watched
    watched.instance.service.cluster.close()


def produce(broker: Broker, topic: str, values: int, *, partition: int = 0) -> None:
    """Write records, a second apart, the first of them an hour ago."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(values):
        written = AN_HOUR_AGO_MS + number * 1000
        producer.produce(topic, b"x" * 100, partition=partition, timestamp=written)
    assert producer.flush(30) == 0


def commit(broker: Broker, group: str, topic: str, *offsets: int) -> None:
    """Commit offsets of a topic's partitions without being a member."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group})
    places = [TopicPartition(topic, index, offset) for index, offset in enumerate(offsets)]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


def test_lag_is_told_in_records_and_in_seconds(watched: Watched) -> None:
    broker = watched.broker
    broker.create_topic("orders", partitions=3)
    produce(broker, "orders", 10)
    produce(broker, "orders", 4, partition=1)
    commit(broker, "billing", "orders", 7, 4)
    before = time.time()
    watched.look()
    after = time.time()

    group = ("billing", "orders")
    assert watched.samples("kafka_consumergroup_group_lag") == {(*group, "0"): 3, (*group, "1"): 0}
    assert watched.samples("kafka_consumergroup_group_offset")[(*group, "0")] == 7
    seconds = watched.samples("kafka_consumergroup_group_lag_seconds")
    written = (AN_HOUR_AGO_MS + 7000) / 1000
    assert before - written <= seconds[(*group, "0")] <= after - written
    assert seconds[(*group, "1")] == 0
    assert watched.samples("kafka_consumergroup_group_max_lag") == {("billing",): 3}
    assert watched.samples("kafka_consumergroup_group_sum_lag") == {("billing",): 3}
    assert watched.samples("kafka_consumergroup_group_topic_sum_lag") == {group: 3}
    longest = watched.samples("kafka_consumergroup_group_max_lag_seconds")
    assert longest == {("billing",): seconds[(*group, "0")]}
    assert watched.samples("kafka_partition_latest_offset")["orders", "0"] == 10
    assert watched.samples("kafka_partition_earliest_offset")["orders", "0"] == 0

    # kafka_exporter's, as the broker shows them itself
    assert watched.samples("kafka_consumergroup_lag") == {
        (*group, "0"): 3, (*group, "1"): 0, (*group, "2"): -1
    }  # fmt: skip
    assert watched.samples("kafka_consumergroup_members") == {("billing",): 0}
    assert watched.samples("kafka_topic_partitions")["orders",] == 3
    assert watched.samples("kafka_brokers") == {(): 1}
    assert watched.samples("headwater_monitor_cluster_up") == {(): 1}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_are_named_with_what_they_read(watched: Watched, protocol: str) -> None:
    broker = watched.broker
    topic, group = f"read-{protocol}", f"group-{protocol}"
    broker.create_topic(topic, partitions=2)
    produce(broker, topic, 3, partition=1)
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": group,
        "client.id": f"reader-{protocol}",
        "group.protocol": protocol,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
    }
    consumer = Consumer(settings)
    consumer.subscribe([topic])
    message = wait_for(lambda: consumer.poll(0.1))
    assert message is not None
    consumer.commit(message, asynchronous=False)
    watched.look()
    status = watched.status(group)
    consumer.close()

    (partition,) = status["partitions"]
    assert (partition["topic"], partition["partition"]) == (topic, 1)
    assert partition["client_id"] == f"reader-{protocol}"
    assert "127.0.0.1" in partition["owner"]
    assert partition["current_lag"] == 2
    assert watched.samples("kafka_consumergroup_members")[group,] == 1
    assert status["totallag"] == 2


def test_a_group_that_does_not_go_on_is_told(watched: Watched) -> None:
    broker = watched.broker
    broker.create_topic("parcels", partitions=2)
    produce(broker, "parcels", 5)
    commit(broker, "delivery", "parcels", 2, 0)
    for _ in range(WINDOW):
        watched.look()
    status = watched.status("delivery", "status")
    assert (status["status"], status["verdict"], status["complete"]) == ("ERR", "STOP", 1)
    assert "no member reads it" in status["reason"]
    (partition,) = status["partitions"]  # the other one is well
    assert (partition["partition"], partition["status"]) == (0, "STOP")
    assert partition["start"]["offset"] == partition["end"]["offset"] == 2
    assert len(watched.status("delivery")["partitions"]) == 2
    assert watched.samples("burrow_kafka_consumer_status")["delivery",] == 4

    commit(broker, "delivery", "parcels", 1)
    watched.look()
    assert watched.status("delivery")["verdict"] == "REWIND"


def test_where_only_markers_of_transactions_wait_nothing_is_late(watched: Watched) -> None:
    broker = watched.broker
    broker.create_topic("payments")
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "payments"}
    )
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("payments", b"1")
    producer.commit_transaction()
    commit(broker, "ledger", "payments", 1)  # the record is read, its marker is not
    watched.look()
    (partition,) = watched.status("ledger")["partitions"]
    assert (partition["current_lag"], partition["current_lag_seconds"]) == (1, 0)


def test_several_groups_at_one_partition_have_each_its_time(watched: Watched) -> None:
    broker = watched.broker
    broker.create_topic("clicks")
    produce(broker, "clicks", 6)
    for offset in range(6):
        commit(broker, f"click-{offset}", "clicks", offset)
    watched.look()
    seconds = watched.samples("kafka_consumergroup_group_lag_seconds")
    ages = [seconds[f"click-{offset}", "clicks", "0"] for offset in range(6)]
    assert [round(ages[0] - age) for age in ages] == list(range(6))


def test_alerts_are_written_to_a_topic(watched: Watched) -> None:
    broker = watched.broker
    channel = AlertTopic(Connection(ClusterAccess(broker.bootstrap_servers)), "alerts")
    channel.send([Alert("Late", "warning", {"group": "billing"}, 5, "it is late", 0, "firing")])
    channel.close()
    (record,) = read_topic(broker.bootstrap_servers, "alerts")
    alert = json.loads(record.value or b"")
    assert (alert["status"], alert["labels"]["alertname"]) == ("firing", "Late")
    assert record.key == alert["fingerprint"].encode()


def test_topics_and_groups_are_listed(watched: Watched) -> None:
    watched.broker.create_topic("listed", partitions=2)
    produce(watched.broker, "listed", 2, partition=1)
    commit(watched.broker, "lister", "listed", 0)
    watched.look()
    assert watched.get("/v3/kafka")[1]["clusters"] == [CLUSTER]
    assert "lister" in watched.get(f"/v3/kafka/{CLUSTER}/consumer")[1]["consumers"]
    assert "listed" in watched.get(f"/v3/kafka/{CLUSTER}/topic")[1]["topics"]
    assert watched.get(f"/v3/kafka/{CLUSTER}/topic/listed")[1]["offsets"] == [0, 2]


@pytest.mark.parametrize(
    "path",
    ["/v3/kafka/other/consumer", f"/v3/kafka/{CLUSTER}/consumer/nobody/lag",
     f"/v3/kafka/{CLUSTER}/topic/nothing"],
)  # fmt: skip
def test_what_is_not_there_is_not_found(watched: Watched, path: str) -> None:
    watched.look()
    code, answer = watched.get(path)
    assert (code, answer["error"]) == (404, True)
    assert "not found" in answer["message"]


def test_only_what_is_wanted_is_shown(broker: Broker) -> None:
    broker.create_topic("wanted")
    for group in ("wanted-group", "console-1"):
        commit(broker, group, "wanted", 0)
    watched = Watched(broker, topic_filter="^wanted", group_filter="^(w|c)", group_exclude="^c")
    with watched.app:
        watched.look()
        assert watched.get(f"/v3/kafka/{CLUSTER}/topic")[1]["topics"] == ["wanted"]
        assert watched.get(f"/v3/kafka/{CLUSTER}/consumer")[1]["consumers"] == ["wanted-group"]
    watched.instance.service.cluster.close()


def test_a_cluster_that_goes_away_is_told_and_seen_again() -> None:
    with Broker() as broker:
        broker.create_topic("orders")
        watched = Watched(broker)
        with watched.app:
            watched.look()
            assert watched.samples("headwater_monitor_cluster_up") == {(): 1}
            broker.stop()
            watched.look()
            assert watched.samples("headwater_monitor_cluster_up") == {(): 0}
            code, answer = watched.get(f"/v3/kafka/{CLUSTER}/topic")
            assert code == 503
            assert f"cluster {CLUSTER} cannot be watched" in answer["message"]
            broker.start()
            watched.look()
            assert "orders" in watched.get(f"/v3/kafka/{CLUSTER}/topic")[1]["topics"]
        watched.instance.service.cluster.close()
