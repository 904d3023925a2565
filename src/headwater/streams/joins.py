"""Builds joins: what two records become, and which of them meet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from headwater.plan.errors import ExpressionError, PlanError
from headwater.plan.expressions.expressions import Column, Expression, StructOf
from headwater.plan.expressions.python_function import PythonFunction
from headwater.plan.expressions.scope import LEFT, RECORD, RIGHT, Scope
from headwater.plan.nodes import (
    ForeignKeyJoin,
    JoinKind,
    Map,
    Operator,
    StreamStreamJoin,
    StreamTableJoin,
    TableTableJoin,
)
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import Struct
from headwater.streams.names import check_name
from headwater.streams.operands import (
    Classes,
    Typed,
    as_expression,
    check_same,
    projection,
    typed,
)
from headwater.streams.python_functions import Joined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from headwater.plan.nodes import Operand
    from headwater.streams.builder import Builder
    from headwater.streams.kstream import KStream
    from headwater.streams.ktable import KTable
    from headwater.streams.operands import FieldLike, OperandLike
    from headwater.streams.types import TypeLike
    from headwater.streams.windows import JoinWindow


class Joiner:
    """One join in the making: first what comes out, then with what."""

    def __init__(
        self,
        builder: Builder,
        kind: JoinKind,
        left: Operator,
        classes: Classes,
        name: str | None,
        location: str,
    ) -> None:
        self._builder = builder
        self._kind = kind
        self._left = left
        self._classes = classes
        self._name = name
        self._location = location
        self._function: Typed | None = None

    def project(
        self,
        right: Operator,
        right_classes: Classes,
        value: OperandLike | None,
        fields: Mapping[str, FieldLike],
        returns: TypeLike | None,
    ) -> None:
        """Work out the new value over the fields of both sides."""
        scope = Scope.of_join(self._left.row, right.row)
        if value is not None and fields:
            raise PlanError("a join takes one value, or named fields, not both")
        if value is None:
            check_name(self._name, scope)
        if fields:
            self._projection = projection(False, fields, scope, right.row.value)
        elif value is None:
            self._projection = _everything(self._left.row, right.row, scope)
        elif isinstance(value, Expression | str):
            self._projection = typed(value, scope, returns=returns)
        else:
            self._projection = _both(scope)
            self._function = self._joined(value, right_classes, returns)

    def with_stream(self, right: Operator, window: JoinWindow) -> KStream:
        """Join two streams of the same key type."""
        check_same(right.row.key, self._left.row.key, "the keys of joined streams")
        node = self._builder.add(
            StreamStreamJoin, _node_kind(self._kind), (self._left, right), self._row(),
            self._location, kind=self._kind, before_ms=window.before_ms, after_ms=window.after_ms,
            grace_ms=window.grace_ms, projection=self._expression(), name=self._name,
            unmatched="at once" if window.is_eager else "in the end",
        )  # fmt: skip
        return self._stream(node)

    def with_table(self, table: Operator, on: FieldLike | None) -> KStream:
        """Join with a table, by the record's key or by what `on` gives."""
        if table.row.windowed:
            raise PlanError(
                "a windowed table has several values for a key: a stream cannot be joined with it"
            )
        key = None if on is None else as_expression(on)
        given = self._left.row.key
        if key is not None:
            given = key.type_in(Scope.of_record(self._left.row))
        check_same(given, table.row.key, "the key to look up and the table's")
        node = self._builder.add(
            StreamTableJoin, _node_kind(self._kind), (self._left, table), self._row(),
            self._location, kind=self._kind, key=key, projection=self._expression(),
            name=self._name,
        )  # fmt: skip
        return self._stream(node)

    def of_tables(self, right: Operator, emit: Literal["batch", "record"]) -> KTable:
        """Join two tables of the same key type."""
        if self._left.row.windowed or right.row.windowed:
            raise PlanError(
                "a windowed table has several values for a key: it cannot be joined with a table"
            )
        check_same(right.row.key, self._left.row.key, "the keys of joined tables")
        node = self._builder.add(
            TableTableJoin, _node_kind(self._kind, "KTABLE"), (self._left, right), self._row(),
            self._location, kind=self._kind, projection=self._expression(), emit=emit,
            name=self._name,
        )  # fmt: skip
        return self._table(node)

    def by_foreign_key(
        self, right: Operator, foreign_key: FieldLike, emit: Literal["batch", "record"]
    ) -> KTable:
        """Join each row of a table with the row of another that it refers to."""
        if self._left.row.windowed or right.row.windowed:
            raise PlanError(
                "a windowed table has several values for a key: it cannot be joined with a table"
            )
        key = as_expression(foreign_key)
        row = replace(self._left.row, has_position=False)
        given = key.type_in(Scope.of_record(row))
        check_same(given, right.row.key, "the foreign key and the other table's key")
        node = self._builder.add(
            ForeignKeyJoin, _node_kind(self._kind, "KTABLE-FK"), (self._left, right), self._row(),
            self._location, kind=self._kind, foreign_key=key, projection=self._expression(),
            emit=emit, name=self._name,
        )  # fmt: skip
        return self._table(node)

    def _joined(self, value: Callable[..., Any], right: Classes, returns: TypeLike | None) -> Typed:
        joiner = Joined(value, self._classes.value, right.value)
        if returns is None:
            returns = typed(value, Scope({})).type
        return typed(joiner, Scope({}), returns=returns)

    def _expression(self) -> Expression:
        return self._projection.expression("a join")

    def _row(self) -> RowType:
        return RowType(self._left.row.key, self._projection.type)

    def _stream(self, node: Operator) -> KStream:
        from headwater.streams.kstream import KStream

        if self._function is not None:
            node = self._mapped(node, "KSTREAM-MAPVALUES", self._function.operand)
        return KStream(self._builder, node, self._result_classes())

    def _table(self, node: Operator) -> KTable:
        from headwater.streams.ktable import KTable

        if self._function is not None:
            function = self._function.operand
            assert isinstance(function, PythonFunction), "it was given as a function"
            # Where there is no pair any more, there is nothing to call it with.
            node = self._mapped(node, "KTABLE-MAPVALUES", replace(function, skips_null=True))
        return KTable(self._builder, node, self._result_classes())

    def _mapped(self, node: Operator, kind: str, function: Operand) -> Operator:
        assert self._function is not None, "there is something to map by"
        row = RowType(node.row.key, self._function.type)
        return self._builder.add(Map, kind, (node,), row, self._location, value=function)

    def _result_classes(self) -> Classes:
        made = None if self._function is None else self._function.class_
        return Classes(self._classes.key, made)


def _node_kind(kind: JoinKind, of: str = "KSTREAM") -> str:
    word = {"inner": "JOIN", "left": "LEFTJOIN", "outer": "OUTERJOIN"}[kind]
    return f"{of}-{word}"


def _both(scope: Scope) -> Typed:
    struct = StructOf(tuple((side, Column((RECORD, side))) for side in (LEFT, RIGHT)))
    return Typed(struct, struct.type_in(scope))


def _everything(left: RowType, right: RowType, scope: Scope) -> Typed:
    if not isinstance(left.value, Struct) or not isinstance(right.value, Struct):
        raise ExpressionError(
            "say what the two become: only structs have fields that can be put together "
            f"(left is {left.value.ddl()}, right is {right.value.ddl()})"
        )
    if scope.ambiguous:
        names = ", ".join(sorted(scope.ambiguous))
        raise ExpressionError(
            f"both sides have {names}: name the fields that you want, as id='left.id', ..."
        )
    fields = [(name, Column((LEFT, name))) for name in left.value.names]
    fields += [(name, Column((RIGHT, name))) for name in right.value.names]
    struct = StructOf(tuple(fields))
    return Typed(struct, struct.type_in(scope))
