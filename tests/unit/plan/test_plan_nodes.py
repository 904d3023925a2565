"""Nodes: all of them are known, nobody forgets one, and each takes what it says it takes."""

from __future__ import annotations

import ast
import re
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.plan.node_classes import classes_below
from tests.unit.plan.representative_programs import PROGRAMS, app_of

import headwater
from headwater.plan.checks import check_plan
from headwater.plan.errors import PlanError
from headwater.plan.formats import Format
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
    StoreSink,
    ToStream,
)
from headwater.plan.pictures.topology import describe
from headwater.plan.plan import Plan
from headwater.plan.splitting.stages import split
from headwater.streams import App, tumbling

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = Path(str(headwater.__file__)).parent
GROUPS = (Source, Sink, Stateful, Stateless)


def test_operator_is_all_there_are() -> None:
    members = set(typing.get_args(Operator))
    assert {Source, Sink} <= members
    closed = {each for each in classes_below(Node) if not issubclass(each, Source | Sink)}
    assert members - {Source, Sink} == closed


def test_the_representative_programs_use_all() -> None:
    used = {type(node) for name in PROGRAMS for node in app_of(name).plan().walk()}
    assert classes_below(Node) - used == set()


def _classes_in(pattern: ast.pattern) -> set[str]:
    classes = [each.cls for each in ast.walk(pattern) if isinstance(each, ast.MatchClass)]
    return {ast.unparse(each).removeprefix("nodes.") for each in classes}


def _matches() -> Iterator[tuple[str, ast.Match]]:
    """Go through every match of the modules that know nodes, each with its place."""
    for package in ("plan", "spark", "streams", "testing"):
        for path in (SOURCES / package).rglob("*.py"):
            text = path.read_text("utf-8")
            if re.search(r"headwater\.plan(\.nodes import| import nodes)", text):
                found = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Match)]
                yield from ((f"{path}:{each.lineno}", each) for each in found)


def test_every_match_over_operators_is_exhaustive() -> None:
    known = {each.__name__ for each in (*classes_below(Node), *GROUPS)}
    over_operators = [
        (place, match)
        for place, match in _matches()
        if any(_classes_in(case.pattern) & known for case in match.cases)
    ]
    assert len(over_operators) >= 12
    for place, match in over_operators:
        assert ast.unparse(match.cases[-1].body[0]).startswith("assert_never("), place


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
    sink = StoreSink(
        id="KTABLE-STORE-0000000091", parents=(changes,), row=changes.row, store="s", topic="t",
        batches="b", key_format=Format("string"), value_format=Format("json"),
    )  # fmt: skip
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
