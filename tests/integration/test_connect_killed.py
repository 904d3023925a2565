"""A worker is killed in the middle of a file: each line is in the topic, and in the sinks, once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource
from tests.connect_process import WITHIN_S, ConnectProcess
from tests.opensearch import OpenSearch
from tests.s3_server import S3Server
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess

LINES = 2500
STRINGS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
}

LAKE = {
    "connector.class": "io.confluent.connect.s3.S3SinkConnector",
    "s3.bucket.name": "lake",
    "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
    "flush.size": "70",
    "rotate.schedule.interval.ms": "1000",
}

SEARCH = {
    "connector.class": "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
    "key.ignore": "true",
    "batch.size": "70",
    # The machine may have much else to do.
    "connection.timeout.ms": "60000",
    "read.timeout.ms": "60000",
}

TOPIC = {
    "topic.creation.groups": "short",
    "topic.creation.default.partitions": "7",
    "topic.creation.default.replication.factor": "-1",
    "topic.creation.short.include": ".*",
    "topic.creation.short.partitions": "1",
    "topic.creation.short.retention.ms": "7200000",
    "producer.override.compression.type": "gzip",
}


def committed(servers: str, topic: str) -> list[str]:
    """Return the values of a topic's one partition as a consumer of what is committed sees it."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "counting",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[str] = []
    try:
        while True:
            message = consumer.poll(60)
            assert message is not None, "the topic has no end"
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return values
            values.append((message.value() or b"").decode())
    finally:
        consumer.close()


def setting(servers: str, topic: str, name: str) -> str | None:
    """Return a setting of a topic, which has one partition."""
    admin = AdminClient({"bootstrap.servers": servers})
    assert len(admin.list_topics(topic, timeout=60).topics[topic].partitions) == 1
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    (found,) = admin.describe_configs([resource]).values()
    value: str | None = found.result(60)[name].value
    return value


@pytest.fixture
def server(tmp_path: Path) -> Iterator[S3Server]:
    """A store with one bucket."""
    server = S3Server(tmp_path)
    try:
        server.start()
        server.make_bucket("lake")
        yield server
    finally:
        server.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[OpenSearch]:
    """A search cluster of one node."""
    directory = tmp_path / "opensearch"
    directory.mkdir()
    cluster = OpenSearch(directory)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def test_every_line_is_there_once(
    broker: BrokerProcess, topic: str, tmp_path: Path, server: S3Server, cluster: OpenSearch
) -> None:
    source, copy = tmp_path / "lines.txt", tmp_path / "copy.txt"
    lines = [f"line {number}" for number in range(LINES)]
    source.write_text("".join(f"{line}\n" for line in lines))
    worker = ConnectProcess(broker.bootstrap_servers).start()
    try:
        config = {"file": str(source), "topic": topic, "batch.size": "100", **STRINGS}
        worker.put("lines", {**config, **TOPIC, "connector.class": "FileStreamSource"})
        worker.put(
            "copy",
            {
                "connector.class": "FileStreamSink",
                "file": str(copy),
                "topics": topic,
                "consumer.override.max.poll.records": "250",
                **STRINGS,
            },
        )
        worker.put("lake", {**LAKE, **server.properties, "topics": topic, **STRINGS})
        hoisted = {
            "transforms": "hoist",
            "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
            "transforms.hoist.field": "line",
        }
        search = {**SEARCH, "connection.url": cluster.url}
        worker.put("search", {**search, **hoisted, "topics": topic, **STRINGS})
        worker.wait_for_rows("lines", 100)
        assert setting(broker.bootstrap_servers, topic, "retention.ms") == "7200000"
        (segment,) = (broker.data_dir / f"{topic}-0").glob("*.log")
        assert lines[0].encode() not in segment.read_bytes(), "it is not compressed"
        worker.kill()
        before = committed(broker.bootstrap_servers, topic)
        assert 0 < len(before) < LINES, "it was killed in the middle"
        assert before == lines[: len(before)]
        worker.start()
        with source.open("a") as more:
            more.write("the last line\n")
        wait_for(lambda: "the last line\n" in copy.read_text(), within_s=WITHIN_S)
        assert committed(broker.bootstrap_servers, topic) == [*lines, "the last line"]
        assert copy.read_text().splitlines() == [*lines, "the last line"]
        poisoned(broker.bootstrap_servers, worker, tmp_path)
        refused(broker.bootstrap_servers, worker, search)
        assert cluster.documents("mixed").keys() == {"mixed+0+0", "mixed+0+2"}
        index = topic.lower()
        wait_for(lambda: cluster.count(index), until=lambda found: found > LINES, within_s=WITHIN_S)
        documents = cluster.documents(index)
        assert sorted(each["line"] for each in documents.values()) == sorted(
            [*lines, "the last line"]
        )
        assert in_lake(server, LINES + 1) == sorted([*lines, "the last line"])
    finally:
        worker.stop()


