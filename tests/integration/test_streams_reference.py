"""Every operator of stream programs against a plain-Python reference, on random records.

A run of Spark costs seconds, so each program has many operators, whose results are merged into few
topics and told apart by a label, and each example is many cases: late, out of order, null.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from tests.effort import often
from tests.integration.streams_reference import (
    Aggregate,
    Batch,
    Event,
    GlobalTableJoin,
    Result,
    StreamJoin,
    TableJoin,
    Value,
    WindowedAggregate,
    Windows,
    random_batches,
    reduced,
    shown,
    summary,
)
from tests.integration.streams_stateless import (
    READING,
    STATELESS,
    labelled,
    noting,
    stateless_streams,
)
from tests.spark_session import one_partition, spark

from headwater.streams import App, KStream, avg, between, col, count, hopping, lit, tumbling
from headwater.streams import functions as F  # noqa: N812 - as all of Spark's users know it
from headwater.streams import max as max_of
from headwater.streams import min as min_of
from headwater.streams import sum as sum_of
from headwater.testing.topology_driver import OutputRecord, TopologyDriver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Literal

    from pyspark.sql import SparkSession

__all__ = ["one_partition", "spark"]

pytestmark = pytest.mark.usefixtures("one_partition")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATER = datetime(2026, 1, 1, tzinfo=UTC)
KEY, ID = attrgetter("key"), attrgetter("id")
TUMBLING, HOPPING = Windows(10, 10, 4), Windows(12, 5, 4)

# A seed instead of records: an example of many records is quickly made. It is not shrunk, since
# every attempt would be another run of Spark. The first example is the simplest, no records.
seeds = st.integers(0, 2**32)
few = settings(
    max_examples=often(2, in_soak=10),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@few
@given(seed=seeds)
def test_one_record_at_a_time(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    app = App("stateless")
    readings = app.stream("r", value_type=READING)
    peeked, called = tmp_path / f"peeked-{seed}", tmp_path / f"called-{seed}"
    first, *others = stateless_streams(readings, peeked)
    first.merge(*others).to("out")
    readings.for_each(noting(called))
    batches = random_batches(seed, ["r"], 40, 40)
    with TopologyDriver(app, spark) as driver:
        for batch in batches:
            _pipe(driver, batch, LATER)
            found = _by_label(driver.read("out"))
            for label, expected in STATELESS.items():
                assert _keyed(found[label]) == _keyed(labelled(expected, batch)), label
            assert found.keys() == STATELESS.keys()
    seen = sorted(f"{event.key} {json.dumps(event.value)}" for batch in batches for event in batch)
    for notes in (peeked, called):
        assert sorted(notes.read_text().splitlines() if notes.exists() else []) == seen


@few
@given(seed=seeds)
def test_topics_are_written_together_and_read_again(spark: SparkSession, seed: int) -> None:
    app = App("topics")
    readings = app.stream("r", value_type=READING)
    readings.filter(col("value") > 0).to("high")
    readings.filter_not("value > 0").map_values(col("value") * 2).to("doubled", value="long")
    readings.select_key("value").to("keyed", key="long")
    readings.filter("id IS NOT NULL").to(F.concat(lit("by-"), "id"))
    readings.to_table().map_values(id=F.upper("id"), value="value").to_stream().to("table")
    readings.through("mid").map_values(id="record.key", value="value").to("after")

    def numbers(events: Batch) -> list[tuple[int | None, Value | None]]:
        return [(None if e.value is None else e.value["value"], e.value) for e in events]

    with TopologyDriver(app, spark) as driver:
        for batch in random_batches(seed, ["r"], 30, 40):
            _pipe(driver, batch, LATER)
            high = [e for e in batch if e.number is not None and e.number > 0]
            low = [e for e in batch if e not in high]
            assert _plain(driver, "high") == [(e.key, shown(e.value)) for e in high]
            assert _plain(driver, "doubled") == [
                (e.key, None if e.number is None else e.number * 2) for e in low
            ]
            assert _plain(driver, "keyed") == [
                (number, shown(value)) for number, value in numbers(batch)
            ]
            for id_ in ("a", "b", "a-b", "c-d-a"):
                assert _plain(driver, f"by-{id_}") == [
                    (e.key, shown(e.value)) for e in batch if e.value and e.value["id"] == id_
                ]
            assert _plain(driver, "mid") == [(e.key, shown(e.value)) for e in batch]
            assert _plain(driver, "after") == [
                (e.key, shown({"id": e.key, "value": e.number})) for e in batch
            ]
            assert _plain(driver, "table") == [
                (e.key, e.value and shown({"id": e.value["id"].upper(), "value": e.number}))
                for e in batch
                if e.key is not None
            ]


@few
@given(seed=seeds)
def test_groups(spark: SparkSession, seed: int) -> None:
    app = App("groups")
    readings = app.stream("r", value_type=READING)
    by_key, by_id = readings.group_by_key(), readings.group_by(col("id"))
    by_size = readings.group_by(lambda value: value and str(len(value["id"])), returns="string")
    of_all = {
        "n": count(), "present": count("value"), "total": sum_of("value"), "mean": avg("value"),
        "low": min_of(col("value")), "high": max_of("value"),
    }  # fmt: skip
    reduction: dict[str, Any] = {
        "id": "if(length(new.id) >= length(old.id), new.id, old.id)",
        "value": "old.value - new.value",
    }
    batch_keys = by_key.aggregate(of_all).to_stream().map_values("*", op=lit("key"))
    batch_ids = by_id.aggregate(of_all).to_stream().map_values("*", op=lit("id"))
    batch_keys.merge(batch_ids).to("batch")
    record_keys = by_key.aggregate(of_all, emit="record").to_stream()
    record_sizes = by_size.aggregate(of_all, emit="record").to_stream()
    record_keys.map_values("*", op=lit("key")).merge(
        record_sizes.map_values("*", op=lit("size"))
    ).to("record")
    reduced_batch = by_key.reduce(**reduction).to_stream()
    reduced_each = by_key.reduce(**reduction, emit="record").to_stream()
    reduced_batch.map_values("*", op=lit("batch")).merge(
        reduced_each.map_values("*", op=lit("each"))
    ).to("reduced")

    expected: dict[tuple[str, str], Callable[[Batch], Iterable[Result]]] = {
        ("batch", "key"): Aggregate(KEY, summary).per_batch,
        ("batch", "id"): Aggregate(ID, summary).per_batch,
        ("record", "key"): Aggregate(KEY, summary).each_change,
        ("record", "size"): Aggregate(lambda e: e.id and str(len(e.id)), summary).each_change,
        ("reduced", "batch"): Aggregate(KEY, reduced).per_batch,
        ("reduced", "each"): Aggregate(KEY, reduced).each_change,
    }
    _compare(app, spark, random_batches(seed, ["r"], 40, 30), EPOCH, expected)


@few
@given(seed=seeds)
def test_windows(spark: SparkSession, seed: int) -> None:
    app = App("windows")
    by_key = app.stream("r", value_type=READING).group_by_key()
    tumbled = by_key.windowed_by(tumbling("10 seconds").grace("4 seconds"))
    hopped = by_key.windowed_by(hopping("12 seconds", "5 seconds").grace("4 seconds"))
    of_all = {
        "n": count(), "present": count("value"), "total": sum_of("value"), "mean": avg("value"),
        "low": min_of(col("value")), "high": max_of("value"),
    }  # fmt: skip
    reduction: dict[str, Any] = {
        "id": "if(length(new.id) >= length(old.id), new.id, old.id)",
        "value": "old.value - new.value",
    }
    both = {"tumbling": tumbled, "hopping": hopped}
    _merged({op: each.aggregate(of_all).to_stream() for op, each in both.items()}, "batch")
    _merged(
        {op: each.aggregate(of_all, emit="record").to_stream() for op, each in both.items()},
        "record",
    )
    _merged(
        {op: each.aggregate(of_all).suppress().to_stream() for op, each in both.items()}, "final"
    )
    reductions = {
        "tumbling": tumbled.reduce(**reduction).to_stream(),
        "hopping": hopped.reduce(**reduction, emit="record").to_stream(),
    }
    _merged(reductions, "reduced")
    _merged({"hopping": hopped.reduce(**reduction).suppress().to_stream()}, "reduced-final")
    kept = {
        "tumbling": tumbled.aggregate(of_all, late_to="late-tumbling").to_stream(),
        "hopping": hopped.aggregate(of_all, emit="record", late_to="late-hopping").to_stream(),
    }
    _merged(kept, "kept")

    def reference(
        windows: Windows, fold: Callable[..., Value], *, own_clock: bool
    ) -> WindowedAggregate:
        return WindowedAggregate(KEY, fold, windows, own_clock=own_clock)

    tumbling_kept = reference(TUMBLING, summary, own_clock=True)
    hopping_kept = reference(HOPPING, summary, own_clock=True)
    expected: dict[tuple[str, str], Callable[[Batch], Iterable[Result]]] = {
        ("batch", "tumbling"): reference(TUMBLING, summary, own_clock=False).per_batch,
        ("batch", "hopping"): reference(HOPPING, summary, own_clock=False).per_batch,
        ("record", "tumbling"): reference(TUMBLING, summary, own_clock=True).each_change,
        ("record", "hopping"): reference(HOPPING, summary, own_clock=True).each_change,
        ("final", "tumbling"): reference(TUMBLING, summary, own_clock=False).final,
        ("final", "hopping"): reference(HOPPING, summary, own_clock=False).final,
        ("reduced", "tumbling"): reference(TUMBLING, reduced, own_clock=True).per_batch,
        ("reduced", "hopping"): reference(HOPPING, reduced, own_clock=True).each_change,
        ("reduced-final", "hopping"): reference(HOPPING, reduced, own_clock=True).final,
        ("kept", "tumbling"): tumbling_kept.per_batch,
        ("kept", "hopping"): hopping_kept.each_change,
    }
    late = _compare(
        app, spark, random_batches(seed, ["r"], 40, 30), EPOCH, expected,
        aside=["late-tumbling", "late-hopping"],
    )  # fmt: skip
    for topic, kept_aside in (("late-tumbling", tumbling_kept), ("late-hopping", hopping_kept)):
        found = [(e.key, e.value, _seconds(e.timestamp, EPOCH)) for e in late[topic]]
        wanted = [(e.key, shown(e.value), e.time) for e in kept_aside.late]
        assert wanted or not seed, "the example has late records"
        assert sorted(map(_text, found)) == sorted(map(_text, wanted)), topic


@few
@given(seed=seeds)
def test_joins_with_tables(spark: SparkSession, seed: int) -> None:
    app = App("tables")
    stream = app.stream("r", value_type=READING)
    table = app.table("t", value_type=READING)
    everywhere = app.global_table("g", value_type=READING)

    def both(left: Value, right: Value | None) -> Value:
        found = None if right is None else right["value"]
        return {"l": left["value"], "r": found, "id": None if right is None else right["id"]}

    fields: dict[str, Any] = {"l": "left.value", "r": col("right.value"), "id": "right.id"}
    _merged(
        {
            "inner": stream.join(table, **fields),
            "left": stream.left_join(table, both, returns="l bigint, r bigint, id string"),
            "global": stream.join(everywhere, **fields, on="id"),
            "global-left": stream.left_join(everywhere, **fields, on="substring(id, 1, 1)"),
        },
        "out",
    )

    def reference(join: TableJoin, topic: str) -> Callable[[Batch], list[Result]]:
        def joined(batch: Batch) -> list[Result]:
            found = join.joined(_of(batch, "r"), _of(batch, topic))
            return [_joined(event, value) for event, value in found]

        return joined

    def _joined(event: Event, found: Value | None) -> Result:
        right = found or {"id": None, "value": None}
        value = {"l": event.number, "r": right["value"], "id": right["id"]}
        return Result(event.key, shown(value), event.time)

    expected: dict[tuple[str, str], Callable[[Batch], Iterable[Result]]] = {
        ("out", "inner"): reference(TableJoin(KEY, left=False), "t"),
        ("out", "left"): reference(TableJoin(KEY, left=True), "t"),
        ("out", "global"): reference(GlobalTableJoin(ID, left=False), "g"),
        ("out", "global-left"): reference(
            GlobalTableJoin(lambda e: (e.id or "-")[0], left=True), "g"
        ),
    }
    batches = random_batches(seed, ["r", "r", "t", "g"], 60, 30)
    _compare(app, spark, batches, LATER, expected, by_key=False)


@few
@given(seed=seeds)
@example(seed=119)  # has a record whose span ends before the oldest one that is kept
def test_joins_of_streams(spark: SparkSession, seed: int) -> None:
    app = App("pairs")
    left, right = (app.stream(topic, value_type=READING) for topic in ("l", "r"))
    window = between("3 seconds", "6 seconds").grace("2 seconds")
    fields: dict[str, Any] = {
        "l": "left.value",
        "li": "left.id",
        "r": "right.value",
        "ri": col("right.id"),
    }

    def both(one: Value | None, other: Value | None) -> Value:
        one, other = one or {}, other or {}
        return {
            "l": one.get("value"), "li": one.get("id"),
            "r": other.get("value"), "ri": other.get("id"),
        }  # fmt: skip

    _merged(
        {
            "inner": left.join(right, **fields, window=window),
            "left": left.left_join(right, **fields, window=window),
            "outer": left.outer_join(
                right, both, returns="l bigint, li string, r bigint, ri string", window=window
            ),
        },
        "out",
    )

    def reference(kind: Literal["inner", "left", "outer"]) -> Callable[[Batch], list[Result]]:
        join = StreamJoin(kind, 3, 6, 2)
        return lambda batch: [
            pair(*found) for found in join.joined(_of(batch, "l"), _of(batch, "r"))
        ]

    def pair(one: Event | None, other: Event | None) -> Result:
        sides = [each for each in (one, other) if each is not None]
        value = both(*(None if each is None else each.value for each in (one, other)))
        return Result(sides[0].key, shown(value), max(each.time for each in sides))

    # Two far in the future, which close everything before them.
    end = [Event(topic, "end", {"id": "end", "value": 0}, 1000) for topic in ("l", "r")]
    batches = [*map(_of_all_sizes, random_batches(seed, ["l", "r"], 40, 30)), end]
    kinds: tuple[Literal["inner", "left", "outer"], ...] = ("inner", "left", "outer")
    _compare(app, spark, batches, LATER, {("out", kind): reference(kind) for kind in kinds})


def _of_all_sizes(batch: Batch) -> Batch:
    """Make some of them so long that a key's state has no room for them beside the others."""
    return [
        replace(each, value=each.value | {"id": each.value["id"] * 2000})
        if each.value is not None and (each.value["value"] or 0) % 3 == 0
        else each
        for each in batch
    ]


