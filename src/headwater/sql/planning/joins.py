"""Joins: both sides with all their columns in the value, met by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from headwater.plan.expressions.expressions import Column, Expression, StructOf
from headwater.plan.nodes import (
    ForeignKeyJoin,
    Map,
    StreamStreamJoin,
    StreamTableJoin,
    TableTableJoin,
)
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import Struct
from headwater.sql.analysis.durations import milliseconds
from headwater.sql.analysis.query.analysed import JoinShape, ReadJoin, ReadRelation, ReadSource
from headwater.sql.analysis.query.joins import relation_key
from headwater.sql.planning.rows import Rows
from headwater.sql.planning.sources import in_value, prefixed
from headwater.sql.planning.wire_types import kept, kept_type, typed
from headwater.sql.tree.expressions import Column as SqlColumn
from headwater.sql.tree.queries import JoinKind

if TYPE_CHECKING:
    from headwater.plan.nodes import Operator
    from headwater.sql.analysis.typed import Typed
    from headwater.sql.planning.numbering import Numbering

_DAY_MS = 86_400_000
_KINDS: dict[JoinKind, Literal["inner", "left", "outer"]] = {
    JoinKind.INNER: "inner",
    JoinKind.LEFT: "left",
    JoinKind.RIGHT: "left",
    JoinKind.FULL: "outer",
}


def joined(relation: ReadRelation, numbering: Numbering) -> Rows:
    """Return the rows of a relation, in which every column is a field of the value."""
    if isinstance(relation, ReadSource):
        return prefixed(relation, numbering)
    left, right = joined(relation.left, numbering), prefixed(relation.right, numbering)
    columns = {**in_value(left), **in_value(right)}
    if relation.shape is JoinShape.FOREIGN_KEY:
        return Rows(_by_foreign_key(relation, left, right, numbering), columns)
    left_node = _keyed(left, relation.left, relation.left_key, numbering)
    right_node = _keyed(right, relation.right, relation.right_key, numbering)
    node = _join(relation, left_node, right_node, numbering)
    known: dict[object, Expression] = {}
    for part in relation.key:
        if part.is_synthetic:
            known[SqlColumn(part.name)] = typed(Column(("record", "key")), relation.left_key.type)
    return Rows(node, columns, known, window=left.window)  # type: ignore[arg-type]


def _by_foreign_key(relation: ReadJoin, left: Rows, right: Rows, numbering: Numbering) -> Operator:
    """Return pairs by the key of the left table, whose rows say which right one is meant."""
    return numbering.add(
        ForeignKeyJoin, "KTABLE-FK-JOIN", (left.node, right.node),
        RowType(left.node.row.key, _struct(left.node, right.node)),
        kind=_KINDS[relation.kind], foreign_key=_key(left, relation.left_key),
        projection=_projection(left.node, right.node), emit="record", repeats_ends=True,
    )  # fmt: skip


def _keyed(rows: Rows, relation: ReadRelation, key: Typed, numbering: Numbering) -> Operator:
    """Return the rows by what they are joined by, which may be their key already."""
    parts = relation_key(relation)
    if len(parts) == 1 and key.expression in (parts[0].equals or parts[0].choices):
        return rows.node
    row = RowType(kept_type(key.type), rows.node.row.value)
    return numbering.add(Map, "KSTREAM-KEY-SELECT", (rows.node,), row, key=_key(rows, key))


def _key(rows: Rows, key: Typed) -> Expression:
    return kept(rows.translator.translate(key), key.type)


def _struct(left: Operator, right: Operator) -> Struct:
    assert isinstance(left.row.value, Struct)
    assert isinstance(right.row.value, Struct)
    return Struct((*left.row.value.fields, *right.row.value.fields))


def _projection(left: Operator, right: Operator) -> Expression:
    fields = [
        (name, Column((side, name)))
        for side, node in (("left", left), ("right", right))
        for name in _names(node)
    ]
    return StructOf(tuple(fields))


def _names(node: Operator) -> tuple[str, ...]:
    assert isinstance(node.row.value, Struct)
    return node.row.value.names


def _join(relation: ReadJoin, left: Operator, right: Operator, numbering: Numbering) -> Operator:
    kind = _KINDS[relation.kind]
    is_right = relation.kind is JoinKind.RIGHT
    if is_right:
        # A right join is a left join the other way round: columns are found by their names.
        left, right = right, left
    projection = _projection(left, right)
    row = RowType(left.row.key, _struct(left, right))
    match relation.shape:
        case JoinShape.STREAM_TABLE:
            return numbering.add(
                StreamTableJoin, "KSTREAM-JOIN", (left, right), row,
                kind=kind, key=None, projection=projection,
            )  # fmt: skip
        case JoinShape.TABLE_TABLE:
            return numbering.add(
                TableTableJoin, "KTABLE-JOIN", (left, right), row,
                kind=kind, projection=projection, emit="record",
            )  # fmt: skip
        case JoinShape.STREAM_STREAM:
            within = relation.within
            assert within is not None
            before, after = milliseconds(within.before), milliseconds(within.after)
            if is_right:
                before, after = after, before
            waits = within.grace is not None
            # What is kept without a grace is kept for a day, as in ksqlDB.
            grace = max(0, _DAY_MS - before - after)
            return numbering.add(
                StreamStreamJoin, "KSTREAM-JOIN", (left, right), row,
                kind=kind, before_ms=before, after_ms=after,
                grace_ms=grace if within.grace is None else milliseconds(within.grace),
                projection=projection, unmatched="in the end" if waits else "at once",
            )  # fmt: skip
        case JoinShape.FOREIGN_KEY:
            raise AssertionError("it has no key to bring both sides to")
