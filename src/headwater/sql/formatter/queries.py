"""Queries as text, a line for each clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from headwater.sql.formatter.expressions import format_expression
from headwater.sql.tree.queries import (
    Duration,
    HoppingWindow,
    Join,
    Query,
    Relation,
    SelectAll,
    SelectExpression,
    SelectFields,
    SelectItem,
    SessionWindow,
    Source,
    TumblingWindow,
    Window,
    Within,
)
from headwater.sql.words import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.sql.tree.expressions import Expression


def format_query(query: Query) -> str:
    """Return a query as a statement writes it."""
    selected = ",\n".join(f"  {_item(item)}" for item in query.select)
    lines = [f"SELECT\n{selected}", f"FROM {_relation(query.source)}"]
    if query.window is not None:
        lines.append(f"WINDOW {_window(query.window)}")
    if query.where is not None:
        lines.append(f"WHERE {format_expression(query.where)}")
    if query.group_by:
        lines.append(f"GROUP BY {_list(query.group_by)}")
    if query.partition_by:
        lines.append(f"PARTITION BY {_list(query.partition_by)}")
    if query.having is not None:
        lines.append(f"HAVING {format_expression(query.having)}")
    if query.emit is not None:
        lines.append(f"EMIT {query.emit.value}")
    if query.limit is not None:
        lines.append(f"LIMIT {query.limit}")
    return "\n".join(lines)


def format_duration(duration: Duration) -> str:
    """Return a length of time as a statement writes it."""
    return f"{duration.amount} {duration.unit.value}"


def _list(expressions: Iterable[Expression]) -> str:
    return ", ".join(format_expression(expression) for expression in expressions)


def _item(item: SelectItem) -> str:
    match item:
        case SelectExpression(expression, alias):
            written = format_expression(expression)
            return written if alias is None else f"{written} AS {quoted(alias)}"
        case SelectAll(source):
            return "*" if source is None else f"{quoted(source)}.*"
        case SelectFields(struct):
            # A sign binds less than the arrow.
            return f"({format_expression(struct)})->*"
        case _:
            assert_never(item)


def _relation(relation: Relation) -> str:
    match relation:
        case Source(name, alias):
            return quoted(name) if alias is None else f"{quoted(name)} AS {quoted(alias)}"
        case Join(left, kind, right, on, within):
            time = "" if within is None else f" {_within(within)}"
            return (
                f"{_relation(left)}\n{kind.value} JOIN {_relation(right)}{time}"
                f" ON {format_expression(on)}"
            )
        case _:
            assert_never(relation)


def _within(within: Within) -> str:
    before, after = format_duration(within.before), format_duration(within.after)
    size = before if within.before == within.after else f"({before}, {after})"
    grace = "" if within.grace is None else f" GRACE PERIOD {format_duration(within.grace)}"
    return f"WITHIN {size}{grace}"


def _window(window: Window) -> str:
    match window:
        case TumblingWindow(size):
            kind, parts = "TUMBLING", [f"SIZE {format_duration(size)}"]
        case HoppingWindow(size, advance):
            kind = "HOPPING"
            parts = [f"SIZE {format_duration(size)}", f"ADVANCE BY {format_duration(advance)}"]
        case SessionWindow(gap):
            kind, parts = "SESSION", [format_duration(gap)]
        case _:
            assert_never(window)
    if window.retention is not None:
        parts.append(f"RETENTION {format_duration(window.retention)}")
    if window.grace is not None:
        parts.append(f"GRACE PERIOD {format_duration(window.grace)}")
    return f"{kind} ({', '.join(parts)})"
