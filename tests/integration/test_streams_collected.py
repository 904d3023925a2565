"""Aggregates that keep values, and statistics, against a plain-Python reference.

All of them are results of one operator, so that a run of Spark tries them all.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.integration.collected_reference import collected, rounded, table_statistics
from tests.integration.streams_reference import Aggregate, random_batches
from tests.integration.tables_reference import TableGroups, random_tables
from tests.spark_session import one_partition, spark

from headwater.streams import App, session
from headwater.streams import functions as F  # noqa: N812 - as all of Spark's users know it
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Batch, Value

    from headwater.plan.expressions.aggregations import Aggregation
    from headwater.plan.nodes import Emit

__all__ = ["one_partition", "spark"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EMITS: tuple[Emit, ...] = ("record", "batch")


def _statistics(column: str) -> dict[str, Aggregation]:
    return {
        "kinds": F.count_distinct(column),
        "variance": F.stddev_samp(column),
        "deviation": F.stddev_sample(column),
        "related": F.correlation(column, F.col(column) * F.col(column)),
        "only": F.attr(column),
    }


_COLLECTED: dict[str, Aggregation] = {
    "listed": F.collect_list("value", 4),
    "different": F.collect_set("value"),
    "earliest": F.earliest_by_offset("value"),
    "earliest_of_all": F.earliest_by_offset("value", ignore_nulls=False),
    "latest": F.latest_by_offset("value"),
    "latest_three": F.latest_by_offset("value", 3),
    "greatest": F.topk("value", 3),
    "greatest_ids": F.topk("value", 2, "id"),
    "greatest_different": F.topkdistinct("value", 3),
    **_statistics("value"),
    "bars": F.histogram("id"),
    "only_id": F.attr("id"),
}


def test_streams_give_what_the_reference_does(spark: SparkSession) -> None:
    app = App("collected")
    grouped = app.stream("r", value_type="id string, value int").group_by_key()
    for emit in _EMITS:
        grouped.aggregate(_COLLECTED, emit=emit).to_stream().to(emit)
    references = {emit: Aggregate(lambda event: event.key, collected) for emit in _EMITS}
    with TopologyDriver(app, spark) as driver:
        for batch in random_batches(7, ["r"], 40, 40):
            _pipe(driver, batch)
            for emit, reference in references.items():
                results = (
                    list(reference.each_change(batch))
                    if emit == "record"
                    else reference.per_batch(batch)
                )
                found = [(each.key, rounded(each.value)) for each in driver.read(emit)]
                expected = [(each.key, rounded(each.value)) for each in results]
                assert _by_key(found) == _by_key(expected), emit


def test_rows_of_a_table_are_taken_back(spark: SparkSession) -> None:
    app = App("taken-back")
    grouped = app.table("t", value_type="n int").group_by("n % 3")
    results = {"listed": F.collect_list("n"), "bars": F.histogram(F.expr("cast(n AS string)"))}
    table = grouped.aggregate({**results, **_statistics("n")}, emit="record")
    table.to_stream().to("statistics", key="json")
    reference = TableGroups(lambda value: value["n"] % 3, _replaced, each=True)
    with TopologyDriver(app, spark) as driver:
        for batch in random_tables(3, ["t"], keys=12, size=120):
            _pipe(driver, batch)
            found = [(each.key, rounded(each.value)) for each in driver.read("statistics")]
            changes = reference.of(batch, "t")
            expected = [
                (key, rounded(_shown(change.value))) for key in changes for change in changes[key]
            ]
            assert _by_key(found) == _by_key(expected)


def test_sessions_that_meet_put_their_values_together(spark: SparkSession) -> None:
    app = App("sessions")
    readings = app.stream("r", value_type="id string, value int").group_by_key()
    visits = readings.windowed_by(session("10 seconds").grace("1 minute"))
    visits.aggregate(_COLLECTED, emit="record").to_stream().to("visits")
    events = [(0, 5, "a"), (15, None, "b"), (7, 3, "a"), (8, 5, "c")]
    with TopologyDriver(app, spark) as driver:
        for seconds, number, id_ in events:
            at = _EPOCH + timedelta(seconds=seconds)
            driver.pipe("r", "k", {"id": id_, "value": number}, timestamp=at)
        last = driver.read("visits")[-1].value
    merged = collected([{"id": id_, "value": number} for _, number, id_ in events])
    # Lists are put together session by session; what arrived first is known of each value.
    in_sessions = {"listed": [5, None, 3, 5], "different": [5, None, 3], "greatest_ids": [
        {"sort_col": 5, "col0": "a"}, {"sort_col": 5, "col0": "c"}]}  # fmt: skip
    found = {name: last.get(name) for name in _COLLECTED}
    assert rounded(found) == rounded({**merged, **in_sessions})


def _pipe(driver: TopologyDriver, batch: Batch) -> None:
    for event in batch:
        at = _EPOCH + timedelta(seconds=event.time)
        driver.pipe(event.topic, event.key, event.value, timestamp=at)


def _by_key(results: list[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for key, value in results:
        found.setdefault(key, []).append(value)
    return found


def _replaced(rows: list[int] | None, old: Value | None, new: Value | None) -> list[int]:
    left = list(rows or ())
    if old is not None:
        left.reverse()
        left.remove(old["n"])
        left.reverse()
    return left + ([] if new is None else [new["n"]])


def _shown(rows: Any) -> Value:
    bars: dict[str, int] = {}
    for number in rows:
        bars[str(number)] = bars.get(str(number), 0) + 1
    return {"listed": rows, "bars": bars, **table_statistics(rows)}
