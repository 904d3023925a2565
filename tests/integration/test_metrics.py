"""What Prometheus sees, compared with what clients know."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.broker_process import BrokerProcess
from tests.integration.raw_client import RawClient
from tests.integration.raw_quotas import set_quotas
from tests.integration.raw_requests import (
    Topic,
    create_topic,
    delete_topic,
    fetch,
    fetch_partition,
    fetch_topic,
    produce,
)
from tests.integration.record_batches import batch_of
from tests.integration.scrape import OPEN_METRICS, Metrics, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTITIONS = 3

DASHBOARD = {
    "kafka_brokers": [],
    "kafka_broker_info": ["id", "address"],
    "kafka_topic_partitions": ["topic"],
    "kafka_topic_partition_current_offset": ["topic", "partition"],
    "kafka_topic_partition_oldest_offset": ["topic", "partition"],
    "kafka_topic_partition_in_sync_replica": ["topic", "partition"],
    "kafka_topic_partition_leader": ["topic", "partition"],
    "kafka_topic_partition_leader_is_preferred": ["topic", "partition"],
    "kafka_topic_partition_replicas": ["topic", "partition"],
    "kafka_topic_partition_under_replicated_partition": ["topic", "partition"],
    "kafka_consumergroup_current_offset": ["consumergroup", "topic", "partition"],
    "kafka_consumergroup_current_offset_sum": ["consumergroup", "topic"],
    "kafka_consumergroup_lag": ["consumergroup", "topic", "partition"],
    "kafka_consumergroup_lag_sum": ["consumergroup", "topic"],
    "kafka_consumergroup_members": ["consumergroup"],
}
"""All that kafka_exporter has, with its labels."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    data = tmp_path_factory.mktemp("broker") / "data"
    process = BrokerProcess(data, {"headwater.metrics.port": "0"}).start()
    yield process
    process.stop()


def write(broker: BrokerProcess, topic: str, counts: list[int]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for partition, count in enumerate(counts):
        for _ in range(count):
            producer.produce(topic, b"x" * 100, partition=partition)
    assert producer.flush(60) == 0


def test_topics_are_as_a_consumer_finds_them(
    broker: BrokerProcess, client: RawClient, topic: str
) -> None:
    create_topic(client, topic, PARTITIONS)
    write(broker, topic, [0, 7, 1000])
    client.call(
        "delete_records",
        2,
        topics=[{"name": topic, "partitions": [{"partition_index": 2, "offset": 400}]}],
        timeout=30_000,
    )
    metrics = Metrics(broker)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": topic})
    try:
        for index in range(PARTITIONS):
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, index), timeout=30)
            labels = {"topic": topic, "partition": index}
            assert metrics.value("kafka_topic_partition_oldest_offset", **labels) == low
            assert metrics.value("kafka_topic_partition_current_offset", **labels) == high
            assert metrics.value("kafka_log_log_logstartoffset", **labels) == low
            assert metrics.value("kafka_log_log_logendoffset", **labels) == high
            assert metrics.value("kafka_topic_partition_leader", **labels) == 1
            assert metrics.value("kafka_topic_partition_under_replicated_partition", **labels) == 0
    finally:
        consumer.close()
    assert metrics.value("kafka_topic_partitions", topic=topic) == PARTITIONS
    assert metrics.value("kafka_brokers") == 1
    assert metrics.value("kafka_broker_info", id=1, address=broker.bootstrap_servers) == 1


def test_log_sizes_are_those_on_disk(broker: BrokerProcess, client: RawClient, topic: str) -> None:
    create_topic(client, topic, PARTITIONS)
    write(broker, topic, [0, 7, 1000])
    metrics = Metrics(broker)
    for index in range(PARTITIONS):
        files = list((broker.data_dir / f"{topic}-{index}").glob("*.log"))
        labels = {"topic": topic, "partition": index}
        size = sum(file.stat().st_size for file in files)
        assert metrics.value("kafka_log_log_size", **labels) == size
        assert metrics.value("kafka_log_log_numlogsegments", **labels) == len(files)