def in_lake(server: S3Server, count: int) -> list[str]:
    """Return what the objects of the bucket have, once there are so many records."""

    def found() -> list[str]:
        texts = server.objects("lake").values()
        return sorted(json.loads(line) for text in texts for line in text.splitlines())

    return wait_for(found, until=lambda values: len(values) >= count, within_s=WITHIN_S)


def poisoned(servers: str, worker: ConnectProcess, folder: Path) -> None:
    """A record that is no JSON fails a sink, or goes to the dead-letter topic if there is one."""
    produce(servers, "numbers", [b'{"n": 1}', b"poison", b'{"n": 2}'])
    config = {
        "connector.class": "FileStreamSink",
        "file": str(folder / "numbers.txt"),
        "topics": "numbers",
        "key.converter": STRINGS["key.converter"],
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    worker.put("numbers", config)

    def trace() -> str:
        tasks = worker.get("/connectors/numbers/status")["tasks"]
        return str(tasks[0].get("trace", "")) if tasks else ""

    said = wait_for(trace, within_s=WITHIN_S).splitlines()[0]
    assert "numbers [0] offset 1" in said
    tolerant = {
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "numbers-dlq",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    worker.put("numbers", {**config, **tolerant})
    worker.wait_for_rows("numbers", 2)
    assert worker.progress("numbers")["rows_failed"] == 1
    assert len((folder / "numbers.txt").read_text().splitlines()) == 2
    letter = first_letter(servers, "numbers-dlq")
    assert letter.value() == b"poison"
    headers = dict(letter.headers() or ())
    assert headers["__connect.errors.topic"] == b"numbers"
    assert headers["__connect.errors.offset"] == b"1"
    assert headers["__connect.errors.stage"] == b"VALUE_CONVERTER"
    assert headers["__connect.errors.class.name"] == config["value.converter"].encode()
    assert headers["__connect.errors.connector.name"] == b"numbers"


def refused(servers: str, worker: ConnectProcess, search: dict[str, str]) -> None:
    """A record that the sink's target refuses goes to the dead-letter topic with its reason."""
    produce(servers, "mixed", [b'{"n": 1}', b'{"n": "one"}', b'{"n": 2}'])
    config = {
        **search,
        "topics": "mixed",
        "schema.ignore": "true",
        "behavior.on.malformed.documents": "warn",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "mixed-dlq",
        "errors.deadletterqueue.context.headers.enable": "true",
        "key.converter": STRINGS["key.converter"],
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    worker.put("mixed", config)
    worker.wait_for_rows("mixed", 2)
    assert worker.progress("mixed")["rows_failed"] == 1
    letter = first_letter(servers, "mixed-dlq")
    assert letter.value() == b'{"n": "one"}'
    headers = dict(letter.headers() or ())
    assert headers["__connect.errors.offset"] == b"1"
    assert headers["__connect.errors.stage"] == b"TASK_PUT"
    assert b"failed to parse field [n]" in (headers["__connect.errors.exception.message"] or b"")


def first_letter(servers: str, topic: str) -> Message:
    """Return the first record of a dead-letter topic."""
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "dead", "auto.offset.reset": "earliest"}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        return wait_for(lambda: consumer.poll(1))
    finally:
        consumer.close()


def produce(servers: str, topic: str, values: list[bytes]) -> None:
    """Write values to a topic."""
    producer = Producer({"bootstrap.servers": servers})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(60) == 0
