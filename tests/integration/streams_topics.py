"""Topics as a test of programs writes and reads them, and programs run to their end."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.spark.jobs.job import Job
from headwater.streams import App

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.broker_process import BrokerProcess

WITHIN_S = 240


@pytest.fixture(scope="module")
def topics(broker: BrokerProcess) -> Topics:
    """The topics of the module's broker; imported by the files that use it, as `spark` is."""
    return Topics(broker.bootstrap_servers)


class Topics:
    """Topics of one test, written and read as any client would."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self._producer = Producer({"bootstrap.servers": servers, "log_level": 0})

    def create(self, *names: str, partitions: int = 1) -> None:
        admin = AdminClient({"bootstrap.servers": self.servers})
        wanted = [NewTopic(name, partitions, 1) for name in names]
        for future in admin.create_topics(wanted).values():
            future.result()

    def write(self, topic: str, *values: Any, key: str | bytes = "k") -> None:
        """Write values of one key, and wait until the broker has them."""
        for value in values:
            self.produce(topic, key, value)
        self.flush()

    def produce(
        self,
        topic: str,
        key: str | bytes | None,
        value: Any,
        *,
        timestamp_ms: int = 0,
        partition: int = -1,
    ) -> None:
        """Send a value as JSON; bytes as they are, and None as a tombstone."""
        data = value if value is None or isinstance(value, bytes) else json.dumps(value)
        self._producer.produce(topic, data, key, timestamp=timestamp_ms, partition=partition)

    def flush(self) -> None:
        """Wait until the broker has what was sent."""
        assert self._producer.flush(60) == 0

    def end(self, topic: str) -> int:
        """Return how many records a topic has."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "reader"})
        try:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), WITHIN_S)
        finally:
            consumer.close()
        return int(end)

    def read(self, topic: str, count: int) -> list[Any]:
        """Return a topic's values, once there are this many."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": "reader",
                "isolation.level": "read_committed",
            }
        )
        consumer.assign([TopicPartition(topic, 0, 0)])
        values: list[Any] = []
        deadline = time.monotonic() + WITHIN_S
        try:
            while len(values) < count and time.monotonic() < deadline:
                message = consumer.poll(0.2)
                if message is not None and message.error() is None:
                    values.append(message)
        finally:
            consumer.close()
        assert len(values) >= count, values
        return values


def app_of(topics: Topics, tmp_path: Path, name: str = "app", **more: Any) -> App:
    return App(
        name, bootstrap_servers=topics.servers, checkpoint_dir=tmp_path / "checkpoint", **more
    )


def run_once(app: App, spark: SparkSession) -> Job:
    job = Job(app.plan(), once=True)
    job.start(spark)
    try:
        assert job.wait(WITHIN_S)
    finally:
        job.stop()
    return job
