"""Operators through the compiler and Spark, without a broker."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark_session import spark

from headwater.plan.nodes import ChangelogMode, Changes, Source, ToStream
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import STRING
from headwater.spark.compiler.nodes import NodeCompiler
from headwater.spark.formats.schemas import Schemas
from headwater.spark.sources.registry import READERS
from headwater.spark.topics import TopicReader
from headwater.streams import App, PlanError, avg, call, col, count, sum, tumbling, within  # noqa: A004
from headwater.testing import TopologyDriver, TopologyFailed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["spark"]

START = datetime(2026, 1, 1, tzinfo=UTC)
READING = "id string, value bigint"


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def readings(driver: TopologyDriver, *values: tuple[str, int, float], topic: str = "r") -> None:
    for id_, value, seconds in values:
        driver.pipe(topic, id_, {"id": id_, "value": value}, timestamp=at(seconds))


def results(driver: TopologyDriver, topic: str) -> list[tuple[Any, Any]]:
    return [(record.key, record.value) for record in driver.read(topic)]


def test_stateless_operators_share_one_reading(spark: SparkSession) -> None:
    app = App("stateless")
    stream = app.stream("r", value_type=READING)
    stream.filter(col("value") > 5).to("high")
    stream.filter_not(col("value") > 5).map_values(col("value") * 2).to("low", value="long")
    stream.select_key("value").to("keyed", key="long")
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0), ("b", 9, 1))
        assert results(driver, "high") == [("b", {"id": "b", "value": 9})]
        assert results(driver, "low") == [("a", 2)]
        assert [key for key, _ in results(driver, "keyed")] == [1, 9]


def test_python_functions_expand_and_choose(spark: SparkSession) -> None:
    app = App("python")
    stream = app.stream("r", value_type=READING)

    def twice(value: dict[str, Any]) -> list[int]:
        return [value["value"], -value["value"]]

    stream.filter(lambda value: value["value"] != 2).flat_map_values(twice, returns="bigint").to(
        "out", value="long"
    )
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0), ("a", 2, 1), ("b", 3, 2))
        assert results(driver, "out") == [("a", 1), ("a", -1), ("b", 3), ("b", -3)]


def test_windows_close_when_a_later_record_comes(spark: SparkSession) -> None:
    app = App("windows")
    by_minute = (
        app.stream("r", value_type=READING)
        .group_by_key()
        .windowed_by(tumbling("1 minute").grace("10 seconds"))
    )
    by_minute.aggregate(n=count(), mean=avg("value")).suppress().to_stream().to("final")
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0), ("a", 3, 59))
        assert results(driver, "final") == []
        readings(driver, ("a", 5, 61))
        assert results(driver, "final") == [], "the grace has not passed"
        readings(driver, ("a", 7, 115))
        ((key, value),) = results(driver, "final")
        assert (key, value["n"], value["mean"]) == ("a", 2, 2.0)
        readings(driver, ("a", 100, 30), ("b", 1, 300))
        ((key, value),) = results(driver, "final")
        assert (key, value["n"]) == ("a", 2), "the late record is in no window"


def test_a_record_meets_the_table_as_it_stood(spark: SparkSession) -> None:
    app = App("tables")
    units = app.table("units", value_type="unit string")
    app.stream("r", value_type=READING).left_join(units, unit="unit", v="value").to("out")
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0))
        driver.pipe("units", "a", {"unit": "C"}, timestamp=at(1))
        readings(driver, ("a", 2, 2))
        driver.pipe("units", "a", None, timestamp=at(3))
        readings(driver, ("a", 3, 4))
        assert results(driver, "out") == [
            ("a", {"v": 1}),
            ("a", {"unit": "C", "v": 2}),
            ("a", {"v": 3}),
        ]


def test_each_change_comes_out_and_reductions_fold(spark: SparkSession) -> None:
    app = App("changes")
    stream = app.stream("r", value_type=READING)
    stream.group_by_key().aggregate(total=sum("value"), emit="record").to_stream().to("totals")
    stream.map_values(col("value")).group_by_key().reduce("greatest(old, new)").to_stream().to(
        "peaks", value="long"
    )
    # A literal is never null; what is made of it later may be.
    seen = stream.map_values(value="value", more="false").group_by_key()
    seen.reduce(value="new.value", more="new.value > old.value").to_stream().to("seen")
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0), ("a", 5, 1), ("a", 2, 2))
        assert results(driver, "seen") == [("a", {"value": 2, "more": False})]
        assert [value["total"] for _, value in results(driver, "totals")] == [1, 6, 8]
        assert results(driver, "peaks")[-1] == ("a", 5)
        readings(driver, ("a", 9, 3))
        assert results(driver, "peaks") == [("a", 9)]


def test_streams_are_joined_within_a_window_and_stages_are_chained(spark: SparkSession) -> None:
    app = App("chained")
    left = app.stream("left", value_type=READING)
    right = app.stream("right", value_type=READING)
    joined = left.join(right, x="left.value", y="right.value", window=within("10 seconds"))
    joined.through("joined").group_by_key().count().to_stream().to("counts")
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0), ("a", 2, 100), topic="left")
        readings(driver, ("a", 10, 5), ("a", 20, 50), topic="right")
        assert results(driver, "joined") == [("a", {"x": 1, "y": 10})]
        assert results(driver, "counts") == [("a", {"count": 1})]


def test_malformed_records_are_put_aside(spark: SparkSession) -> None:
    app = App("malformed")
    app.stream("r", value_type=READING, dead_letter="dead").to("out")
    with TopologyDriver(app, spark) as driver:
        driver.pipe("r", "a", b"{rubbish", timestamp=START)
        readings(driver, ("a", 1, 1))
        assert results(driver, "out") == [("a", {"id": "a", "value": 1})]
        (dead,) = driver.read("dead")
        assert dead.value == b"{rubbish"
        headers = dict(dead.headers)
        assert headers["headwater.topic"] == b"r"
        assert headers["headwater.offset"] == b"0"
        assert b"no JSON" in (headers["headwater.reason"] or b"")


def test_what_spark_refuses_is_reported_at_its_line(spark: SparkSession) -> None:
    app = App("refused")
    stream = app.stream("r", value_type=READING)
    stream.filter(call("no_such_function", col("value")).cast("boolean")).to("out")
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0))
        with pytest.raises(PlanError, match=r"test_spark_compiler\.py:\d+: Spark refuses"):
            driver.run()


def test_what_fails_on_a_record_is_told_in_a_line(spark: SparkSession) -> None:
    app = App("failing")

    def refuse(value: dict[str, Any]) -> int:
        raise ValueError(f"{value['value']} is too much")

    app.stream("r", value_type=READING).map_values(refuse, returns="bigint").to("out")
    with TopologyDriver(app, spark) as driver:
        with pytest.raises(ValueError, match=r"no field 'valeu' from 'r' .* did you mean 'value'"):
            driver.pipe("r", "a", {"valeu": 1})
        readings(driver, ("a", 7, 0))
        with pytest.raises(TopologyFailed) as failed:
            driver.run()
    (line,) = str(failed.value).splitlines()
    assert line.startswith("r: ValueError: 7 is too much")
    assert "test_spark_compiler.py" in line


def test_late_records_are_kept_aside(spark: SparkSession) -> None:
    app = App("late")
    by_minute = app.stream("r", value_type=READING).group_by_key().windowed_by(tumbling("1 minute"))
    by_minute.count(late_to="late").to_stream().to("counts")
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0), ("a", 2, 300))
        driver.run()
        readings(driver, ("a", 3, 0))
        assert results(driver, "late") == [("a", {"id": "a", "value": 3})]
        assert [value["count"] for _, value in results(driver, "counts")] == [1, 1]


def test_a_group_by_several_columns(spark: SparkSession) -> None:
    app = App("columns")
    stream = app.stream("r", value_type=READING)
    counts = stream.group_by("id", "value % 2 AS parity").count(emit="record")
    counts.to_stream().filter("key.parity = 1").to("odd")
    with TopologyDriver(app, spark) as driver:
        readings(driver, ("a", 1, 0), ("a", 2, 1), ("b", 3, 2), ("a", 5, 3))
        assert sorted(results(driver, "odd"), key=str) == [
            ({"id": "a", "parity": 1}, {"count": 1}),
            ({"id": "a", "parity": 1}, {"count": 2}),
            ({"id": "b", "parity": 1}, {"count": 1}),
        ]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Units(Source):
    """A source of this test's own: a table in memory."""

    rows: tuple[tuple[str, str | None], ...]
    places = reads = ("units",)
    summary = "units"
    changelog = ChangelogMode.UPSERT


class _UnitsReader:
    def rows(self, source: _Units, compiler: NodeCompiler) -> DataFrame:
        rows = [(*row, at(second)) for second, row in enumerate(source.rows)]
        return compiler.spark.createDataFrame(rows, "key string, value string, timestamp timestamp")


def test_a_source_is_found_by_its_type_and_changes_know_what_they_replace(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(READERS, _Units, _UnitsReader())  # type: ignore[misc]
    row = RowType(STRING, STRING)
    units = _Units(id="units", row=row, rows=(("a", "V"), ("a", "kV"), ("b", "A"), ("a", None)))
    changes = Changes(id="changes", parents=(units,), row=row)
    compiler = NodeCompiler(spark, TopicReader(spark, "nowhere:1"), Schemas(None))
    rows = compiler.rows(changes)
    found = [tuple(each) for each in rows.select("key", "value", "old_value").collect()]
    assert [each for each in found if each[0] == "a"] == [
        ("a", "V", None),
        ("a", "kV", "V"),
        ("a", None, "kV"),
    ]
    stream = ToStream(id="stream", parents=(changes,), row=row)
    assert "old_value" not in compiler.rows(stream).columns
