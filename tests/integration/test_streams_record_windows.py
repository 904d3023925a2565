"""Windows whose bounds are those of records, against a plain-Python reference, on random records.

Every key is an example of its own, and operators share a query: one run tries many of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.streams_reference import Event
from tests.integration.tables_topic import START, run_batch, shown_changes, write_all
from tests.integration.windows_reference import (
    DIFFERENCE,
    SUM,
    SUMMARY,
    Fold,
    SessionAggregate,
    SlidingAggregate,
    random_events,
)
from tests.spark_session import spark

from headwater.streams import App, KTable, avg, count, session, sliding
from headwater.streams import max as max_of
from headwater.streams import min as min_of
from headwater.streams import sum as sum_of
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Value

__all__ = ["spark"]

GAP, GRACE = 5, 4
OF_ALL = {
    "n": count(), "total": sum_of("n"), "mean": avg("n"), "low": min_of("n"), "high": max_of("n"),
}  # fmt: skip
NAMES = {name: name for name in OF_ALL}
# Where the order of values shows; as JSON has it.
IN_ORDER = Fold(
    lambda n: f"{n} ", lambda one, other: one + other, lambda value: {"text": f'"{value}"'}
)
TEXT = {"text": "value"}


def test_sessions_grow_merge_and_close(spark: SparkSession) -> None:
    app = App("sessions")
    readings = app.stream("r", value_type="n int")

    # Within the test, so that Spark takes it to where the module is not.
    def in_order(key: str, value: dict[str, Any], before: str) -> str:
        return f"{before}{value['n']} "

    windows = session(f"{GAP} seconds").grace(f"{GRACE} seconds")
    by_key = readings.group_by_key().windowed_by(windows)
    numbers = readings.map_values("n").group_by_key().windowed_by(windows)
    write_all(
        {
            "each": _shown(by_key.aggregate(OF_ALL, emit="record"), NAMES),
            "batch": _shown(by_key.aggregate(OF_ALL, late_to="late"), NAMES),
            "reduced": _shown(numbers.reduce("old - new", emit="record"), {"reduced": "value"}),
            "reduced-batch": _shown(numbers.reduce("old - new"), {"reduced": "value"}),
            "folded": _shown(
                by_key.aggregate(str, in_order, returns="string", emit="record"), TEXT
            ),
        }
    )
    last_folded = by_key.aggregate(str, in_order, returns="string").suppress()
    write_all(
        {
            "final": _shown(by_key.aggregate(OF_ALL).suppress(), NAMES),
            "folded-final": _shown(last_folded, TEXT),
        },
        topic="final",
    )
    write_all(
        {
            "least": _shown(
                numbers.reduce("old - new", late_to="late-final").suppress(), {"reduced": "value"}
            )
        },
        topic="least",
    )
    reference = {
        name: SessionAggregate(fold, GAP, GRACE)
        for name, fold in {
            "each": SUMMARY, "batch": SUMMARY, "reduced": DIFFERENCE, "reduced-batch": DIFFERENCE,
            "final": SUMMARY, "least": DIFFERENCE, "folded": IN_ORDER, "folded-final": IN_ORDER,
        }.items()
    }  # fmt: skip
    methods = {
        "each": reference["each"].each,
        "batch": reference["batch"].last,
        "reduced": reference["reduced"].each,
        "reduced-batch": reference["reduced-batch"].last,
        "final": reference["final"].final,
        "least": reference["least"].final,
        "folded": reference["folded"].each,
        "folded-final": reference["folded-final"].final,
    }
    late: dict[str, list[Any]] = {"late": [], "late-final": []}
    with TopologyDriver(app, spark) as driver:
        for batch in random_events(1, keys=100, size=1500, batches=2, span=40):
            found = run_batch(driver, batch, ("out", "final", "least"))
            for name, method in methods.items():
                assert found[name] == shown_changes(method(batch), _in_seconds), name
            for topic, records in late.items():
                records += [(each.key, each.value) for each in driver.read(topic)]
    wanted = sorted((each.key, each.value["n"]) for each in reference["batch"].late if each.value)
    assert len(wanted) > 10, "the examples have late records"
    assert sorted((key, value["n"]) for key, value in late["late"]) == wanted
    assert sorted(late["late-final"]) == wanted


def test_windows_slide_over_records(spark: SparkSession) -> None:
    app = App("sliding")
    readings = app.stream("r", value_type="n int")
    windows = sliding(f"{GAP} seconds").grace("1000 seconds")
    by_key = readings.group_by_key().windowed_by(windows)
    numbers = readings.map_values("n").group_by_key().windowed_by(windows)
    write_all(
        {
            "each": _shown(by_key.aggregate(OF_ALL, emit="record"), NAMES, "unix_millis"),
            "batch": _shown(by_key.aggregate(OF_ALL, late_to="late"), NAMES, "unix_millis"),
            "reduced": _shown(numbers.reduce("old + new"), {"reduced": "value"}, "unix_millis"),
            "folded": _shown(
                numbers.reduce(lambda old, new: old + new), {"reduced": "value"}, "unix_millis"
            ),
        }
    )
    final = by_key.aggregate(OF_ALL).suppress()
    write_all({"final": _shown(final, NAMES, "unix_millis")}, topic="final")
    each, batch_by_batch = SlidingAggregate(SUMMARY, GAP), SlidingAggregate(SUMMARY, GAP)
    reduced = SlidingAggregate(SUM, GAP)
    with TopologyDriver(app, spark) as driver:
        for batch in random_events(2, keys=100, size=1000, batches=2, span=40):
            found = run_batch(driver, batch, ("out", "final"))
            assert _sorted(found["each"]) == _sorted(shown_changes(each.each(batch), _in_millis))
            wanted = shown_changes(batch_by_batch.last(batch), _in_millis)
            assert _sorted(found["batch"]) == _sorted(wanted)
            wanted = shown_changes(reduced.last(batch), _in_millis)
            assert _sorted(found["reduced"]) == _sorted(wanted)
            assert _sorted(found["folded"]) == _sorted(wanted)
            assert not found["final"]
        found = run_batch(driver, [Event("r", "end", {"n": 0}, 10_000)], ("final",))
        assert found["final"] == shown_changes(each.all(), _in_millis)
        driver.read("out")
        found = run_batch(driver, [Event("r", "k001", {"n": 7}, 8_000)], ("out", "final"))
        assert not found
        assert [(late.key, late.value) for late in driver.read("late")] == [("k001", {"n": 7})]


def _sorted(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {key: sorted(results) for key, results in found.items()}


def _shown(table: KTable, fields: dict[str, str], unit: str = "unix_seconds") -> KTable:
    window = {name: f"{unit}(window_{name})" for name in ("start", "end")}
    return table.map_values(**window, **fields)


def _in_seconds(value: Value | None) -> Value:
    return _moved(value, round(START.timestamp()))


def _in_millis(value: Value | None) -> Value:
    return _moved(value, round(START.timestamp()) * 1000)


def _moved(value: Value | None, by: int) -> Value:
    assert value is not None, "a result has its window"
    return value | {"start": value["start"] + by, "end": value["end"] + by}
