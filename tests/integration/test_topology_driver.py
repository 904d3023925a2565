"""The driver of users' tests: what it gives to a program, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark_session import spark

from headwater.streams import App, tumbling
from headwater.testing.topology_driver import TopologyDriver
from headwater.testing.topology_failed import TopologyFailed

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["spark"]

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_what_is_given_at_once_is_one_batch(spark: SparkSession) -> None:
    app = App("at-once")
    a, b = (app.stream(topic, value_type="n int") for topic in ("a", "b"))
    a.merge(b).group_by_key().count(emit="batch").to_stream().to("counts")
    with TopologyDriver(app, spark) as driver:
        for batch in range(1, 11):
            for topic in ("a", "b"):
                driver.pipe(topic, "key", {"n": 1})
            assert [each.value for each in driver.read("counts")] == [{"count": 2 * batch}]
        assert driver.read("counts") == []


def test_time_moves_on_within_a_run(spark: SparkSession) -> None:
    app = App("time")
    windows = app.stream("a", value_type="n int").group_by_key().windowed_by(tumbling("10 s"))
    windows.count().suppress().to_stream().to("last")
    with TopologyDriver(app, spark) as driver:
        for second in (0, 5, 10):
            driver.pipe("a", "key", {"n": 1}, timestamp=START + timedelta(seconds=second))
        assert [each.value["count"] for each in driver.read("last")] == [2]
        driver.pipe("a", "key", {"n": 1}, timestamp=START + timedelta(seconds=20))
        assert [each.value["count"] for each in driver.read("last")] == [1]


def test_a_program_that_failed_begins_again(spark: SparkSession, tmp_path: Path) -> None:
    mended = tmp_path / "mended"

    def tried(value: dict[str, Any]) -> int:
        if value["n"] == 2 and not mended.exists():
            raise ValueError("no twos")
        return int(value["n"])

    app = App("again")
    numbers = app.stream("a", value_type="n int").map_values(tried, returns="int")
    numbers.group_by_key().reduce("old + new", emit="record").to_stream().to("out", value="int")
    with TopologyDriver(app, spark) as driver:
        driver.pipe("a", "key", {"n": 1})
        assert [each.value for each in driver.read("out")] == [1]
        driver.pipe("a", "key", {"n": 2})
        with pytest.raises(TopologyFailed, match="no twos"):
            driver.run()
        mended.touch()
        driver.pipe("a", "key", {"n": 3})
        assert [each.value for each in driver.read("out")] == [3, 6]


def test_nothing_runs_when_a_driver_is_closed(spark: SparkSession) -> None:
    before = _running(spark)
    app = App("closed")
    app.stream("a", value_type="n int").filter("n > 1").to("out")
    with TopologyDriver(app, spark) as driver:
        driver.pipe("a", "key", {"n": 2})
        assert len(driver.read("out")) == 1
        (query,) = _running(spark) - before
    assert query not in _running(spark)


def _running(spark: SparkSession) -> set[str]:
    """Return the queries of all sessions that share this one's JVM."""
    known: Any = spark
    queries = known._jsparkSession.sharedState().activeStreamingQueries()
    return {str(each) for each in queries.keySet().toArray()}