def test_groups_are_as_they_have_committed(
    broker: BrokerProcess, client: RawClient, topic: str
) -> None:
    create_topic(client, topic, PARTITIONS)
    write(broker, topic, [10, 20, 30])
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": topic,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    assert consumer.poll(30) is not None  # so it has joined
    consumer.commit(
        offsets=[TopicPartition(topic, 0, 10), TopicPartition(topic, 2, 12)], asynchronous=False
    )
    metrics = Metrics(broker)
    consumer.close()
    offsets = {0: 10, 1: -1, 2: 12}
    lags = {0: 0, 1: -1, 2: 18}
    for index in range(PARTITIONS):
        labels = {"consumergroup": topic, "topic": topic, "partition": index}
        assert metrics.value("kafka_consumergroup_current_offset", **labels) == offsets[index]
        assert metrics.value("kafka_consumergroup_lag", **labels) == lags[index]
    group = {"consumergroup": topic, "topic": topic}
    assert metrics.value("kafka_consumergroup_lag_sum", **group) == 18
    assert metrics.value("kafka_consumergroup_current_offset_sum", **group) == 22
    assert metrics.value("kafka_consumergroup_members", consumergroup=topic) == 1
    assert metrics.value("kafka_coordinator_group_groupmetadatamanager_numgroups") >= 1

    metrics = Metrics(broker)
    assert metrics.value("kafka_consumergroup_members", consumergroup=topic) == 0
    assert metrics.value("kafka_consumergroup_lag_sum", **group) == 18


def test_every_name_that_kafka_exporter_has_is_there_with_its_labels(
    broker: BrokerProcess, client: RawClient, topic: str
) -> None:
    create_topic(client, topic)
    write(broker, topic, [1])
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": topic})
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()
    metrics = Metrics(broker)
    for name, labels in DASHBOARD.items():
        assert metrics.types[name] == "gauge"
        assert metrics.labels_of(name) == {frozenset(labels)}, name


