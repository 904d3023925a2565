"""Tables: the latest value of each key, as a topic's upserts or an aggregate's results make it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from headwater.plan.errors import PlanError
from headwater.plan.expressions.expressions import Case, Column
from headwater.plan.expressions.python_function import PythonFunction
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import (
    Aggregate,
    Changes,
    Map,
    Operator,
    Suppress,
    TableFilter,
    ToStream,
)
from headwater.plan.processing.fold import WindowFold
from headwater.plan.schemas.types import WINDOW_FIELDS, Struct
from headwater.streams.grouped_table import KGroupedTable
from headwater.streams.hints import Hints
from headwater.streams.joins import Joiner
from headwater.streams.kstream import KStream, negated
from headwater.streams.location import Located
from headwater.streams.names import check_name
from headwater.streams.operands import (
    UNDECLARED,
    Classes,
    as_expression,
    key_of_columns,
    predicate,
    typed,
)
from headwater.streams.operators import Operators
from headwater.streams.python_functions import Kept
from headwater.streams.stores import add_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.nodes import Emit, JoinKind, Operand
    from headwater.plan.processing.processor import Processor
    from headwater.plan.rows import RowType
    from headwater.plan.schemas.types import DataType
    from headwater.streams.operands import FieldLike, OperandLike
    from headwater.streams.suppression import Suppressed
    from headwater.streams.types import TypeLike

_VALUE = Column(("record", "value"))


class KTable(Operators):
    """The latest value of each key; a record with a null value deletes its key."""

    def filter(
        self, condition: OperandLike, *, remember: bool = False, name: str | None = None
    ) -> KTable:
        """Keep the keys whose value meets the condition; the others are deleted.

        With `remember` only those are deleted that were in, for which the table's rows are kept.
        """
        with Located() as location:
            operand = predicate(condition, Scope.of_record(self.row), self._classes)
            if remember:
                return self._remembered(operand, name, location)
            return self._kept(operand, name, location)

    def filter_not(self, condition: OperandLike, *, name: str | None = None) -> KTable:
        """Keep the keys whose value does not meet the condition; the others are deleted."""
        with Located() as location:
            operand = predicate(condition, Scope.of_record(self.row), self._classes)
            return self._kept(negated(operand), name, location)

    def map_values(
        self,
        value: OperandLike | None = None,
        /,
        *,
        returns: TypeLike | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KTable:
        """Replace the values, as `KStream.map_values` does; a deleted key stays deleted."""
        with Located() as location:
            if value is None or isinstance(value, str):
                check_name(name, Scope.of_record(self.row))
            stream = KStream(self._builder, self.node, self._classes)
            found = stream._value(value, returns, fields)  # noqa: SLF001 - the same rules
            operand = found.operand
            if isinstance(operand, PythonFunction):
                operand = replace(operand, skips_null=True)
            else:
                operand = Case(((_VALUE.isNotNull(), operand),))
            row = replace(self.row, value=found.type, windowed=_keeps_window(self.row, found.type))
            return self._mapped("KTABLE-MAPVALUES", operand, row, found.class_, name, location)

    def transform_values(
        self,
        processor: Callable[[], Processor],
        *,
        returns: TypeLike,
        name: str | None = None,
    ) -> KTable:
        """Give each change to a processor, which keeps state by key, and forwards the new values.

        A key that was deleted comes with the value None; what forwards None deletes it.
        """
        with Located():
            changes = self.to_stream()
            return changes.transform_values(processor, returns=returns, name=name).to_table()

    def to_stream(self, *, name: str | None = None) -> KStream:
        """Return the changes of the table, deletions included as null values."""
        with Located() as location:
            row = replace(self.row, has_position=False)
            node = self._builder.add(
                ToStream, "KTABLE-TOSTREAM", (self.node,), row, location, name=name
            )
            return KStream(self._builder, node, self._classes)

    def suppress(self, until: Suppressed | None = None, *, name: str | None = None) -> KTable:
        """Emit the result of each window once, after it has closed.

        With `until_time_limit("5 seconds")`, hold the updates of any table back: of each key, the
        last one comes when so much event time has passed since the first that was held back.
        """
        with Located() as location:
            if until is not None:
                row = replace(self.row, has_position=False)
                node: Operator = self._builder.add(
                    Suppress, "KTABLE-SUPPRESS", (self.node,), row, location,
                    buffer=until.buffer, name=name,
                )  # fmt: skip
                return KTable(self._builder, node, self._classes)
            folded = _window_fold(self.node)
            old = self.node if folded is None else folded.parents[0]
            if not isinstance(old, Aggregate) or old.window is None:
                raise PlanError(
                    "suppress waits for windows to close: use it right after a windowed aggregate, "
                    'or say until when, as suppress(until_time_limit("5 seconds"))'
                )
            node = self._builder.add(
                Aggregate, "KTABLE-SUPPRESS", old.parents, old.row, location, by=old.by,
                aggregations=old.aggregations, window=old.window, emit="final",
                late_to=old.late_to, name=name or old.name,
            )  # fmt: skip
            if folded is not None:
                node = self._builder.add(
                    Map, "KTABLE-MAPVALUES", (node,), folded.row, location, value=folded.value
                )
            return KTable(self._builder, node, self._classes)

    def group_by(self, key: FieldLike, *more: FieldLike) -> KGroupedTable:
        """Group the rows by an expression, or several as `KStream.group_by` does.

        What is aggregated then are the rows that the table has at the moment: a change takes the
        old value back.
        """
        with Located() as location:
            if self.row.windowed:
                raise PlanError(
                    "a windowed table has several values for a key: group its changes, as "
                    "to_stream().group_by(...)"
                )
            given = key_of_columns((key, *more)) if more else as_expression(key)
            by = typed(given, Scope.of_record(replace(self.row, has_position=False)))
            row = replace(self.row, has_position=False)
            changes = self._builder.add(Changes, "KTABLE-SELECT", (self.node,), row, location)
            return KGroupedTable(self._builder, changes, by, self._classes)

    def join(
        self,
        other: KTable,
        value: OperandLike | None = None,
        /,
        *,
        foreign_key: FieldLike | None = None,
        emit: Emit | None = None,
        returns: TypeLike | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KTable:
        """Join with another table by key: the pairs of rows that both have.

        A change of either row changes the pair, and deleting one deletes it. The new value is given
        as in `KStream.join`. `emit` is `batch` (the last result of a key in each micro-batch) or
        `record` (one for each row that changes the pair).

        With `foreign_key`, an expression over this table's rows, each of them is joined with the
        row of the other table that it refers to: `orders.join(customers,
        foreign_key="customer_id")`. The key stays that of this table.

        >>> from headwater.streams import App
        >>> app = App("customers")
        >>> names = app.table("names", value_type="name string")
        >>> places = app.table("places", value_type="place string")
        >>> names.join(places).to_stream().to("customers")
        """
        with Located() as location:
            return self._join(
                "inner", other, value, foreign_key, emit, returns, name, fields, location
            )

    def left_join(
        self,
        other: KTable,
        value: OperandLike | None = None,
        /,
        *,
        foreign_key: FieldLike | None = None,
        emit: Emit | None = None,
        returns: TypeLike | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KTable:
        """Join as `join` does; a row of this table without a partner is there with nulls."""
        with Located() as location:
            return self._join(
                "left", other, value, foreign_key, emit, returns, name, fields, location
            )

    def outer_join(
        self,
        other: KTable,
        value: OperandLike | None = None,
        /,
        *,
        emit: Emit | None = None,
        returns: TypeLike | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KTable:
        """Join as `join` does; rows of either table without a partner are there with nulls."""
        with Located() as location:
            return self._join("outer", other, value, None, emit, returns, name, fields, location)

    def store(self, name: str) -> None:
        """Keep the table in a store of this name, for look-ups with `App.store`.

        A table that is read from a topic is followed there; the changes of another one are written
        to the topic `<app>-<name>-changelog`, which the store follows.
        """
        with Located() as location:
            add_store(self._builder, self.node, name, location)

    def _join(
        self,
        kind: JoinKind,
        other: KTable,
        value: OperandLike | None,
        foreign_key: FieldLike | None,
        emit: Emit | None,
        returns: TypeLike | None,
        name: str | None,
        fields: dict[str, Any],
        location: str,
    ) -> KTable:
        if not isinstance(other, KTable):
            raise PlanError(
                "a table is joined with another table: read a stream as one with to_table(), or "
                "let the stream look the table up, as stream.join(table)"
            )
        if emit == "final":
            raise PlanError('a pair may always change: there is no emit="final" for it')
        joiner = Joiner(self._builder, kind, self.node, self._classes, name, location)
        joiner.project(other.node, other._classes, value, fields, returns)
        how_often: Literal["batch", "record"] = (
            "record" if (emit or self._builder.emit) == "record" else "batch"
        )
        if foreign_key is not None:
            return joiner.by_foreign_key(other.node, foreign_key, how_often)
        return joiner.of_tables(other.node, how_often)

    def _kept(self, condition: Operand, name: str | None, location: str) -> KTable:
        """A condition that fails deletes, so that a table downstream forgets the key too."""
        operand: Operand
        if isinstance(condition, PythonFunction):
            operand = PythonFunction(Kept(condition), self.row.value, takes_key=True)
        else:
            operand = Case(((condition, _VALUE),))
        return self._mapped("KTABLE-FILTER", operand, self.row, self._classes.value, name, location)

    def _remembered(self, condition: Operand, name: str | None, location: str) -> KTable:
        if isinstance(condition, PythonFunction) or self.row.windowed:
            raise PlanError(
                "remember=True needs a condition that is an expression, and a table without windows"
            )
        row = replace(self.row, has_position=False)
        changes = self._builder.add(Changes, "KTABLE-CHANGES", (self.node,), row, location)
        node = self._builder.add(
            TableFilter, "KTABLE-FILTER", (changes,), row, location, predicate=condition, name=name
        )
        return KTable(self._builder, node, self._classes)

    def _mapped(
        self, kind: str, operand: Operand, row: RowType, class_: Any, name: str | None,
        location: str,
    ) -> KTable:  # fmt: skip
        node = self._builder.add(Map, kind, (self.node,), row, location, value=operand, name=name)
        return KTable(self._builder, node, Classes(self._classes.key, class_))


class GlobalKTable(Hints):
    """A table that streams look up by any expression, not only by their key."""

    def __init__(self, node: Operator, classes: Classes = UNDECLARED) -> None:
        self.node = node
        self._classes = classes

    @property
    def row(self) -> RowType:
        """The types of keys and values."""
        return self.node.row


def _window_fold(node: Operator) -> Map | None:
    """Return the operator if it folds what an aggregate has collected of each window."""
    if not isinstance(node, Map) or not isinstance(node.value, PythonFunction):
        return None
    return node if isinstance(node.value.function, WindowFold) else None


def _keeps_window(row: RowType, value: DataType) -> bool:
    names = value.names if isinstance(value, Struct) else ()
    return row.windowed and all(field.name in names for field in WINDOW_FIELDS)
