"""SELECT as a whole: every clause found, typed and checked, and the schema of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.analysis.durations import milliseconds
from headwater.sql.analysis.expression_parts import qualified
from headwater.sql.analysis.expressions import analyse, analyse_condition
from headwater.sql.analysis.query.analysed import (
    AnalysedQuery,
    KeyPart,
    ReadRelation,
    relation_kind,
    sources_of,
)
from headwater.sql.analysis.query.column_names import ColumnNames
from headwater.sql.analysis.query.grouping import calls_of_kind, check_groups, refuse_in
from headwater.sql.analysis.query.joins import relation_key
from headwater.sql.analysis.query.keys import with_keys, without_keys
from headwater.sql.analysis.query.relations import read_relation
from headwater.sql.analysis.query.selection import Selection
from headwater.sql.errors import SqlError
from headwater.sql.formatter.expressions import format_expression
from headwater.sql.functions.function import FunctionKind
from headwater.sql.metastore.source import KeyWindow, WindowKind
from headwater.sql.tree.expressions import Column, Dereference, Expression, NullLiteral
from headwater.sql.tree.queries import (
    Emit,
    HoppingWindow,
    Query,
    SessionWindow,
    TumblingWindow,
    Window,
)
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.sql.analysis.scope import Scope
    from headwater.sql.analysis.typed import Typed
    from headwater.sql.metastore.metastore import Metastore


def analyse_query(query: Query, metastore: Metastore, *, is_stored: bool) -> AnalysedQuery:
    """Return the analysed query; one whose result is stored needs its key among the columns."""
    relation, scope = read_relation(query, metastore)
    kind = relation_kind(relation)
    where = _condition(query.where, scope, "WHERE")
    _check_clauses(query, kind)
    partition_by = _all(query.partition_by, scope)
    group_by = _all(query.group_by, scope)
    names = ColumnNames(scope)
    key = _key(query, relation, partition_by, group_by)
    selection = Selection(scope, names, () if group_by else key, bool(partition_by))
    selected = selection.columns(query)
    having = _condition(query.having, scope, "HAVING")
    aggregates = check_groups(query, group_by, selected, having, kind)
    _check_table_functions([column.expression for column in selected], kind)
    result = SourceKind.TABLE if group_by else kind
    if is_stored:
        keyed = with_keys(selected, key, result, _key_word(query, relation), query.location)
        if group_by and not any(not column.is_key for column in keyed.selected):
            raise SqlError("nothing but the key is selected: there are no values", query.location)
    else:
        keyed = without_keys(selected, result)
    return AnalysedQuery(
        relation,
        scope,
        keyed.selected,
        key,
        keyed.columns,
        result,
        where,
        partition_by if query.partition_by else None,
        group_by,
        aggregates,
        having,
        query.window,
        _key_window(query, relation),
        query.emit,
        query.limit,
    )


def _all(expressions: Sequence[Expression], scope: Scope) -> tuple[Typed, ...]:
    return tuple(analyse(qualified(expression, scope), scope) for expression in expressions)


def _condition(expression: Expression | None, scope: Scope, clause: str) -> Typed | None:
    if expression is None:
        return None
    if clause == "WHERE":
        refuse_in(clause, expression, FunctionKind.AGGREGATE)
    refuse_in(clause, expression, FunctionKind.TABLE)
    return analyse_condition(qualified(expression, scope), scope, clause)


def _check_clauses(query: Query, kind: SourceKind) -> None:
    if query.partition_by:
        if query.group_by:
            raise SqlError(
                "PARTITION BY and GROUP BY cannot both be given", query.partition_by[0].location
            )
        if kind is SourceKind.TABLE:
            raise SqlError(
                "a table is partitioned by its primary key: PARTITION BY is for streams",
                query.partition_by[0].location,
            )
        for expression in query.partition_by:
            refuse_in("PARTITION BY", expression, FunctionKind.AGGREGATE)
            refuse_in("PARTITION BY", expression, FunctionKind.TABLE)
            if isinstance(expression, NullLiteral) and len(query.partition_by) > 1:
                raise SqlError("PARTITION BY NULL stands alone", expression.location)
    if query.emit is Emit.FINAL and query.window is None:
        raise SqlError("EMIT FINAL needs windows that end: add WINDOW", query.location)


def _check_table_functions(expressions: Sequence[Expression], kind: SourceKind) -> None:
    for expression in expressions:
        for call in calls_of_kind(expression, FunctionKind.TABLE):
            if kind is SourceKind.TABLE:
                raise SqlError(
                    f"{call.name} is a table function, which can be used on streams alone",
                    call.location,
                )


def _key(
    query: Query,
    relation: ReadRelation,
    partition_by: Sequence[Typed],
    group_by: Sequence[Typed],
) -> tuple[KeyPart, ...]:
    if not query.partition_by and not query.group_by:
        return relation_key(relation)
    return tuple(
        KeyPart(_name(typed.expression), typed.type, (typed.expression,))
        for typed in (*partition_by, *group_by)
        if not isinstance(typed.expression, NullLiteral)
    )


def _name(expression: Expression) -> str:
    match expression:
        case Column(name) | Dereference(_, name):
            return name
        case _:
            return format_expression(expression)


def _key_word(query: Query, relation: ReadRelation) -> str:
    if query.group_by:
        return "grouping expression"
    if query.partition_by:
        return "partitioning expression"
    return "join expression" if len(list(sources_of(relation))) > 1 else "key column"


def _key_window(query: Query, relation: ReadRelation) -> KeyWindow | None:
    if query.window is not None:
        return _window(query.window)
    if query.group_by or query.partition_by:
        return None
    (first, *_) = sources_of(relation)
    return first.source.window


def _window(window: Window) -> KeyWindow:
    match window:
        case TumblingWindow(size):
            return KeyWindow(WindowKind.TUMBLING, milliseconds(size))
        case HoppingWindow(size):
            return KeyWindow(WindowKind.HOPPING, milliseconds(size))
        case SessionWindow():
            return KeyWindow(WindowKind.SESSION)
