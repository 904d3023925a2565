"""Joins of tables against a plain-Python reference, on random records.

Every key is an example of its own, and all operators are one query: one run tries many of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.tables_reference import (
    TablesJoin,
    changes_of,
    counted,
    mapped,
    random_tables,
)
from tests.integration.tables_topic import run_batch, shown_changes, write_all
from tests.spark_session import spark

from headwater.streams import App, KTable
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Value

    from headwater.plan.nodes import Emit

__all__ = ["spark"]

KINDS = ("inner", "left", "outer")
FIELDS: dict[str, Any] = {"l": "left.n", "r": "right.n"}


def both(left: Value | None, right: Value | None) -> Value:
    return {"l": left and left["n"], "r": right and right["n"]}


def join(left: KTable, right: KTable, kind: str, emit: Emit) -> KTable:
    method = {"inner": left.join, "left": left.left_join, "outer": left.outer_join}[kind]
    return method(right, emit=emit, **FIELDS)


def test_pairs_change_with_either_row(spark: SparkSession) -> None:
    app = App("pairs")
    left, right = (app.table(topic, value_type="n int") for topic in ("l", "r"))
    tables = {
        f"{kind}-{emit}": join(left, right, kind, emit)
        for kind in KINDS
        for emit in ("record", "batch")
    }

    def function(one: Value | None, other: Value | None) -> Value:
        return {"l": one and one["n"], "r": other and other["n"]}

    tables["function"] = left.outer_join(right, function, returns="l int, r int", emit="record")
    write_all(tables)
    references = {
        f"{kind}-{emit}": TablesJoin(kind, each=emit == "record")
        for kind in KINDS
        for emit in ("record", "batch")
    }
    references["function"] = TablesJoin("outer", each=True)
    batches = random_tables(1, ["l", "r"], keys=100, size=1000)
    with TopologyDriver(app, spark) as driver:
        for batch in batches:
            found = run_batch(driver, batch)
            lefts, rights = changes_of(batch, "l"), changes_of(batch, "r")
            for name, reference in references.items():
                assert found[name] == shown_changes(reference.of(lefts, rights, both)), name


def test_pairs_are_tables_like_others(spark: SparkSession) -> None:
    """They are filtered, joined again and counted, in one query, each result in its order."""
    app = App("chain", emit="record")
    a, b, c = (app.table(topic, value_type="n int") for topic in "abc")
    pairs = a.left_join(b, **FIELDS)
    kept = a.filter("n > 3").outer_join(b.map_values(n="n + 1"), **FIELDS)
    chained = pairs.map_values(n="l").outer_join(c, **FIELDS)
    counts = pairs.to_stream().group_by_key().count()
    tables = {
        "kept": kept.filter("l IS NULL OR r > 5"),
        "chained": chained,
        "counts": counts,
        "counts-joined": counts.map_values(n="cast(count AS int)").left_join(c, **FIELDS),
    }
    write_all(tables)
    joins = {name: TablesJoin("outer", each=True) for name in ("kept", "chained")}
    joins |= {name: TablesJoin("left", each=True) for name in ("pairs", "counts-joined")}
    how_many: dict[Any, int] = {}
    latest: dict[Any, int] = {}
    with TopologyDriver(app, spark) as driver:
        for batch in random_tables(3, ["a", "b", "c"], keys=100, size=1000):
            found = run_batch(driver, batch)
            of_a, of_b, of_c = (changes_of(batch, topic) for topic in "abc")
            over_3 = mapped(of_a, lambda value: value if value["n"] > 3 else None)
            more = mapped(of_b, lambda value: {"n": value["n"] + 1})
            expected = mapped(
                joins["kept"].of(over_3, more, both),
                lambda value: value if value["l"] is None or (value["r"] or 0) > 5 else None,
            )
            assert found["kept"] == shown_changes(expected)
            paired = joins["pairs"].of(of_a, of_b, both)
            lefts = mapped(paired, lambda value: {"n": value["l"]})
            assert found["chained"] == shown_changes(joins["chained"].of(lefts, of_c, both))
            counting = counted(paired, how_many, latest)
            assert found["counts"] == shown_changes(counting)
            numbers = mapped(counting, lambda value: {"n": value["count"]})
            assert found["counts-joined"] == shown_changes(
                joins["counts-joined"].of(numbers, of_c, both)
            )
