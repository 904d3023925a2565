"""Nodes: all of them are known, nobody forgets one, and each takes what it says it takes."""

from __future__ import annotations

import ast
import typing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.plan.node_classes import classes_below
from tests.unit.plan.representative_programs import PROGRAMS, app_of

import headwater
from headwater.plan.checks import check_plan
from headwater.plan.errors import PlanError
from headwater.plan.nodes import (
    Aggregate,
    ChangelogMode,
    Changes,
    Node,
    Operator,
    PrintSink,
    Sink,
    Source,
    Stateful,
    Stateless,
    TableStoreSink,
    ToStream,
)
from headwater.plan.plan import Plan
from headwater.plan.stages import split
from headwater.plan.topology import describe
from headwater.streams import App, tumbling

SOURCES = Path(str(headwater.__file__)).parent
GROUPS = (Source, Sink, Stateful, Stateless)


def test_operator_is_all_there_are() -> None:
    members = set(typing.get_args(Operator))
    assert {Source, Sink} <= members
    closed = {each for each in classes_below(Node) if not issubclass(each, Source | Sink)}
    assert members - {Source, Sink} == closed


def test_the_representative_programs_use_all_but_what_no_program_can_say_yet() -> None:
    used = {type(node) for name in PROGRAMS for node in app_of(name).plan().walk()}
    assert classes_below(Node) - used == {Changes}


def _names_in(pattern: ast.pattern) -> set[str]:
    return {
        cls.attr if isinstance(cls, ast.Attribute) else getattr(cls, "id", "")
        for each in ast.walk(pattern)
        if isinstance(each, ast.MatchClass)
        for cls in (each.cls,)
    }


def _is_assert_never(case: ast.match_case) -> bool:
    (statement, *_) = case.body
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "assert_never"


def test_every_match_over_operators_is_exhaustive() -> None:
    known = {each.__name__ for each in classes_below(Node)} | {each.__name__ for each in GROUPS}
    found = 0
    for package in ("plan", "spark", "streams", "testing"):
        for path in (SOURCES / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if not isinstance(node, ast.Match):
                    continue
                imported = path.read_text("utf-8").count("headwater.plan.nodes") > 0
                if imported and any(_names_in(case.pattern) & known for case in node.cases):
                    found += 1
                    assert _is_assert_never(node.cases[-1]), f"{path}:{node.lineno}"
    assert found >= 9


def test_rows_know_the_columns_of_their_key() -> None:
    app = App("app")
    readings = app.stream("readings", value_type="id string, kind string, value double")
    assert [field.name for field in readings.row.key_columns] == ["key"]
    grouped = readings.group_by("kind", "id").count()
    assert grouped.row.key.ddl() == "struct<kind:string,id:string>"
    assert [(each.name, each.type.ddl()) for each in grouped.row.key_columns] == [
        ("kind", "string"),
        ("id", "string"),
    ]


def _changes_of(table: Any) -> Changes:
    return Changes(id="KTABLE-CHANGES-0000000090", parents=(table,), row=table.row)


def _printed(node: Operator) -> Sink:
    return PrintSink(id="KSTREAM-PRINTER-0000000092", parents=(node,), row=node.row, label="")


def test_changes_say_what_they_replace() -> None:
    app = App("app")
    table = app.table("units", value_type="unit string")
    assert table.node.changelog is ChangelogMode.UPSERT
    changes = _changes_of(table.node)
    assert changes.changelog is ChangelogMode.RETRACT
    stream = ToStream(id="KTABLE-TOSTREAM-0000000091", parents=(changes,), row=changes.row)
    assert stream.changelog is ChangelogMode.APPEND
    plan = Plan("app", (_printed(stream),))
    check_plan(plan)
    (stage,) = split(plan)
    assert stage.name == "units-changes"
    assert "KTABLE-CHANGES-STATE-STORE-0000000090" in describe((stage,))


def test_old_values_are_refused_where_they_would_be_forgotten() -> None:
    app = App("app")
    changes = _changes_of(app.table("units", value_type="unit string").node)
    sink = TableStoreSink(
        id="KTABLE-STORE-0000000091", parents=(changes,), row=changes.row, store="s"
    )
    with pytest.raises(PlanError, match=r"KTABLE-STORE-.* does not take .* changelog mode retract"):
        check_plan(Plan("app", (sink,)))


def test_old_values_do_not_go_through_a_topic() -> None:
    app = App("app")
    readings = app.stream("readings", value_type="unit string")
    changes = _changes_of(readings.to_table().node)
    window = tumbling("1 minute").window
    waiting = Aggregate(
        id="KTABLE-AGGREGATE-0000000091", parents=(changes,), row=changes.row, by=None,
        aggregations=(), window=window, emit="final",
    )  # fmt: skip
    with pytest.raises(PlanError, match="cannot be handed on through an internal topic yet"):
        split(Plan("app", (_printed(waiting),)))
