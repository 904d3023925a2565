"""Operators in real-time mode against the plain-Python reference, on random records.

What is there before the start is read in micro-batches. What comes later is read in real-time mode,
where it depends on milliseconds which of two topics is first: there, only the stream goes on.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.spark_sink_pipeline import read_committed
from tests.integration.streams_reference import (
    Aggregate,
    GlobalTableJoin,
    TableJoin,
    random_batches,
    reduced,
    shown,
    summary,
)
from tests.integration.streams_stateless import READING
from tests.integration.streams_topics import Topics, app_of, topics
from tests.integration.tables_reference import Changes, TablesJoin, changes_of
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.spark.jobs.job import Job
from headwater.streams import avg, count
from headwater.streams import max as max_of
from headwater.streams import min as min_of
from headwater.streams import sum as sum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Batch, Event, Value

    from headwater.streams import App, KStream

__all__ = ["spark", "topics"]

KEY, ID = attrgetter("key"), attrgetter("id")
# Records of today, or else retention deletes them as soon as it looks.
START_MS = int(time.time() * 1000) - 3_600_000

STREAMS = ("positive", "aggregate", "reduced", "inner", "left", "global")
TABLES = ("tables",)

Pair = tuple[str | None, "Value | None"]


# In two programs: each query in real-time mode holds slots all the time, and there are so many.
@pytest.mark.parametrize(("seed", "outputs"), [(1, STREAMS), (2, STREAMS), (3, TABLES)])
def test_what_runs_in_real_time_gives_what_the_reference_gives(
    spark: SparkSession,
    topics: Topics,
    topic: str,
    tmp_path: Path,
    seed: int,
    outputs: tuple[str, ...],
) -> None:
    names = {each: f"{topic}-{each}" for each in ("r", "t", "g")}
    topics.create(*names.values())
    app = app_of(topics, tmp_path, spark={"spark.headwater.realTime": "true"})
    streams = _streams(app, names)
    for output in outputs:
        streams[output].to(f"{topic}-{output}")
    first, *later = random_batches(seed, ["r", "r", "t", "g"], 60, 30)
    batches = [first, *([event for event in batch if event.topic == "r"] for batch in later)]
    references = {output: _references()[output] for output in outputs}
    expected: dict[str, list[Pair]] = defaultdict(list)
    job = Job(app.plan())
    _write(topics, names, first)
    job.start(spark)
    try:
        for number, batch in enumerate(batches):
            if number:
                _write(topics, names, batch)
            for output, reference in references.items():
                expected[output] += reference(batch)
                found = _read(topics, f"{topic}-{output}", len(expected[output]))
                in_order = output != "global"  # which has keys of its own
                assert _by_key(found, in_order) == _by_key(expected[output], in_order), output
            wait_for(lambda: {query.state for query in job.progress()} == {"real-time"})
    finally:
        job.stop()


def _streams(app: App, names: dict[str, str]) -> dict[str, KStream]:
    readings = app.stream(names["r"], value_type=READING)
    table = app.table(names["t"], value_type=READING)
    everywhere = app.global_table(names["g"], value_type=READING)
    fields: dict[str, Any] = {"l": "left.value", "r": "right.value", "id": "right.id"}
    by_key = readings.group_by_key()
    of_all = {
        "n": count(), "present": count("value"), "total": sum_of("value"), "mean": avg("value"),
        "low": min_of("value"), "high": max_of("value"),
    }  # fmt: skip
    reduction: dict[str, Any] = {
        "id": "if(length(new.id) >= length(old.id), new.id, old.id)",
        "value": "old.value - new.value",
    }
    pairs = readings.to_table().outer_join(table, **fields, emit="record").to_stream()
    return {
        "positive": readings.filter("value > 0"),
        "aggregate": by_key.aggregate(of_all, emit="record").to_stream(),
        "reduced": by_key.reduce(**reduction, emit="record").to_stream(),
        "inner": readings.join(table, **fields),
        "left": readings.left_join(table, **fields),
        "global": readings.left_join(everywhere, **fields, on="id"),
        "tables": pairs,
    }


def _references() -> dict[str, Callable[[Batch], list[Pair]]]:
    def joining(join: TableJoin, table: str) -> Callable[[Batch], list[Pair]]:
        def pairs(batch: Batch) -> list[Pair]:
            return [
                (event.key, _both(event, found))
                for event, found in join.joined(_of(batch, "r"), _of(batch, table))
            ]

        return pairs

    def folding(aggregate: Aggregate) -> Callable[[Batch], list[Pair]]:
        return lambda batch: [
            (each.key, shown(each.value)) for each in aggregate.each_change(_of(batch, "r"))
        ]

    pairs = TablesJoin("outer", each=True)

    def of_tables(batch: Batch) -> list[Pair]:
        return _records(pairs.of(changes_of(batch, "r"), changes_of(batch, "t"), _pair))

    return {
        "tables": of_tables,
        "positive": lambda batch: [
            (event.key, shown(event.value))
            for event in _of(batch, "r")
            if event.number is not None and event.number > 0
        ],
        "aggregate": folding(Aggregate(KEY, summary)),
        "reduced": folding(Aggregate(KEY, reduced)),
        "inner": joining(TableJoin(KEY, left=False), "t"),
        "left": joining(TableJoin(KEY, left=True), "t"),
        "global": joining(GlobalTableJoin(ID, left=True), "g"),
    }


def _both(event: Event, found: Value | None) -> Value | None:
    right = found or {"id": None, "value": None}
    return shown({"l": event.number, "r": right["value"], "id": right["id"]})


def _records(changes: Changes) -> list[Pair]:
    return [(key, shown(each.value)) for key, found in changes.items() for each in found]


def _pair(left: Value | None, right: Value | None) -> Value:
    found = right or {"id": None, "value": None}
    return {"l": left and left["value"], "r": found["value"], "id": found["id"]}


def _read(topics: Topics, topic: str, count: int) -> list[Pair]:
    """Return what a topic has, once it is as many."""

    def found() -> list[Pair]:
        return [
            (
                None if (key := each.key()) is None else key.decode(),
                json.loads(each.value() or b"null"),
            )
            for each in read_committed(topics.servers, topic)
        ]

    return wait_for(found, topic, until=lambda pairs: len(pairs) >= count)


def _by_key(pairs: Iterable[Pair], in_order: bool) -> dict[str | None, list[Value | None]]:
    found: dict[str | None, list[Value | None]] = defaultdict(list)
    for key, value in pairs if in_order else sorted(pairs, key=str):
        found[key].append(value)
    return dict(found)


def _write(topics: Topics, names: dict[str, str], batch: Batch) -> None:
    for event in batch:
        at = START_MS + event.time * 1000
        topics.produce(names[event.topic], event.key, event.value, timestamp_ms=at)
    topics.flush()


def _of(batch: Batch, topic: str) -> Batch:
    return [event for event in batch if event.topic == topic]
