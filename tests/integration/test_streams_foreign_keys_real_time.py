"""Joins of tables by foreign key in real-time mode, where foreign keys answer in any order."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from tests.integration.foreign_keys_reference import (
    LEFT,
    RIGHT,
    ForeignKeyJoin,
    random_references,
)
from tests.integration.spark_sink_pipeline import read_committed
from tests.integration.streams_topics import Topics, app_of, topics
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.spark.jobs.job import Job

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Event, Value

__all__ = ["spark", "topics"]

# Records of today, or else retention deletes them as soon as it looks.
START_MS = int(time.time() * 1000) - 3_600_000


def test_the_last_pair_is_that_of_the_last_reference(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    names = {each: f"{topic}-{each}" for each in (LEFT, RIGHT)}
    out = f"{topic}-out"
    topics.create(*names.values(), out)
    app = app_of(topics, tmp_path, emit="record")
    left = app.table(names[LEFT], value_type="n int, to string")
    right = app.table(names[RIGHT], value_type="n int")
    fields: dict[str, Any] = {"l": "left.n", "r": "right.n"}
    left.left_join(right, foreign_key="to", **fields).to_stream().to(out)
    reference = ForeignKeyJoin("left", each=True)
    expected: dict[str, Value | None] = {}
    job = Job(app.plan())
    # The keys are few, so that a row is at another foreign key before the one before has answered.
    batches = random_references(1, keys=10, foreign_keys=4, size=200)
    _write(topics, names, batches[0])
    job.start(spark)
    try:
        for batch in batches:
            if batch is not batches[0]:
                _write(topics, names, batch)
            for key, changes in reference.of(batch, _both).items():
                expected[key] = changes[-1].value
            wait_for(
                lambda: _last(topics, out), lambda: f"expected {expected}", until=expected.__eq__
            )
            wait_for(lambda: {query.state for query in job.progress()} == {"real-time"})
    finally:
        job.stop()


def _both(left: Value | None, right: Value | None) -> Value:
    pair = {"l": left and left["n"], "r": right and right["n"]}
    return {name: each for name, each in pair.items() if each is not None}


def _last(topics: Topics, topic: str) -> dict[str, Value | None]:
    return {
        str(record.key(), "utf-8"): json.loads(record.value() or b"null")
        for record in read_committed(topics.servers, topic)
    }


def _write(topics: Topics, names: dict[str, str], batch: list[Event]) -> None:
    for event in batch:
        at = START_MS + event.time * 1000
        topics.produce(names[event.topic], event.key, event.value, timestamp_ms=at)
    topics.flush()
