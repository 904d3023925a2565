"""GROUP BY, HAVING and aggregates: what may be selected of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.analysis.expression_parts import parts, walk
from headwater.sql.analysis.typed import CallMeaning, Typed
from headwater.sql.errors import SqlError
from headwater.sql.formatter.expressions import format_expression
from headwater.sql.functions.catalogue.all_functions import FUNCTIONS
from headwater.sql.functions.function import FunctionKind
from headwater.sql.metastore.source import WINDOW_BOUNDS
from headwater.sql.tree.expressions import Call, Column, Expression
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.sql.analysis.query.analysed import SelectedColumn
    from headwater.sql.tree.queries import Query

# A row of a table that is replaced has to be taken out again, which the others cannot do.
OF_TABLES = frozenset(
    (
        "ATTR", "AVG", "COLLECT_LIST", "CORRELATION", "COUNT", "COUNT_DISTINCT", "HISTOGRAM",
        "STDDEV_SAMP", "STDDEV_SAMPLE", "SUM",
    )
)  # fmt: skip


def calls_of_kind(expression: Expression, kind: FunctionKind) -> Iterator[Call]:
    """Return the calls of functions of one kind that are in an expression."""
    for part in walk(expression):
        if isinstance(part, Call) and _kind(part) is kind:
            yield part


def aggregate_calls(values: Sequence[Typed]) -> tuple[Typed, ...]:
    """Return the calls of aggregate functions, each once."""
    found: dict[Expression, Typed] = {}
    for value in values:
        for part in value.walk():
            meaning = part.meaning
            if isinstance(meaning, CallMeaning) and (
                meaning.function.kind is FunctionKind.AGGREGATE
            ):
                found.setdefault(part.expression, part)
    return tuple(found.values())


def refuse_in(clause: str, expression: Expression, kind: FunctionKind) -> None:
    """Refuse functions of a kind in a clause that cannot have them."""
    for call in calls_of_kind(expression, kind):
        raise SqlError(
            f"{clause} cannot have {call.name} in it, which is "
            f"{'an aggregate' if kind is FunctionKind.AGGREGATE else 'a table'} function",
            call.location,
        )


def check_groups(
    query: Query,
    group_by: Sequence[Typed],
    selected: Sequence[SelectedColumn],
    having: Typed | None,
    kind: SourceKind,
) -> tuple[Typed, ...]:
    """Refuse what GROUP BY does not allow; return the aggregates."""
    values = [column.value for column in selected] + ([] if having is None else [having])
    aggregates = aggregate_calls(values)
    if not group_by:
        _refuse_without_groups(query, aggregates)
        return ()
    seen: list[Expression] = []
    for typed in group_by:
        refuse_in("GROUP BY", typed.expression, FunctionKind.AGGREGATE)
        refuse_in("GROUP BY", typed.expression, FunctionKind.TABLE)
        if typed.expression in seen:
            raise SqlError(
                f"GROUP BY has {format_expression(typed.expression)} twice",
                typed.expression.location,
            )
        seen.append(typed.expression)
    if not aggregates:
        raise SqlError(
            "GROUP BY needs an aggregate function in SELECT or HAVING",
            group_by[0].expression.location,
        )
    for column in selected:
        refuse_in("a SELECT with GROUP BY", column.expression, FunctionKind.TABLE)
        _check_grouped("SELECT", column.expression, seen)
    if having is not None:
        _check_grouped("HAVING", having.expression, seen)
    if kind is SourceKind.TABLE:
        _refuse_for_tables(query, aggregates)
    return aggregates


def _refuse_without_groups(query: Query, aggregates: Sequence[Typed]) -> None:
    for aggregate in aggregates:
        raise SqlError(
            f"{format_expression(aggregate.expression)} is an aggregate and needs GROUP BY",
            aggregate.expression.location,
        )
    if query.having is not None:
        raise SqlError("HAVING needs GROUP BY", query.having.location)
    if query.window is not None:
        raise SqlError("WINDOW needs GROUP BY", query.window.location)


def _refuse_for_tables(query: Query, aggregates: Sequence[Typed]) -> None:
    if query.window is not None:
        raise SqlError("a table has no windows: WINDOW is for streams", query.window.location)
    for aggregate in aggregates:
        expression = aggregate.expression
        assert isinstance(expression, Call)
        if expression.name.upper() not in OF_TABLES:
            raise SqlError(
                f"{expression.name} is for streams: it cannot take back the row of a table that "
                "is replaced",
                expression.location,
            )


def _check_grouped(clause: str, expression: Expression, groups: Sequence[Expression]) -> None:
    ungrouped = _ungrouped(expression, groups)
    if ungrouped is not None:
        raise SqlError(
            f"{format_expression(ungrouped)} in {clause} is neither in GROUP BY nor in an "
            "aggregate function",
            ungrouped.location,
        )


def _ungrouped(expression: Expression, groups: Sequence[Expression]) -> Expression | None:
    if expression in groups:
        return None
    if isinstance(expression, Column):
        return None if expression.name in WINDOW_BOUNDS else expression
    if isinstance(expression, Call) and _kind(expression) is FunctionKind.AGGREGATE:
        return None
    return next(
        (found for part in parts(expression) if (found := _ungrouped(part, groups)) is not None),
        None,
    )


def _kind(call: Call) -> FunctionKind | None:
    function = FUNCTIONS.get(call.name.upper())
    return None if function is None else function.kind
