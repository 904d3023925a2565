"""Joins: of two streams, of a stream with a table, and of two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from headwater.plan.expressions.python_function import PythonFunction
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import (
    ChangelogMode,
    ForeignKeyJoin,
    Map,
    StreamStreamJoin,
    StreamTableJoin,
    TableTableJoin,
)
from headwater.plan.rows import RowType
from headwater.streams import App, PlanError, between, tumbling, within

if TYPE_CHECKING:
    from headwater.streams import GlobalKTable, KStream, KTable


class Inputs(NamedTuple):
    readings: KStream
    orders: KStream
    units: KTable
    limits: KTable
    places: GlobalKTable


@pytest.fixture
def inputs() -> Inputs:
    app = App("app")
    return Inputs(
        app.stream("readings", value_type="id string, value double"),
        app.stream("orders", value_type="id string, amount int"),
        app.table("units", value_type="unit string"),
        app.table("limits", value_type="unit string, highest double"),
        app.global_table("places", key="long", value_type="place string"),
    )


def test_two_streams(inputs: Inputs) -> None:
    joined = inputs.readings.join(
        inputs.orders, id="left.id", value="value", amount="amount",
        window=between("5 s", "1 minute").grace("10 s"),
    )  # fmt: skip
    node = joined.node
    assert isinstance(node, StreamStreamJoin)
    assert (node.kind, node.before_ms, node.after_ms, node.grace_ms) == (
        "inner", 5_000, 60_000, 10_000,
    )  # fmt: skip
    assert joined.row.value.ddl() == "struct<id:string,value:double,amount:int>"
    left, right = node.parents
    assert node.projection.sql(Scope.of_join(left.row, right.row)) == (
        "named_struct('id', (left_value.`id`), 'value', (left_value.`value`), "
        "'amount', (right_value.`amount`))"
    )
    outer = inputs.readings.outer_join(inputs.orders, n="amount", window=within("1 s")).node
    assert isinstance(outer, StreamStreamJoin)
    assert (outer.kind, outer.before_ms, outer.after_ms) == ("outer", 1_000, 1_000)


def test_a_table_by_key(inputs: Inputs) -> None:
    joined = inputs.readings.left_join(inputs.units)
    node = joined.node
    assert isinstance(node, StreamTableJoin)
    assert node.kind == "left"
    assert node.key is None
    assert joined.row.value.ddl() == "struct<id:string,value:double,unit:string>"
    assert not joined.row.has_position


def test_a_global_table_by_expression(inputs: Inputs) -> None:
    joined = inputs.readings.join(inputs.places, on="cast(id as bigint)")
    assert isinstance(joined.node, StreamTableJoin)
    assert str(joined.node.key) == "cast(id as bigint)"
    # Records meet a global table where its key is, so that their own key is scattered after it.
    assert joined.filter("value > 1").node.needs_repartition
    assert not inputs.readings.join(inputs.units).node.needs_repartition


def test_a_function_gets_both_values(inputs: Inputs) -> None:
    def unit(left: dict[str, Any], right: dict[str, Any] | None) -> str:
        return f"{left['value']} {right['unit'] if right else '?'}"

    joined = inputs.readings.left_join(inputs.units, unit)
    assert isinstance(joined.node, Map)
    assert isinstance(joined.node.parents[0], StreamTableJoin)
    function = joined.node.value
    assert isinstance(function, PythonFunction)
    assert function.name == f"{unit.__qualname__}"
    assert joined.row.value.ddl() == "string"
    assert function("k", {"left": {"value": 1.0}, "right": {"unit": "kW"}}) == "1.0 kW"
    assert function("k", {"left": {"value": 1.0}, "right": None}) == "1.0 ?"


def test_two_tables(inputs: Inputs) -> None:
    joined = inputs.units.left_join(inputs.limits, unit="left.unit", highest="highest")
    node = joined.node
    assert isinstance(node, TableTableJoin)
    assert (node.kind, node.emit, node.name) == ("left", "batch", None)
    assert node.id.startswith("KTABLE-LEFTJOIN-")
    assert node.changelog is ChangelogMode.UPSERT
    assert joined.row.value.ddl() == "struct<unit:string,highest:double>"
    assert not joined.row.has_position
    each = joined.join(inputs.readings.to_table(), emit="record", name="all")
    assert isinstance(each.node, TableTableJoin)
    assert (each.node.kind, each.node.emit, each.node.name) == ("inner", "record", "all")
    assert each.node.parents[0] is node


def test_two_tables_by_a_foreign_key(inputs: Inputs) -> None:
    latest = inputs.readings.to_table()
    joined = latest.left_join(inputs.units, foreign_key="upper(id)", emit="record", name="named")
    node = joined.node
    assert isinstance(node, ForeignKeyJoin)
    assert (node.kind, node.emit, node.name) == ("left", "record", "named")
    assert node.id.startswith("KTABLE-FK-LEFTJOIN-")
    assert str(node.foreign_key) == "upper(id)"
    assert node.changelog is ChangelogMode.UPSERT
    assert joined.row == RowType(latest.row.key, joined.row.value)
    assert joined.row.value.ddl() == "struct<id:string,value:double,unit:string>"
    assert not node.needs_repartition


def test_a_function_gets_the_rows_of_two_tables_and_nothing_where_there_is_none(
    inputs: Inputs,
) -> None:
    def unit(left: dict[str, Any] | None, right: dict[str, Any] | None) -> str:
        return f"{left and left['unit']} {right and right['unit']}"

    joined = inputs.units.outer_join(inputs.limits, unit)
    assert isinstance(joined.node.parents[0], TableTableJoin)
    assert joined.node.changelog is ChangelogMode.UPSERT
    assert isinstance(joined.node, Map)
    function = joined.node.value
    assert isinstance(function, PythonFunction)
    assert function("k", {"left": None, "right": {"unit": "kW"}}) == "None kW"
    assert function("k", None) is None


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda i: i.readings.join(i.orders), "both sides have id: name the fields"),
        (lambda i: i.readings.join(i.orders, n="amount"), 'window=within("2 minutes")'),
        (
            lambda i: i.readings.join(i.orders, n="amount", on="id", window=within("1 s")),
            "two streams are joined by their keys",
        ),
        (
            lambda i: i.readings.select_key("1").join(i.orders, n="amount", window=within("1 s")),
            "the keys of joined streams: string is not int",
        ),
        (lambda i: i.readings.join(i.orders, n="id", window=within("1 s")), "write left.id or"),
        (lambda i: i.readings.join(i.units, on="id"), "use select_key before, or a global"),
        (lambda i: i.readings.join(i.units, window=within("1 s")), "leave window out"),
        (lambda i: i.readings.join(i.places), 'on="id"'),
        (lambda i: i.readings.join(i.places, on="id"), "string is not bigint; cast"),
        (lambda i: i.readings.outer_join(i.units, window=within("1 s")), "use left_join"),
        (lambda i: i.readings.map_values("value").join(i.units), "say what the two become"),
        (
            lambda i: i.readings.join(
                i.orders.group_by_key().windowed_by(tumbling("1 s")).count(), n="count"
            ),
            "a windowed table has several values",
        ),
        (lambda i: i.readings.join(i.units, "unit", u="unit"), "one value, or named fields"),
        (lambda i: i.units.join(i.limits), "both sides have unit: name the fields"),
        (lambda i: i.units.join(i.readings), "read a stream as one with to_table()"),
        (lambda i: i.units.left_join(i.places), "a table is joined with another table"),
        (lambda i: i.units.outer_join(i.limits, h="highest", emit="final"), "may always change"),
        (
            lambda i: i.units.join(i.readings.select_key("1").to_table(), n="value"),
            "the keys of joined tables: int is not string",
        ),
        (
            lambda i: i.units.join(i.orders.select_key("1").to_table(), foreign_key="unit", n="id"),
            "the foreign key and the other table's key: string is not int",
        ),
        (
            lambda i: i.units.join(i.orders.to_table(), foreign_key="offset", n="id"),
            "there is no 'offset' here",
        ),
        (
            lambda i: i.units.join(
                i.orders.group_by_key().windowed_by(tumbling("1 s")).count(),
                foreign_key="unit",
                n="count",
            ),
            "a windowed table has several values",
        ),
        (
            lambda i: i.units.join(
                i.orders.group_by_key().windowed_by(tumbling("1 s")).count(), n="count"
            ),
            "a windowed table has several values",
        ),
    ],
)
def test_what_is_refused(inputs: Inputs, build: Any, reason: str) -> None:
    with pytest.raises(PlanError) as refused:
        build(inputs)
    assert reason in str(refused.value)
    assert refused.value.location.startswith("tests/unit/streams/test_streams_joins.py:")