def _merged(streams: dict[str, KStream], topic: str) -> None:
    first, *others = [stream.map_values("*", op=lit(label)) for label, stream in streams.items()]
    first.merge(*others).to(topic)


def _compare(
    app: App,
    spark: SparkSession,
    batches: list[Batch],
    start: datetime,
    expected: dict[tuple[str, str], Callable[[Batch], Iterable[Result]]],
    aside: Iterable[str] = (),
    *,
    by_key: bool = True,
) -> dict[str, list[OutputRecord]]:
    """Compare what each batch gives, in the order of each key; return what was put aside."""
    put_aside: dict[str, list[OutputRecord]] = defaultdict(list)
    with TopologyDriver(app, spark) as driver:
        for number, batch in enumerate(batches):
            _pipe(driver, batch, start)
            found = {
                (topic, label): records
                for topic in {topic for topic, _ in expected}
                for label, records in _by_label(driver.read(topic), start).items()
            }
            for name, reference in expected.items():
                wanted, actual = list(reference(batch)), found.pop(name, [])
                if by_key:
                    assert _keyed(actual) == _keyed(wanted), (number, name)
                else:
                    assert sorted(map(_text, actual)) == sorted(map(_text, wanted)), (number, name)
            assert not found
            for topic in aside:
                put_aside[topic] += driver.read(topic)
    return put_aside


