"""Windows and joins of streams in real-time mode against the plain-Python reference.

What is there before the start is read in micro-batches, what comes later in real-time mode. Nothing
is late, so that it does not matter where a batch ends.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from tests.integration.spark_sink_pipeline import read_committed
from tests.integration.streams_reference import Event, StreamJoin, WindowedAggregate, Windows
from tests.integration.streams_topics import Topics, app_of, topics
from tests.integration.windows_reference import (
    SUMMARY,
    SessionAggregate,
    SlidingAggregate,
    random_events,
)
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.spark.jobs.job import Job
from headwater.streams import between, count, session, sliding, tumbling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Batch, Value
    from tests.integration.tables_reference import Changes

    from headwater.streams import App, KStream, KTable

__all__ = ["spark", "topics"]

# Records of today, or else retention deletes them as soon as it looks; at the start of a window.
START = (int(time.time()) - 7200) // 100 * 100
PATIENT = "1000 seconds"
KEYS = 4
LONG_AFTER = 3000

# Which of two topics is first depends on milliseconds; the reference of sliding windows has none.
IN_ORDER = ("tumbling", "session")

Found = dict[str | None, list[Any]]


def test_windows_and_pairs_are_what_the_reference_gives(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    names = {each: f"{topic}-{each}" for each in ("a", "b")}
    topics.create(*names.values())
    app = app_of(topics, tmp_path)
    for output, stream in _streams(app, names).items():
        stream.to(f"{topic}-{output}")
    first, later = (
        [replace(event, topic=choice) for event, choice in zip(batch, "aaab" * 20, strict=False)]
        for batch in random_events(1, keys=KEYS, size=60, batches=2, span=30)
    )
    # Its own records without a partner come at once, those of others when a batch has ended.
    end = [Event("a", "k000", {"n": 0}, LONG_AFTER)]
    references = _references()
    expected: dict[str, Found] = defaultdict(lambda: defaultdict(list))
    job = Job(app.plan())
    _write(topics, names, first)
    job.start(spark)
    try:
        for number, batch in enumerate((first, later, end)):
            if number:
                wait_for(lambda: {query.state for query in job.progress()} == {"real-time"})
                _write(topics, names, batch)
            for output, reference in references.items():
                for key, value in reference(batch):
                    expected[output][key].append(value)
                found = _read(topics, f"{topic}-{output}", expected[output])
                if output not in IN_ORDER:
                    assert _sorted(found) == _sorted(expected[output]), (number, output)
                else:
                    assert found == expected[output], (number, output)
    finally:
        job.stop()


def _streams(app: App, names: dict[str, str]) -> dict[str, KStream]:
    a, b = (app.stream(names[each], value_type="n int") for each in ("a", "b"))
    by_key = a.group_by_key()

    def counted(table: KTable, unit: str = "unix_seconds") -> KStream:
        window = {each: f"{unit}(window_{each})" for each in ("start", "end")}
        return table.to_stream().map_values(**window, n="n")

    tumbled = by_key.windowed_by(tumbling("10 seconds").grace(PATIENT))
    sessions = by_key.windowed_by(session("3 seconds").grace(PATIENT))
    slid = by_key.windowed_by(sliding("3 seconds").grace(PATIENT))
    window = between("3 seconds", "6 seconds").grace(PATIENT)
    fields: dict[str, Any] = {"l": "left.n", "r": "right.n"}
    return {
        "tumbling": counted(tumbled.aggregate(n=count(), emit="record")),
        "session": counted(sessions.aggregate(n=count(), emit="record")),
        "sliding": counted(slid.aggregate(n=count(), emit="record"), "unix_millis"),
        "left": a.left_join(b, **fields, window=window),
        "outer": a.outer_join(b, **fields, window=window),
        "itself": a.filter("n > 1").left_join(a.filter("n < 4"), **fields, window=window),
    }


def _references() -> dict[str, Callable[[Batch], list[tuple[str | None, Value]]]]:
    tumbled = WindowedAggregate(
        attrgetter("key"), lambda values: {"n": len(values)}, Windows(10, 10, 1000), own_clock=True
    )
    sessions, slid = SessionAggregate(SUMMARY, 3, 1000), SlidingAggregate(SUMMARY, 3)

    def windows(batch: Batch) -> list[tuple[str | None, Value]]:
        return [
            (each.key, _window(each.value, "window_start", "window_end", START))
            for each in tumbled.each_change(_of(batch, "a"))
        ]

    def changes(found: Changes, unit: int) -> list[tuple[str | None, Value]]:
        return [
            (key, _window(each.value, "start", "end", START * unit))
            for key, all_of_key in found.items()
            for each in all_of_key
        ]

    def itself() -> Callable[[Batch], list[tuple[str | None, Value]]]:
        join = StreamJoin("left", 3, 6, 1000)

        def pairs(batch: Batch) -> list[tuple[str | None, Value]]:
            there = [(each.value["n"], each) for each in _of(batch, "a") if each.value is not None]
            left, right = ([e for n, e in there if is_in(n)] for is_in in (_is_left, _is_right))
            return [_pair(*found) for found in join.joined(left, right)]

        return pairs

    def pairs(kind: Literal["left", "outer"]) -> Callable[[Batch], list[tuple[str | None, Value]]]:
        join = StreamJoin(kind, 3, 6, 1000)
        return lambda batch: [
            _pair(*found) for found in join.joined(_of(batch, "a"), _of(batch, "b"))
        ]

    return {
        "tumbling": windows,
        "session": lambda batch: changes(sessions.each(_of(batch, "a")), 1),
        "sliding": lambda batch: changes(slid.each(_of(batch, "a")), 1000),
        "left": pairs("left"),
        "outer": pairs("outer"),
        "itself": itself(),
    }


def _is_left(n: int) -> bool:
    return n > 1


def _is_right(n: int) -> bool:
    return n < 4


def _window(value: Value | None, start: str, end: str, base: int) -> Value:
    assert value is not None, "an aggregate has its window"
    window = {"start": value[start] + base, "end": value[end] + base}
    return window | ({"n": value["n"]} if "n" in value else {})


def _pair(left: Event | None, right: Event | None) -> tuple[str | None, Value]:
    sides = {"l": left, "r": right}
    found = {name: each.value["n"] for name, each in sides.items() if each and each.value}
    return next(each.key for each in sides.values() if each is not None), found


def _read(topics: Topics, topic: str, expected: Found) -> Found:
    """Return what a topic has by key, once it is as much as is expected."""
    count = sum(map(len, expected.values()))

    def found() -> Found:
        by_key: Found = defaultdict(list)
        for each in read_committed(topics.servers, topic):
            key = each.key()
            by_key[None if key is None else key.decode()].append(json.loads(each.value() or b"{}"))
        return by_key

    return wait_for(found, topic, until=lambda found: sum(map(len, found.values())) >= count)


def _sorted(found: Found) -> Found:
    return {key: sorted(values, key=str) for key, values in found.items()}


def _write(topics: Topics, names: dict[str, str], batch: Batch) -> None:
    for event in batch:
        at = (START + event.time) * 1000
        topics.produce(names[event.topic], event.key, event.value, timestamp_ms=at)
    topics.flush()


def _of(batch: Batch, topic: str) -> Batch:
    return [event for event in batch if event.topic == topic]
