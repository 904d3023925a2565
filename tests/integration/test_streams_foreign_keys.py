"""Joins of tables by foreign key against a plain-Python reference, on random records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.foreign_keys_reference import (
    LEFT,
    RIGHT,
    ForeignKeyJoin,
    random_references,
)
from tests.integration.tables_topic import run_batch, shown_changes, write_all
from tests.spark_session import spark

from headwater.streams import App, KTable
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Event, Value

    from headwater.plan.nodes import Emit

__all__ = ["spark"]

FIELDS: dict[str, Any] = {"l": "left.n", "r": "right.n"}
CASES: tuple[tuple[str, Emit], ...] = (
    ("inner", "record"),
    ("left", "record"),
    ("inner", "batch"),
    ("left", "batch"),
)

Found = dict[str, list[Any]]


def both(left: Value | None, right: Value | None) -> Value:
    return {"l": left and left["n"], "r": right and right["n"]}


def join(left: KTable, right: KTable, kind: str, emit: Emit) -> KTable:
    method = left.join if kind == "inner" else left.left_join
    return method(right, foreign_key="to", emit=emit, **FIELDS)


def tables_of(app: App) -> tuple[KTable, KTable]:
    return app.table(LEFT, value_type="n int, to string"), app.table(RIGHT, value_type="n int")


def program() -> App:
    app = App("references")
    left, right = tables_of(app)
    write_all({f"{kind}-{emit}": join(left, right, kind, emit) for kind, emit in CASES})
    return app


def test_pairs_follow_their_references(spark: SparkSession) -> None:
    references = {
        f"{kind}-{emit}": ForeignKeyJoin(kind, each=emit == "record") for kind, emit in CASES
    }
    with TopologyDriver(program(), spark) as driver:
        for batch in random_references(1, keys=60, foreign_keys=8, size=700):
            found = run_batch(driver, batch)
            for name, reference in references.items():
                expected: Found = shown_changes(reference.of(batch, both))
                seen: Found = found[name]
                if name.endswith("batch"):
                    seen, expected = (
                        _tombstones_at_any_time(seen),
                        _tombstones_at_any_time(expected),
                    )
                assert seen == expected, name


def test_the_last_pairs_do_not_depend_on_the_order_of_time(spark: SparkSession) -> None:
    references = {f"{kind}-{emit}": ForeignKeyJoin(kind, each=True) for kind, emit in CASES}
    last: dict[str, dict[str, Any]] = {name: {} for name in references}
    expected: dict[str, dict[str, Any]] = {name: {} for name in references}
    with TopologyDriver(program(), spark) as driver:
        for batch in random_references(2, keys=60, foreign_keys=8, size=700, disorder=40):
            found = run_batch(driver, batch)
            for name, reference in references.items():
                last[name] |= _last(found[name])
                expected[name] |= _last(shown_changes(reference.of(batch, both)))
                assert _there(last[name]) == _there(expected[name]), name


def test_pairs_are_joined_again(spark: SparkSession) -> None:
    """What a foreign key says of a row comes before what the next one says."""
    app = App("chain", emit="record")
    left, right = tables_of(app)
    pairs = left.left_join(right, foreign_key="to", n="left.n", to="concat('f0', left.n % 8)")
    write_all({"again": pairs.join(right, foreign_key="to", **FIELDS)})
    (batch,) = random_references(3, keys=40, foreign_keys=8, size=400, batches=1)
    with TopologyDriver(app, spark) as driver:
        found = run_batch(driver, batch)["again"]
    rows: dict[tuple[str, str], Event] = {
        (event.topic, event.key): event for event in batch if event.key is not None
    }
    expected = {}
    for (topic, key), event in rows.items():
        if topic == LEFT and event.value is not None:
            partner = rows.get((RIGHT, f"f0{event.value['n'] % 8}"))
            if partner is not None and partner.value is not None:
                expected[key] = f'{{"l":{event.value["n"]},"r":{partner.value["n"]}}}'
    assert _there(_last(found)) == expected


def _tombstones_at_any_time(found: Found) -> Found:
    """Within a batch, it is open which of several causes a tombstone has."""
    return {
        key: [(value, None if value is None else time) for value, time in records]
        for key, records in found.items()
    }


def _last(found: Found) -> dict[str, Any]:
    return {key: records[-1][0] for key, records in found.items()}


def _there(last: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in last.items() if value is not None}