def _pipe(driver: TopologyDriver, batch: Batch, start: datetime) -> None:
    for event in batch:
        at = start + timedelta(seconds=event.time)
        driver.pipe(event.topic, event.key, event.value, timestamp=at)


def _by_label(records: list[OutputRecord], start: datetime = LATER) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = defaultdict(list)
    for record in records:
        value = {
            name: _seconds(datetime.fromisoformat(each), start) if "window" in name else each
            for name, each in record.value.items()
        }
        label = str(value.pop("op"))
        found[label].append(Result(record.key, value, _seconds(record.timestamp, start)))
    return found


def _keyed(results: Iterable[Result]) -> dict[Any, list[tuple[Value | None, int]]]:
    """Return the results of each key, and of each window of it, in order."""
    found: dict[Any, list[tuple[Value | None, int]]] = defaultdict(list)
    for key, value, time in results:
        found[key, (value or {}).get("window_start")].append((value, time))
    return dict(found)


def _plain(driver: TopologyDriver, topic: str) -> list[tuple[Any, Any]]:
    return [(record.key, record.value) for record in driver.read(topic)]


def _text(result: Iterable[Any]) -> str:
    return json.dumps(list(result), sort_keys=True)


def _seconds(time: datetime, start: datetime) -> int:
    return round((time - start).total_seconds())


def _of(batch: Batch, topic: str) -> Batch:
    return [event for event in batch if event.topic == topic]