def test_bytes_and_requests_are_counted_one_by_one(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    batch = batch_of([b"a" * 1000, b"b" * 1000])
    before = Metrics(broker)
    for _ in range(5):
        produce(client, created, batch, version=9)
    for _ in range(3):
        assert len(fetch(client, created, version=11).records) == 5 * len(batch)
    after = Metrics(broker)
    traffic = "kafka_server_brokertopicmetrics"
    expected = {"bytesin": 5 * len(batch), "messagesin": 10, "bytesout": 15 * len(batch)}
    for name, value in expected.items():
        assert after.value(f"{traffic}_{name}_total", topic=created.name) == value
        total = f"{traffic}_{name}_total"
        assert after.value(total) - before.value(total) == value
    requests = "kafka_network_requestmetrics"

    def grown(name: str, **labels: object) -> float:
        earlier = before.value(name, **labels) if before.has(name, **labels) else 0
        return after.value(name, **labels) - earlier

    assert grown(f"{requests}_requests_total", request="Produce", version=9) == 5
    for fetches in ("Fetch", "FetchConsumer"):
        assert grown(f"{requests}_requests_total", request=fetches, version=11) == 3
    assert grown(f"{requests}_totaltimems_count", request="Produce") == 5
    assert grown(f"{requests}_totaltimems_bucket", request="Produce", le="+Inf") == 5
    # Each produce has waited for a flush, which takes time as well.
    flushes = "kafka_log_logflushstats_logflushrateandtimems"
    assert grown(f"{flushes}_count") >= 5
    assert grown(f"{requests}_totaltimems_sum", request="Produce") > 0
    assert grown(f"{flushes}_sum") > 0


def test_a_deleted_topic_takes_nothing_from_the_sums(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    produce(client, created, batch_of([bytes(10_000)]))
    total = "kafka_server_brokertopicmetrics_bytesin_total"
    before = Metrics(broker)
    delete_topic(client, created)
    after = Metrics(broker)
    assert before.has(total, topic=created.name)
    assert not after.has(total, topic=created.name)
    assert after.value(total) == before.value(total)


def test_connections_and_fetch_sessions(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    count = "kafka_server_socket_server_metrics_connection_count"
    accepted = "kafka_server_socket_server_metrics_connection_creation_total"
    sessions = "kafka_server_fetchsessioncache_numincrementalfetchsessions"
    before = Metrics(broker)
    others = [RawClient(broker) for _ in range(5)]
    for other in others:
        other.call("metadata", 9, topics=[])  # so it has been accepted
    greeting = {"client_software_name": "raw-client", "client_software_version": "1.2"}
    for other in others[:3]:
        assert other.call("api_versions", 3, **greeting).error_code == 0
    client.call(
        "fetch", 12, session_epoch=0, max_bytes=1, topics=[fetch_topic(created, fetch_partition())]
    )
    after = Metrics(broker)
    software = {"clientSoftwareName": "raw-client", "clientSoftwareVersion": "1.2"}
    by_software = "kafka_server_socket_server_metrics_connections"
    assert after.value(by_software, listener="PLAINTEXT", **software) == 3
    for other in others:
        other.close()
    # Clients of other tests may hang up in between, and none of them connects.
    assert after.value(count, listener="PLAINTEXT") >= 6
    assert after.value(accepted, listener="PLAINTEXT") - before.value(
        accepted, listener="PLAINTEXT"
    ) == len(others)
    assert after.value(sessions) == before.value(sessions) + 1


def test_who_is_throttled_is_shown(
    broker: BrokerProcess, client: RawClient, created: Topic
) -> None:
    set_quotas(client, {"client-id": "greedy"}, producer_byte_rate=1000)
    with RawClient(broker, "greedy") as greedy:
        produce(greedy, created, batch_of([bytes(500_000)]))
        metrics = Metrics(broker)
    labels = {"resource": "Produce", "user": "", "clientId": "greedy"}
    assert metrics.value("kafka_server_quota_byte_rate", **labels) > 1000
    assert metrics.value("kafka_server_quota_throttle_time", **labels) > 0
    set_quotas(client, {"client-id": "greedy"}, producer_byte_rate=None)


def test_both_of_prometheus_formats_say_the_same(broker: BrokerProcess) -> None:
    plain, open_metrics = Metrics(broker), Metrics(broker, OPEN_METRICS)
    assert plain.content_type.startswith("text/plain")
    assert open_metrics.content_type.startswith(OPEN_METRICS)
    assert plain.names == open_metrics.names
    assert plain.value("process_resident_memory_bytes") > 1 << 20


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/metrics", 200),
        ("GET", "/metrics?name[]=kafka_brokers", 200),
        ("HEAD", "/metrics", 200),
        ("GET", "/", 404),
        ("GET", "/metrics/x", 404),
        ("POST", "/metrics", 405),
    ],
)
def test_only_the_metrics_are_served(
    broker: BrokerProcess, method: str, path: str, status: int
) -> None:
    address = urlsplit(url_of(broker))
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
    connection.request(method, path)
    response = connection.getresponse()
    assert response.status == status
    assert bool(response.read()) == (method != "HEAD")
    connection.close()


@pytest.mark.parametrize(
    "garbage", [b"", b"\r\n\r\n", b"GET", b"\x00" * 200_000, b"\xff\xfe\r\n\r\n", b"a" * 70_000]
)
def test_garbage_does_no_harm(broker: BrokerProcess, garbage: bytes) -> None:
    address = urlsplit(url_of(broker))
    with (
        socket.create_connection((address.hostname, address.port), timeout=30) as peer,
        contextlib.suppress(OSError),  # the broker may hang up before it has read all
    ):
        peer.sendall(garbage)
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(65536):
            pass
    assert Metrics(broker).value("kafka_brokers") == 1
    assert "Traceback" not in broker.text


def test_a_scraper_that_hangs_does_not_keep_the_broker_from_stopping(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data = tmp_path_factory.mktemp("stopping") / "data"
    process = BrokerProcess(data, {"headwater.metrics.port": "0"}).start()
    address = urlsplit(url_of(process))
    with socket.create_connection((address.hostname, address.port), timeout=30) as peer:
        peer.sendall(b"GET /metrics HTTP/1.1\r\n")
        process.stop()


@pytest.mark.parametrize(
    ("protocol", "given", "host"),
    [
        ("PLAINTEXT", {}, "127.0.0.2"),
        ("SASL_PLAINTEXT", {}, "127.0.0.1"),
        ("SASL_PLAINTEXT", {"headwater.metrics.host": "127.0.0.3"}, "127.0.0.3"),
        ("PLAINTEXT", {"headwater.metrics.host": "127.0.0.1"}, "127.0.0.1"),
    ],
)
def test_where_clients_have_to_log_in_metrics_stay_on_this_machine(
    protocol: str, given: dict[str, str], host: str, tmp_path: Path
) -> None:
    class Elsewhere(BrokerProcess):
        ready = re.compile(r"listening on 127\.0\.0\.2:(\d+)")

        def command_line(self) -> list[str]:
            settings = {"listeners": f"{protocol}://127.0.0.2:0", **self.properties}
            pairs = [("--property", f"{name}={value}") for name, value in settings.items()]
            options = [word for pair in pairs for word in pair]
            return [*self.command, "broker", "--data", str(self.data_dir), *options]

    process = Elsewhere(
        tmp_path / "data",
        {
            "headwater.metrics.port": "0",
            "sasl.enabled.mechanisms": "SCRAM-SHA-256",
            **given,
        },
    ).start()
    try:
        assert urlsplit(url_of(process)).hostname == host
        with urlopen(url_of(process), timeout=30) as answer:
            assert b"kafka_brokers 1" in answer.read()
    finally:
        process.stop()


def test_a_broker_without_the_endpoint_does_not_import_what_it_needs() -> None:
    code = "import sys, headwater.broker.run; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    modules = set(done.stdout.split())
    assert "headwater.broker.broker" in modules
    assert not [name for name in modules if name.startswith(("prometheus_client", "http."))]
    assert "headwater.broker.metrics.endpoint" not in modules
