"""Session windows against a plain-Python reference, on random records.

Every key is an example of its own, and operators share a query: one run tries many of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.tables_topic import START, run_batch, shown_changes, write_all
from tests.integration.windows_reference import (
    DIFFERENCE,
    SUMMARY,
    SessionAggregate,
    random_events,
)
from tests.spark_session import spark

from headwater.streams import App, KTable, avg, count, session
from headwater.streams import max as max_of
from headwater.streams import min as min_of
from headwater.streams import sum as sum_of
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Value

__all__ = ["spark"]

GAP, GRACE = 5, 4


def test_sessions_grow_merge_and_close(spark: SparkSession) -> None:
    app = App("sessions")
    readings = app.stream("r", value_type="n int")
    windows = session(f"{GAP} seconds").grace(f"{GRACE} seconds")
    by_key = readings.group_by_key().windowed_by(windows)
    numbers = readings.map_values("n").group_by_key().windowed_by(windows)
    of_all = {
        "n": count(), "total": sum_of("n"), "mean": avg("n"), "low": min_of("n"),
        "high": max_of("n"),
    }  # fmt: skip
    names = {name: name for name in of_all}
    write_all(
        {
            "each": _seconds(by_key.aggregate(of_all, emit="record"), names),
            "batch": _seconds(by_key.aggregate(of_all, late_to="late"), names),
            "reduced": _seconds(numbers.reduce("old - new", emit="record"), {"reduced": "value"}),
            "reduced-batch": _seconds(numbers.reduce("old - new"), {"reduced": "value"}),
        }
    )
    write_all({"final": _seconds(by_key.aggregate(of_all).suppress(), names)}, topic="final")
    write_all(
        {
            "least": _seconds(
                numbers.reduce("old - new", late_to="late-final").suppress(), {"reduced": "value"}
            )
        },
        topic="least",
    )
    reference = {
        name: SessionAggregate(fold, GAP, GRACE)
        for name, fold in {
            "each": SUMMARY, "batch": SUMMARY, "reduced": DIFFERENCE, "reduced-batch": DIFFERENCE,
            "final": SUMMARY, "least": DIFFERENCE,
        }.items()
    }  # fmt: skip
    methods = {
        "each": reference["each"].each,
        "batch": reference["batch"].last,
        "reduced": reference["reduced"].each,
        "reduced-batch": reference["reduced-batch"].last,
        "final": reference["final"].final,
        "least": reference["least"].final,
    }
    late: dict[str, list[Any]] = {"late": [], "late-final": []}
    with TopologyDriver(app, spark) as driver:
        for batch in random_events(1, keys=100, size=1500, batches=2, span=40):
            found = run_batch(driver, batch, ("out", "final", "least"))
            for name, method in methods.items():
                assert found[name] == shown_changes(method(batch), _since_start), name
            for topic, records in late.items():
                records += [(each.key, each.value) for each in driver.read(topic)]
    wanted = sorted((each.key, each.value["n"]) for each in reference["batch"].late if each.value)
    assert len(wanted) > 10, "the examples have late records"
    assert sorted((key, value["n"]) for key, value in late["late"]) == wanted
    assert sorted(late["late-final"]) == wanted


def _seconds(table: KTable, fields: dict[str, str]) -> KTable:
    window = {name: f"unix_seconds(window_{name})" for name in ("start", "end")}
    return table.map_values(**window, **fields)


def _since_start(value: Value | None) -> Value:
    assert value is not None, "a session has its window"
    first = round(START.timestamp())
    return value | {"start": value["start"] + first, "end": value["end"] + first}
