"""A small pipeline from topic to topic through the exactly-once sink, which tests can break."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic
from tests.waiting import wait_for

from headwater.spark.sinks import ExactlyOnceTopic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

PARTITIONS = 4
WITHIN_S = 120


@dataclass
class Topics:
    """An input and an output topic of a test's own."""

    servers: str
    suffix: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    def __post_init__(self) -> None:
        self.input, self.output = f"in-{self.suffix}", f"out-{self.suffix}"
        self.admin = AdminClient({"bootstrap.servers": self.servers})
        wanted = [NewTopic(self.input, PARTITIONS, 1), NewTopic(self.output, 2, 1)]
        for done in self.admin.create_topics(wanted).values():
            done.result(WITHIN_S)
        self.sent: list[bytes] = []

    def feed(self, count: int) -> None:
        producer = Producer({"bootstrap.servers": self.servers})
        for _ in range(count):
            number = len(self.sent)
            value = b"%d" % number
            producer.produce(self.input, value, key=b"k%d" % (number % 7), partition=number % 4)
            self.sent.append(value)
        assert producer.flush(WITHIN_S) == 0

    def written(self) -> list[bytes]:
        """The committed values of the output, sorted as the numbers that they are."""
        values = [message.value() or b"" for message in read_committed(self.servers, self.output)]
        return sorted(values, key=int)


@dataclass
class Pipeline:
    """A query from a topic to a topic, run to the end of its input each time."""

    spark: SparkSession
    topics: Topics
    checkpoint: Path
    name: str = field(default_factory=lambda: f"query-{uuid.uuid4().hex[:8]}")

    def sink(self, **changes: Any) -> ExactlyOnceTopic:
        return ExactlyOnceTopic(
            self.topics.output, self.topics.servers, {}, **{"query": self.name} | changes
        )

    def rows(self, **options: str) -> DataFrame:
        reader = self.spark.readStream.format("headwater-kafka")
        reader = reader.option("kafka.bootstrap.servers", self.topics.servers)
        reader = reader.option("subscribe", self.topics.input)
        return reader.options(**{"startingOffsets": "earliest"} | options).load()

    def run(self, rows: DataFrame | None = None, sink: ExactlyOnceTopic | None = None) -> None:
        records = (self.rows() if rows is None else rows).select("key", "value")
        writer = (sink or self.sink()).stream(records)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        query = writer.trigger(availableNow=True).start()
        try:
            assert query.awaitTermination(WITHIN_S), "the query did not end"
        finally:
            query.stop()

    def forget_last_commit(self) -> None:
        """Leave the checkpoint as a driver does that dies between a batch and its commit log."""
        last = max((self.checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name))
        for path in (last, last.with_name(f".{last.name}.crc")):
            path.unlink(missing_ok=True)


def fails_after_the_others(
    rows: DataFrame, pipeline: Pipeline, partition: int, flag: Path
) -> DataFrame:
    """The same rows, but the worker of one partition gives all its rows, waits until the other
    tasks have committed theirs, and fails, for as long as there is the flag."""
    servers, group = pipeline.topics.servers, pipeline.name

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        mine = False
        for batch in batches:
            mine = mine or partition in batch.column("partition").to_pylist()
            yield batch
        if mine and flag.exists():
            admin = AdminClient({"bootstrap.servers": servers})
            wait_for(
                lambda: committed_tasks(admin, group), until=lambda count: count >= PARTITIONS - 1
            )
            raise RuntimeError("this task was told to fail")

    return rows.mapInArrow(work, rows.schema)


def committed_tasks(admin: AdminClient, group: str) -> int:
    """How many tasks of a query have recorded a batch."""
    return len(markers(admin, group).keys() - {0})


def markers(admin: AdminClient, group: str) -> dict[int, int]:
    """The offsets that a query's group has, by partition of the marker topic."""
    answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group]
    found = answer.result(WITHIN_S).topic_partitions or ()
    return {each.partition: each.offset for each in found}


def read_committed(servers: str, topic: str) -> list[Message]:
    """Every committed record of a topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": uuid.uuid4().hex,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    try:
        partitions = set(consumer.list_topics(topic, WITHIN_S).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        found: list[Message] = []
        while partitions:
            message = consumer.poll(WITHIN_S)
            assert message is not None, f"the end of {topic} cannot be read"
            if message.error() is None:
                found.append(message)
            else:
                partitions.discard(message.partition())
        return found
    finally:
        consumer.close()
