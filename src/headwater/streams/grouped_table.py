"""A table's rows by group: aggregates of what is in the table now, whatever was there before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.expressions import functions
from headwater.plan.expressions.aggregations import UNDOABLE, Aggregation
from headwater.plan.expressions.expressions import Expression
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import TableAggregate
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import Field, Struct
from headwater.streams.grouped import reduction
from headwater.streams.hints import Hints
from headwater.streams.location import Located
from headwater.streams.names import check_name
from headwater.streams.operands import Classes, as_expression, check_same

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.nodes import Emit, Operator
    from headwater.plan.schemas.types import DataType
    from headwater.streams.builder import Builder
    from headwater.streams.ktable import KTable
    from headwater.streams.operands import FieldLike, Typed


class KGroupedTable(Hints):
    """Rows of a table by group, ready to be aggregated.

    A row that changes is taken out of the group that it was in, and put into that which it is in
    now; a deleted one is taken out. So there are only aggregates that can take a value back.

    >>> from headwater.streams import App, count, sum
    >>> app = App("stock")
    >>> items = app.table("items", value_type="shelf string, pieces int")
    >>> items.group_by("shelf").aggregate(items=count(), pieces=sum("pieces")).store("shelves")
    """

    def __init__(self, builder: Builder, node: Operator, by: Typed, classes: Classes) -> None:
        self._builder = builder
        self._node = node
        self._by = by
        self._classes = classes

    def aggregate(
        self,
        aggregations: Mapping[str, Aggregation] | None = None,
        /,
        *,
        emit: Emit | None = None,
        name: str | None = None,
        **named: Aggregation,
    ) -> KTable:
        """Compute several results at once: `aggregate(total=sum("value"), n=count())`."""
        with Located() as location:
            return self._aggregate({**(aggregations or {}), **named}, emit, name, location)

    def count(self, *, emit: Emit | None = None, name: str | None = None) -> KTable:
        """Count the rows; the result's field is `count`."""
        with Located() as location:
            return self._aggregate({"count": functions.count()}, emit, name, location)

    def sum(self, of: FieldLike, *, emit: Emit | None = None, name: str | None = None) -> KTable:
        """Add up an expression; the result's field is `sum`."""
        with Located() as location:
            added = Aggregation("sum", as_expression(of))
            return self._aggregate({"sum": added}, emit, name, location)

    def avg(self, of: FieldLike, *, emit: Emit | None = None, name: str | None = None) -> KTable:
        """Take the mean of an expression; the result's field is `avg`."""
        with Located() as location:
            mean = Aggregation("avg", as_expression(of))
            return self._aggregate({"avg": mean}, emit, name, location)

    def reduce(
        self,
        add: FieldLike | Mapping[str, FieldLike],
        /,
        *,
        undo: FieldLike | Mapping[str, FieldLike],
        emit: Emit | None = None,
        name: str | None = None,
    ) -> KTable:
        """Fold the values of a group: `reduce("old + new", undo="old - new")`.

        In both, `old` is the result so far, and `new` the value that comes or that is taken back.
        Where the value is a struct, each is a dict with an expression for each of its fields. The
        first value is the first result.
        """
        with Located() as location:
            check_name(name, Scope.of_reduce(self._node.row.value))
            added, taken_back = self._reduction(add), self._reduction(undo)
            aggregations = {"value": Aggregation("reduce", added)}
            return self._made(
                aggregations, self._node.row.value, emit, name, location, undo=taken_back
            )

    def _reduction(self, given: FieldLike | Mapping[str, FieldLike]) -> Expression:
        wanted = self._node.row.value
        if isinstance(given, Expression | str):
            expression = reduction(given, {}, wanted)
        else:
            expression = reduction(None, given, wanted)
        found = expression.type_in(Scope.of_reduce(wanted))
        check_same(found, wanted, f"{expression}: a reduced value keeps its type")
        return expression

    def _aggregate(
        self,
        aggregations: Mapping[str, Aggregation],
        emit: Emit | None,
        name: str | None,
        location: str,
    ) -> KTable:
        if not aggregations:
            raise PlanError("aggregate needs a result, as aggregate(n=count())")
        for each, given in aggregations.items():
            if not isinstance(given, Aggregation) or given.function not in UNDOABLE:
                raise PlanError(
                    f"{each}={given} cannot take back the value of a row that changes: of a table, "
                    f"use {', '.join(UNDOABLE)}, or reduce with undo="
                )
        scope = Scope.of_record(self._node.row)
        fields = (Field(each, given.type_in(scope)) for each, given in aggregations.items())
        return self._made(aggregations, Struct(tuple(fields)), emit, name, location)

    def _made(
        self,
        aggregations: Mapping[str, Aggregation],
        value: DataType,
        emit: Emit | None,
        name: str | None,
        location: str,
        undo: Expression | None = None,
    ) -> KTable:
        from headwater.streams.ktable import KTable

        if emit == "final":
            raise PlanError('a table may always change: there is no emit="final" for it')
        each = (emit or self._builder.emit) == "record"
        kind = "KTABLE-AGGREGATE" if undo is None else "KTABLE-REDUCE"
        node = self._builder.add(
            TableAggregate, kind, (self._node,), RowType(self._by.type, value), location,
            by=self._by.operand, aggregations=tuple(aggregations.items()), undo=undo,
            emit="record" if each else "batch", name=name,
        )  # fmt: skip
        value_class = None if undo is None else self._classes.value
        return KTable(self._builder, node, Classes(self._by.class_, value_class))
