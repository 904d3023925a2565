"""GROUP BY: rows folded by group, and where groups and aggregates are in the result."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from headwater.plan.expressions.aggregations import Aggregation
from headwater.plan.expressions.expressions import Case, Column, Expression, StructOf
from headwater.plan.expressions.formulas import Formula
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import Aggregate, Changes, TableAggregate
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import BIGINT as PLAN_BIGINT
from headwater.plan.schemas.types import WINDOW_FIELDS, DataType, Field, Struct
from headwater.plan.windows import SessionWindow, Window
from headwater.sql.analysis.durations import milliseconds
from headwater.sql.metastore.source import WINDOW_BOUNDS
from headwater.sql.planning.aggregate_calls import aggregate_result, aggregation_of
from headwater.sql.planning.rows import VALUE, Rows
from headwater.sql.planning.wire_types import kept, kept_type, typed
from headwater.sql.tree.expressions import Column as SqlColumn
from headwater.sql.tree.queries import Emit, HoppingWindow, TumblingWindow
from headwater.sql.tree.queries import SessionWindow as SqlSessionWindow
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from headwater.plan.nodes import Operator
    from headwater.plan.windows import AnyWindow
    from headwater.sql.analysis.outcomes import StoreQuery
    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.planning.numbering import Numbering
    from headwater.sql.tree.expressions import Expression as SqlExpression
    from headwater.sql.tree.queries import Window as SqlWindow

_DAY_MS = 86_400_000
_ROWS = "rows"
"""How many rows a session has; null where it has become part of another."""


def aggregated(rows: Rows, stored: StoreQuery, kind: SourceKind, numbering: Numbering) -> Rows:
    """Return the groups of a query."""
    query = stored.query
    names = tuple(column.name for column in stored.sink.key)
    window = None if query.window is None else _window(query.window)
    by, by_type = _by(rows, query, names)
    if kind is SourceKind.TABLE:
        # A row that is not there is in no group, also where a group would not ask for its columns.
        by = Case(((VALUE.isNotNull(), by),))
    aggregations = tuple(
        (f"agg_{index}", aggregation_of(call, rows.translator, stored.settings))
        for index, call in enumerate(query.aggregates)
    )
    if isinstance(window, SessionWindow):
        aggregations += ((_ROWS, Aggregation("count")),)
    scope = Scope.of_record(rows.node.row)
    fields = tuple(Field(name, each.type_in(scope)) for name, each in aggregations)
    value = Struct((*(WINDOW_FIELDS if window is not None else ()), *fields))
    row = RowType(by_type, value, windowed=window is not None)
    node: Operator
    if kind is SourceKind.TABLE:
        changes = numbering.add(
            Changes, "KTABLE-SELECT", (rows.node,), RowType(rows.node.row.key, rows.node.row.value)
        )
        node = numbering.add(
            TableAggregate, "KTABLE-AGGREGATE", (changes,), row,
            by=by, aggregations=aggregations, emit="record",
        )  # fmt: skip
    else:
        emit = "final" if query.emit is Emit.FINAL else "record"
        node = numbering.add(
            Aggregate, "KSTREAM-AGGREGATE", (rows.node,), row,
            by=by, aggregations=aggregations, window=window, emit=emit,
        )  # fmt: skip
    return Rows(node, {}, _known(query, names), _bounds() if window is not None else None)


def _by(rows: Rows, query: AnalysedQuery, names: tuple[str, ...]) -> tuple[Expression, DataType]:
    parts = [kept(rows.translator.translate(part), part.type) for part in query.group_by]
    types = [kept_type(part.type) for part in query.group_by]
    if len(parts) == 1:
        return parts[0], types[0]
    fields = tuple(Field(name, type_) for name, type_ in zip(names, types, strict=True))
    # A row that has null for one of them is in no group.
    is_there = reduce(and_, (part.isNotNull() for part in parts))
    struct = StructOf(tuple(zip(names, parts, strict=True)))
    return Case(((is_there, struct),)), Struct(fields)


def _known(query: AnalysedQuery, names: tuple[str, ...]) -> dict[SqlExpression, Expression]:
    """Return where groups and aggregates are after the operator."""
    known: dict[SqlExpression, Expression] = {}
    for part, name in zip(query.group_by, names, strict=True):
        inside = (name,) if len(names) > 1 else ()
        known[part.expression] = typed(Column(("record", "key", *inside)), part.type)
    for index, call in enumerate(query.aggregates):
        known[call.expression] = aggregate_result(call, Column(("record", "value", f"agg_{index}")))
    if query.window is not None:
        for alias in query.scope.sources:
            for name, bound in zip(WINDOW_BOUNDS, _bounds(), strict=True):
                known[SqlColumn(name, alias)] = bound
    return known


def _bounds() -> tuple[Expression, Expression]:
    """Return where the window that a group is of begins and ends."""
    start, end = (
        Formula("unix_millis({0})", (Column(("record", "value", field.name)),), PLAN_BIGINT)
        for field in WINDOW_FIELDS
    )
    return start, end


def session_is_there() -> Expression:
    """Return what is true of a session's result unless the session has become part of another."""
    return Column(("record", "value", _ROWS)).isNotNull()


def _window(window: SqlWindow) -> AnyWindow:
    match window:
        case TumblingWindow(size):
            length = milliseconds(size)
            return Window(length, length, _grace(window, length))
        case HoppingWindow(size, advance):
            length = milliseconds(size)
            return Window(length, milliseconds(advance), _grace(window, length))
        case SqlSessionWindow(gap):
            length = milliseconds(gap)
            return SessionWindow(length, _grace(window, length))


def _grace(window: SqlWindow, size_ms: int) -> int:
    """Return how late a row may be: a day from its window's beginning, unless it is said."""
    if window.grace is not None:
        return milliseconds(window.grace)
    return max(0, _DAY_MS - size_ms)
