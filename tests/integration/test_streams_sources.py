"""Where streams begin, in jobs over topics with two partitions, and what each record costs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.streams_topics import Topics, app_of, run_once, topics
from tests.spark_session import spark

from headwater.plan.splitting.stages import split
from headwater.spark.compiler.nodes import NodeCompiler
from headwater.spark.compiler.stages import compile_stage
from headwater.spark.formats.schemas import Schemas
from headwater.spark.jobs.job import Job
from headwater.spark.topics import TopicReader
from headwater.streams import App, PlanError, col

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark", "topics"]

START_S = 1_767_225_600
VALUE = "n bigint"


def fill(servers: str, topic: str, numbers: range) -> None:
    """Write each number to partition 0 and, a hundred more, to 1: a second apart."""
    producer = Producer({"bootstrap.servers": servers})
    for number in numbers:
        for partition in (0, 1):
            producer.produce(
                topic,
                json.dumps({"n": number + 100 * partition}).encode(),
                partition=partition,
                timestamp=(START_S + number) * 1_000,
            )
    assert producer.flush(60) == 0


def two_partitions(servers: str, topic: str) -> AdminClient:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result()
    return admin


def delete_before(admin: AdminClient, topic: str, partition: int, offset: int) -> None:
    gone = admin.delete_records([TopicPartition(topic, partition, offset)])
    next(iter(gone.values())).result()


def written(servers: str, topic: str) -> list[int]:
    """Return all numbers of a topic with one partition, sorted."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    numbers: list[int] = []
    try:
        while True:
            message = consumer.poll(60)
            assert message is not None, "the broker gives no answer"
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return sorted(numbers)
            numbers.append(json.loads(message.value())["n"])
    finally:
        consumer.close()


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
def test_a_stream_begins_where_it_says(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path, guarantee: Any
) -> None:
    admin = two_partitions(topics.servers, topic)
    fill(topics.servers, topic, range(4))
    starts: dict[str, tuple[Any, list[int]]] = {
        "earliest": ("earliest", [0, 1, 2, 3, 100, 101, 102, 103]),
        "latest": ("latest", []),
        "time": (datetime.fromtimestamp(START_S + 2, UTC), [2, 3, 102, 103]),
        "between": (datetime.fromtimestamp(START_S + 1.5, UTC), [2, 3, 102, 103]),
        "later": (datetime.fromtimestamp(START_S + 60, UTC), []),
        "one": ({topic: {1: 3}}, [0, 1, 2, 3, 103]),
        "end": ({topic: {0: 2, 1: 4}}, [2, 3]),
    }
    app = app_of(topics, tmp_path, guarantee=guarantee)
    for name, (start, _) in starts.items():
        app.stream(topic, value_type=VALUE, start=start).to(f"{topic}-{name}")
    run_once(app, spark)
    found = {name: written(topics.servers, f"{topic}-{name}") for name in starts}
    assert found == {name: expected for name, (_, expected) in starts.items()}

    # A program that has begun goes on, though where it began is gone.
    delete_before(admin, topic, 0, 3)
    fill(topics.servers, topic, range(4, 5))
    run_once(app, spark)
    found = {name: written(topics.servers, f"{topic}-{name}") for name in starts}
    assert found == {name: sorted([*expected, 4, 104]) for name, (_, expected) in starts.items()}


def test_offsets_that_a_topic_does_not_have_are_refused(
    topics: Topics, topic: str, tmp_path: Path
) -> None:
    admin = two_partitions(topics.servers, topic)
    fill(topics.servers, topic, range(4))
    delete_before(admin, topic, 0, 2)

    def refusal(offsets: dict[int, int]) -> str:
        app = app_of(topics, tmp_path)
        app.stream(topic, value_type=VALUE, start={topic: offsets}).to(f"{topic}-out")
        with pytest.raises(
            PlanError, match=r"test_streams_sources\.py:\d+: start names"
        ) as refused:
            Job(app.plan()).prepare()
        return str(refused.value)

    assert f"the partition 2 of '{topic}', which has 2 partitions: leave it out" in refusal({2: 0})
    assert f"the offset 1 of {topic} [0], which has 2 to 4: name one" in refusal({0: 1})
    assert f"the offset 5 of {topic} [1], which has 0 to 4: name one" in refusal({0: 2, 1: 5})
    assert topic in admin.list_topics().topics
    assert f"{topic}-out" not in admin.list_topics().topics, "nothing is made for it"


@pytest.mark.parametrize("dead_letter", [None, "dead"])
def test_a_value_is_parsed_once_though_a_filter_looks_at_it(
    spark: SparkSession, topics: Topics, topic: str, dead_letter: str | None
) -> None:
    topics.create(topic)
    app = App("app")
    readings = app.stream(topic, value_type=VALUE, dead_letter=dead_letter)
    readings.filter(col("n") > 1).to("out")
    reader = TopicReader(spark, topics.servers, {topic: 1}, batch=True)
    compiler = NodeCompiler(spark, reader, Schemas(None))
    rows: Any = compile_stage(split(app.plan())[0], compiler)[0].rows
    plan = rows._jdf.queryExecution().executedPlan().toString().splitlines()
    assert sum("PlainJsonReader" in operator for operator in plan) == 1, plan
