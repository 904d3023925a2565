"""Programs that have lost their checkpoint, and go on from the cluster: every result once."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient
from tests.effort import often
from tests.integration.streams_topics import WITHIN_S, Topics, app_of, topics
from tests.spark_session import spark

from headwater.clients import ClusterAccess
from headwater.spark.checkpoints import CheckpointError
from headwater.spark.jobs.job import Job
from headwater.spark.jobs.reset import reset
from headwater.spark.progress_topic import ProgressTopic
from headwater.streams import tumbling

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.plan.plan import Guarantee, Plan

__all__ = ["spark", "topics"]

START_MS = 1_700_000_000_000
GUARANTEES: list[Guarantee] = ["exactly_once", "at_least_once"]
# Records come every four seconds, windows have ten.
STEP_MS, ROUND = 4_000, 6


@pytest.mark.parametrize("guarantee", GUARANTEES[: often(1, in_soak=2)])
def test_every_result_comes_once_although_the_checkpoint_is_lost(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path, guarantee: Guarantee
) -> None:
    table = f"{topic}-names"
    outs = [f"{topic}-{each}" for each in ("copies", "counts", "windows", "joined")]
    copies, counts, windows, joined = outs
    topics.create(topic, table, *outs)

    def program() -> Plan:
        app = app_of(topics, tmp_path, topic, guarantee=guarantee)
        stream = app.stream(topic, value_type="value bigint")
        stream.filter("value >= 0").to(copies)
        grouped = stream.group_by_key()
        grouped.count(emit="record", name="counts").to_stream().to(counts)
        by_window = grouped.windowed_by(tumbling("10 seconds")).count(name="windows")
        by_window.suppress().to_stream().to(windows)
        names = app.table(table, value_type="name string")
        stream.join(names, value="value", who="name").to(joined)
        plan = app.plan()
        return replace(plan, settings=replace(plan.settings, from_topics=True))

    for number, name in enumerate(("first", "second")):
        at_ms = START_MS + number * ROUND * STEP_MS - 1
        topics.produce(table, "k", {"name": name}, timestamp_ms=at_ms)
        for value in range(number * ROUND, (number + 1) * ROUND):
            at_ms = START_MS + value * STEP_MS
            topics.produce(topic, "k", {"value": value}, timestamp_ms=at_ms)
        topics.flush()
        said = run(program(), spark)
        again = [line for line in said if "computing its state again" in line]
        assert len(again) == (3 if number else 0), said
        shutil.rmtree(tmp_path / "checkpoint")
    every = range(2 * ROUND)
    assert everything(topics, copies) == [{"value": value} for value in every]
    assert [each["count"] for each in everything(topics, counts)] == [each + 1 for each in every]
    # The last window, from the fortieth second on, is still open. Those that close together do so
    # in any order.
    closed = sorted(everything(topics, windows), key=lambda each: str(each["window_start"]))
    assert [each["count"] for each in closed] == [3, 2, 3, 2]
    assert len({each["window_start"] for each in closed}) == len(closed)
    assert everything(topics, joined) == [
        {"value": value, "who": "first" if value < ROUND else "second"} for value in every
    ]
    admin = AdminClient({"bootstrap.servers": topics.servers})
    for future in admin.delete_records([TopicPartition(topic, 0, 1)]).values():
        future.result(WITHIN_S)
    with pytest.raises(CheckpointError, match=r"\[0\] from offset 0 on, .* begins at 1 by now"):
        run(program(), spark)
    reset(program())
    assert ProgressTopic(ClusterAccess(topics.servers), topic).read() == {}


def run(plan: Plan, spark: SparkSession) -> list[str]:
    """Run to the end; returns what was said meanwhile."""
    said: list[str] = []
    job = Job(plan, once=True, notice=said.append)
    job.start(spark)
    try:
        assert job.wait(WITHIN_S)
    finally:
        job.stop()
    return said


def everything(topics: Topics, topic: str) -> list[Any]:
    """Return the values of all records of a topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": topics.servers,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[Any] = []
    try:
        while message := consumer.poll(WITHIN_S):
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return found
            found.append(json.loads(message.value()))
    finally:
        consumer.close()
    raise AssertionError(f"{topic} has no end")
