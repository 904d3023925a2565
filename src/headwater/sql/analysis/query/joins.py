"""JOIN: by which expressions two relations meet, what is allowed, and the key of the pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.analysis.expression_parts import qualified, walk
from headwater.sql.analysis.expressions import analyse
from headwater.sql.analysis.query.analysed import (
    JoinShape,
    KeyPart,
    ReadJoin,
    ReadRelation,
    ReadSource,
    relation_kind,
    sources_of,
)
from headwater.sql.analysis.query.join_windows import check_windows
from headwater.sql.errors import SqlError
from headwater.sql.formatter.expressions import format_expression
from headwater.sql.tree.expressions import Column, Comparison, Expression, Logical
from headwater.sql.tree.queries import Join, JoinKind
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from headwater.sql.analysis.scope import Scope
    from headwater.sql.analysis.typed import Typed

_SYNTHETIC = "ROWKEY"


def analyse_join(join: Join, left: ReadRelation, right: ReadSource, scope: Scope) -> ReadJoin:
    """Return a join of what was read so far with one more source."""
    left_key, right_key = _sides(join, left, right, scope)
    if left_key.type != right_key.type:
        raise SqlError(
            f"the two sides of the join are {left_key.type} and {right_key.type}: cast one of them",
            join.on.location,
        )
    shape = _shape(join, left, right, left_key, right_key)
    _check_kind(join, shape)
    check_windows(join, left, right, left_key, right_key)
    if shape is not JoinShape.FOREIGN_KEY:
        _check_partitions(join, left, right, left_key, right_key)
    key = _key(join, shape, left, left_key, right_key, scope)
    return ReadJoin(left, join.kind, right, shape, left_key, right_key, key, join.within)


def is_key_column(expression: Expression, read: ReadSource) -> bool:
    """Tell whether an expression, with sources named, is the one key column of a source."""
    key = read.source.key
    return len(key) == 1 and expression == Column(key[0].name, read.alias)


def relation_key(relation: ReadRelation) -> tuple[KeyPart, ...]:
    """Return the key of the rows of a relation."""
    if isinstance(relation, ReadJoin):
        return relation.key
    return tuple(
        KeyPart(column.name, column.type, (Column(column.name, relation.alias),))
        for column in relation.source.key
    )


def _sides(join: Join, left: ReadRelation, right: ReadSource, scope: Scope) -> tuple[Typed, Typed]:
    condition = join.on
    if isinstance(condition, Logical):
        raise SqlError(
            f"a join has one condition, and {format_expression(condition)} are several",
            condition.location,
        )
    if not isinstance(condition, Comparison) or condition.operator != "=":
        raise SqlError(
            "a join's condition is that two expressions are equal, such as a.id = b.id",
            condition.location,
        )
    names = {read.alias for read in sources_of(left)}
    found: dict[bool, Typed] = {}
    for side in (condition.left, condition.right):
        typed = analyse(qualified(side, scope), scope)
        used = {part.source for part in walk(typed.expression) if isinstance(part, Column)}
        if len(used) != 1:
            raise SqlError(
                f"{format_expression(side)} has to use columns of exactly one source",
                side.location,
            )
        (source,) = used
        is_right = source == right.alias
        if is_right in found or not (is_right or source in names):
            raise SqlError(
                f"one side of the condition has to be of {right.alias}, and the other of "
                f"{' or '.join(sorted(names))}",
                condition.location,
            )
        found[is_right] = typed
    return found[False], found[True]


def _shape(
    join: Join, left: ReadRelation, right: ReadSource, left_key: Typed, right_key: Typed
) -> JoinShape:
    match relation_kind(left), right.kind:
        case SourceKind.STREAM, SourceKind.STREAM:
            return JoinShape.STREAM_STREAM
        case SourceKind.TABLE, SourceKind.STREAM:
            raise SqlError(
                f"a table cannot be joined with a stream: write {right.alias} first",
                join.right.location,
            )
    if not is_key_column(right_key.expression, right):
        primary = ", ".join(column.name for column in right.source.key)
        raise SqlError(
            f"a table is joined by its primary key, and that of {right.alias} is {primary}",
            join.on.location,
        )
    if relation_kind(left) is SourceKind.STREAM:
        return JoinShape.STREAM_TABLE
    left_parts = relation_key(left)
    if len(left_parts) == 1 and left_key.expression in _equal_to(left_parts[0]):
        return JoinShape.TABLE_TABLE
    if isinstance(left, ReadJoin):
        raise SqlError(
            "a join by a foreign key can only be the first of several joins", join.on.location
        )
    return JoinShape.FOREIGN_KEY


def _check_kind(join: Join, shape: JoinShape) -> None:
    if shape is JoinShape.STREAM_STREAM:
        if join.within is None:
            raise SqlError(
                "streams are joined within a time: write WITHIN 10 SECONDS, say, after "
                f"{join.right.name}",
                join.right.location,
            )
        return
    if join.within is not None:
        raise SqlError(
            f"a {shape.value} join has no WITHIN: it is for two streams", join.within.location
        )
    allowed = {
        JoinShape.STREAM_TABLE: (JoinKind.INNER, JoinKind.LEFT),
        JoinShape.FOREIGN_KEY: (JoinKind.INNER, JoinKind.LEFT),
    }.get(shape, tuple(JoinKind))
    if join.kind not in allowed:
        raise SqlError(
            f"a {shape.value} join is INNER or LEFT, not {join.kind.value}", join.right.location
        )


def _check_partitions(
    join: Join, left: ReadRelation, right: ReadSource, left_key: Typed, right_key: Typed
) -> None:
    """Refuse topics that are read as they are, by their keys, and differ in partitions."""
    (first, *_) = sources_of(left)
    before = relation_key(left)
    is_repartitioned = (
        len(before) != 1
        or left_key.expression not in _equal_to(before[0])
        or not is_key_column(right_key.expression, right)
    )
    ours, theirs = first.source.partitions, right.source.partitions
    if is_repartitioned or ours is None or theirs is None or ours == theirs:
        return
    raise SqlError(
        f"{first.alias} has {ours} partitions and {right.alias} has {theirs}, so that equal keys "
        "do not meet: make one of them anew with as many as the other",
        join.right.location,
    )


def _key(
    join: Join,
    shape: JoinShape,
    left: ReadRelation,
    left_key: Typed,
    right_key: Typed,
    scope: Scope,
) -> tuple[KeyPart, ...]:
    if shape is JoinShape.FOREIGN_KEY:
        return relation_key(left)
    equals = [left_key.expression]
    before = relation_key(left)
    if len(before) == 1 and left_key.expression in _equal_to(before[0]):
        equals = list(_equal_to(before[0]))
    equals.append(right_key.expression)
    choices = tuple(each for each in equals if isinstance(each, Column) and each.source is not None)
    if choices and join.kind is not JoinKind.FULL:
        return (KeyPart(choices[0].name, left_key.type, choices, equals=tuple(equals)),)
    name = _synthetic_name(scope)
    # Of an outer join either side may be null, so that only its own key goes on.
    further = () if join.kind is JoinKind.FULL else tuple(equals)
    return (KeyPart(name, left_key.type, (Column(name),), is_synthetic=True, equals=further),)


def _equal_to(part: KeyPart) -> tuple[Expression, ...]:
    return part.equals or part.choices


def _synthetic_name(scope: Scope) -> str:
    taken = {column.name for source in scope.sources.values() for column in source.columns}
    name, count = _SYNTHETIC, 0
    while name in taken:
        count += 1
        name = f"{_SYNTHETIC}_{count}"
    return name
