"""Aggregates of tables against a plain-Python reference, on random records.

All aggregates are one query, and each batch has hundreds of rows that move between the groups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.integration.tables_reference import TableGroups, random_tables
from tests.integration.tables_topic import run_batch, shown_changes, write_all
from tests.spark_session import spark

from headwater.streams import App, avg, count
from headwater.streams import sum as sum_of
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Value

    from headwater.plan.nodes import Emit

__all__ = ["spark"]

EMITS: tuple[Emit, ...] = ("record", "batch")


def test_rows_move_between_groups(spark: SparkSession) -> None:
    app = App("groups")
    table = app.table("t", value_type="n int")
    numbers = table.map_values(n="n", some="nullif(n, 4)")
    by_rest = numbers.group_by("nullif(n % 4, 3)")
    tables = {
        f"sums-{emit}": by_rest.aggregate(
            rows=count(), some=count("some"), total=sum_of("some"),
            mean=avg("n"), emit=emit,
        )
        for emit in EMITS
    }  # fmt: skip
    kept = table.filter("n > 2").map_values(n="n * 10").group_by("n % 30")
    tables["counts"] = kept.count(emit="record")
    tables["reduced"] = kept.reduce({"n": "old.n + new.n"}, undo={"n": "old.n - new.n"})
    write_all(tables, key="cast(key AS string)")
    sums = {f"sums-{emit}": TableGroups(_rest, _summed, each=emit == "record") for emit in EMITS}
    counts = TableGroups(lambda value: value["n"] % 30, _counted, each=True)
    reduced = TableGroups(lambda value: value["n"] % 30, _added, each=False)
    with TopologyDriver(app, spark) as driver:
        for batch in random_tables(1, ["t"], keys=100, size=600):
            found = run_batch(driver, batch)
            for name, reference in sums.items():
                expected = shown_changes(reference.of(batch, "t"), _shown_sums)
                assert found[name] == expected, name
            tens = [replace(event, value=_tens(event.value)) for event in batch]
            assert found["counts"] == shown_changes(counts.of(tens, "t"))
            assert found["reduced"] == shown_changes(reduced.of(tens, "t"))


def _rest(value: Value) -> int | None:
    rest: int = value["n"] % 4
    return None if rest == 3 else rest


def _tens(value: Value | None) -> Value | None:
    return None if value is None or value["n"] <= 2 else {"n": value["n"] * 10}


def _summed(result: list[int] | None, old: Value | None, new: Value | None) -> list[int]:
    numbers = list(result or ())
    if old is not None:
        numbers.remove(old["n"])
    return numbers + ([] if new is None else [new["n"]])


def _shown_sums(numbers: list[int]) -> Value:
    some = [number for number in numbers if number != 4]
    return {
        "rows": len(numbers),
        "some": len(some),
        "total": sum(some) if some else None,
        "mean": sum(numbers) / len(numbers) if numbers else None,
    }


def _counted(result: Value | None, old: Value | None, new: Value | None) -> Value:
    before = 0 if result is None else result["count"]
    return {"count": before - (old is not None) + (new is not None)}


def _added(result: Value | None, old: Value | None, new: Value | None) -> Value | None:
    left: Any = result and result["n"]
    if old is not None and left is not None:
        left -= old["n"]
    if new is not None:
        left = new["n"] if left is None else left + new["n"]
    return None if left is None else {"n": left}
