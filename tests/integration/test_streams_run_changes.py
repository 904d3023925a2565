"""Aggregates that emit each change, in real-time mode and in micro-batches, over a restart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.integration.streams_topics import Topics, app_of
from tests.spark_session import spark

from headwater.spark.jobs.job import Job
from headwater.streams import tumbling

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.broker_process import BrokerProcess

    from headwater.streams import App

__all__ = ["spark"]


@pytest.fixture(scope="module")
def topics(broker: BrokerProcess) -> Topics:
    return Topics(broker.bootstrap_servers)


def test_each_change_comes_and_counts_go_on_after_a_restart(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    everything, minutes = f"{topic}-all", f"{topic}-minutes"

    def program() -> App:
        app = app_of(topics, tmp_path, emit="record")
        grouped = app.stream(topic, value_type="value bigint").group_by_key()
        grouped.count().to_stream().to(everything)
        windowed = grouped.windowed_by(tumbling("1000 days"))
        windowed.count().to_stream().to(minutes)
        return app

    for already in (0, 3):
        job = Job(program().plan())
        job.start(spark)
        try:
            topics.write(topic, *({"value": value} for value in range(3)))
            for output in (everything, minutes):
                wanted = range(already + 1, already + 4)
                assert changes(topics, output, wanted[-1])[-3:] == [*wanted]
            states = {query.state for query in job.progress()}
            assert states == {"real-time", "running"}
        finally:
            job.stop()


def changes(topics: Topics, topic: str, last: int) -> list[int]:
    """Return the counts in a topic, once the last one is there.

    At least once: those before may have come again after the restart.
    """
    counts: list[int] = []
    while not counts or counts[-1] != last:
        found = topics.read(topic, len(counts) + 1)
        counts = [json.loads(each.value())["count"] for each in found]
    return counts
