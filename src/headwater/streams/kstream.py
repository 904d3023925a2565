"""A stream of records: what can be done with it one record at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater.plan.errors import ExpressionError, PlanError
from headwater.plan.expressions.expressions import Call, Expression, Literal
from headwater.plan.expressions.python_function import PythonFunction, takes_key
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import (
    Branch,
    FileSink,
    Filter,
    FlatMap,
    ForEachSink,
    Map,
    Merge,
    Operator,
    Peek,
    PrintSink,
    Repartition,
    Split,
    TopicSink,
    TopicSource,
)
from headwater.plan.nodes import Table as TableNode
from headwater.plan.schemas.types import STRING, VOID, Array, Struct
from headwater.streams.builder import topic_above
from headwater.streams.formats import written_format
from headwater.streams.location import Located
from headwater.streams.names import check_name
from headwater.streams.operands import (
    ALL,
    Classes,
    FieldLike,
    OperandLike,
    Typed,
    as_expression,
    check_same,
    predicate,
    projection,
    typed,
)
from headwater.streams.python_functions import Negated
from headwater.streams.stateful import StatefulOperators

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.plan.nodes import Operand
    from headwater.plan.rows import RowType
    from headwater.streams.formats import FormatLike
    from headwater.streams.ktable import KTable
    from headwater.streams.types import TypeLike


class KStream(StatefulOperators):
    """Records of a topic, or what operators made of them.

    >>> from headwater.streams import App, col
    >>> app = App("alerts")
    >>> readings = app.stream("readings", value_type="id string, value double")
    >>> readings.filter(col("value") > 800_000).to("alerts")
    """

    def filter(self, condition: OperandLike, *, name: str | None = None) -> KStream:
        """Keep the records for which the condition is true."""
        with Located() as location:
            operand = predicate(condition, self._scope(), self._classes)
            return self._next(Filter, "KSTREAM-FILTER", location, predicate=operand, name=name)

    def filter_not(self, condition: OperandLike, *, name: str | None = None) -> KStream:
        """Keep the records for which the condition is not true, also where it is null."""
        with Located() as location:
            operand = negated(predicate(condition, self._scope(), self._classes))
            return self._next(Filter, "KSTREAM-FILTER", location, predicate=operand, name=name)

    def map(
        self,
        function: Callable[..., Any] | None = None,
        *,
        key: FieldLike | None = None,
        value: FieldLike | None = None,
        returns: tuple[TypeLike, TypeLike] | None = None,
        name: str | None = None,
    ) -> KStream:
        """Replace key and value: by two expressions, or by a function that returns a pair.

        The new keys may be anywhere, so that what follows by key needs a repartition.
        """
        with Located() as location:
            if (function is None) == (key is None or value is None):
                raise PlanError("map takes key= and value=, or one function that returns both")
            if function is None:
                assert key is not None
                assert value is not None
                new_key, new_value = typed(key, self._scope()), typed(value, self._scope())
                row = replace(self.row, key=_a_key(new_key).type, value=new_value.type)
                return self._next(
                    Map, "KSTREAM-MAP", location, row, Classes(),
                    key=new_key.operand, value=new_value.operand, name=name,
                )  # fmt: skip
            pair = self._function(function, returns, "pair")
            assert isinstance(pair.type, Struct)
            row = replace(self.row, key=pair.type.fields[0].type, value=pair.type.fields[1].type)
            return self._next(
                Map, "KSTREAM-MAP", location, row, Classes(value=pair.class_),
                pair=pair.operand, name=name,
            )  # fmt: skip

    def map_values(
        self,
        value: OperandLike | None = None,
        /,
        *,
        returns: TypeLike | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KStream:
        """Replace the value and keep the key.

        `map_values(celsius="(value - 32) / 1.8")` makes a struct of named fields,
        `map_values("*", unit=lit("kW"))` keeps those there are, `map_values("value * 2")` or a
        function makes any value.
        """
        with Located() as location:
            if value is None or isinstance(value, str):
                check_name(name, self._scope())
            found = self._value(value, returns, fields)
            row = replace(self.row, value=found.type)
            classes = Classes(self._classes.key, found.class_)
            return self._next(
                Map, "KSTREAM-MAPVALUES", location, row, classes, value=found.operand, name=name
            )

    def flat_map(
        self,
        function: OperandLike,
        *,
        returns: tuple[TypeLike, TypeLike] | None = None,
        name: str | None = None,
    ) -> KStream:
        """Make any number of records of each: a function returns a list of pairs.

        As an expression, an array of structs of `key` and `value`.
        """
        with Located() as location:
            found = self._function(function, returns, "pairs")
            element = found.type.element if isinstance(found.type, Array) else found.type
            if not isinstance(element, Struct) or element.names != ("key", "value"):
                raise ExpressionError(
                    f"{function}: flat_map takes an array of structs of key and value, this is "
                    f"{found.type.ddl()}"
                )
            key, value = (field.type for field in element.fields)
            return self._next(
                FlatMap, "KSTREAM-FLATMAP", location, replace(self.row, key=key, value=value),
                Classes(value=found.class_), items=found.operand, keyed=True, name=name,
            )  # fmt: skip

    def flat_map_values(
        self, values: OperandLike, *, returns: TypeLike | None = None, name: str | None = None
    ) -> KStream:
        """Make a record with the same key of each element of an array, or of a function's list."""
        with Located() as location:
            found = self._function(values, returns, "values")
            if not isinstance(found.type, Array):
                raise ExpressionError(
                    f"{values}: flat_map_values takes an array, this is {found.type.ddl()}"
                )
            return self._next(
                FlatMap, "KSTREAM-FLATMAPVALUES", location,
                replace(self.row, value=found.type.element), Classes(self._classes.key,
                found.class_), items=found.operand, keyed=False, name=name,
            )  # fmt: skip

    def select_key(
        self, key: OperandLike, *, returns: TypeLike | None = None, name: str | None = None
    ) -> KStream:
        """Replace the key; what follows by key needs a repartition."""
        with Located() as location:
            found = _a_key(typed(key, self._scope(), returns=returns, classes=self._classes))
            return self._next(
                Map, "KSTREAM-KEY-SELECT", location, replace(self.row, key=found.type),
                Classes(found.class_, self._classes.value), key=found.operand, name=name,
            )  # fmt: skip

    def branch(self, *conditions: OperandLike) -> tuple[KStream, ...]:
        """Return a stream for each condition; a record goes to the first that it meets."""
        with Located() as location:
            return tuple(self._branches(conditions, location)[:-1])

    def split(self, **conditions: OperandLike) -> dict[str, KStream]:
        """Return named streams; a record goes to the first condition it meets, or to `default`."""
        with Located() as location:
            if "default" in conditions:
                raise PlanError("'default' is the stream of records that meet no condition")
            streams = self._branches(tuple(conditions.values()), location)
            return dict(zip((*conditions, "default"), streams, strict=True))

    def merge(self, *others: KStream) -> KStream:
        """Return the records of this stream and of others of the same type."""
        with Located() as location:
            for other in others:
                check_same(other.row.key, self.row.key, "the keys of merged streams")
                check_same(other.row.value, self.row.value, "the values of merged streams")
            nodes = (self.node, *(other.node for other in others))
            row = replace(self.row, has_position=all(node.row.has_position for node in nodes))
            merged = self._builder.add(Merge, "KSTREAM-MERGE", nodes, row, location)
            return KStream(self._builder, merged, self._classes)

    def peek(self, function: Callable[..., Any], *, name: str | None = None) -> KStream:
        """Call a function for each record, and pass the record on."""
        with Located() as location:
            called = self._called(function)
            return self._next(Peek, "KSTREAM-PEEK", location, function=called, name=name)

    def print(self, label: str | None = None) -> None:
        """Print each record."""
        with Located() as location:
            label = self.node.id if label is None else label
            self._end(PrintSink, "KSTREAM-PRINTER", location, label=label)

    def for_each(self, function: Callable[..., Any]) -> None:
        """Call a function for each record, and end there."""
        with Located() as location:
            called = self._called(function)
            self._end(ForEachSink, "KSTREAM-FOREACH", location, function=called)

    def repartition(self, partitions: int | None = None, *, name: str | None = None) -> KStream:
        """Bring equal keys together, in this many partitions if a count is given."""
        with Located() as location:
            if partitions is not None and partitions < 1:
                raise PlanError(f"a stream has at least one partition, not {partitions}")
            row = replace(self.row, has_position=False)
            return self._next(
                Repartition, "KSTREAM-REPARTITION", location, row, partitions=partitions, name=name
            )

    def to(
        self,
        topic: str | Expression,
        *,
        key: FormatLike | None = None,
        value: FormatLike | None = None,
    ) -> None:
        """Write the records to a topic; an expression chooses it for each record."""
        with Located() as location:
            self._sink(topic, key, value, location)

    def through(
        self, topic: str, *, key: FormatLike | None = None, value: FormatLike | None = None
    ) -> KStream:
        """Write the records to a topic and go on with what is read from it."""
        with Located() as location:
            sink = self._sink(topic, key, value, location)
            source = self._builder.add(
                TopicSource, "KSTREAM-SOURCE", (), replace(self.row, has_position=True), location,
                topics=(topic,), kind="stream", key_format=sink.key_format,
                value_format=sink.value_format,
            )  # fmt: skip
            return KStream(self._builder, source, self._classes)

    def to_files(self, path: str | Path, *, format: str = "parquet") -> None:  # noqa: A002
        """Append the records to files in a folder."""
        with Located() as location:
            self._end(FileSink, "KSTREAM-FILES", location, path=str(path), format=format)

    def to_table(self, *, name: str | None = None) -> KTable:
        """Read the stream as upserts: the latest value of each key, deleted by null."""
        from headwater.streams.ktable import KTable

        with Located() as location:
            row = replace(self.row, has_position=False)
            table = self._builder.add(
                TableNode, "KSTREAM-TOTABLE", (self.node,), row, location, name=name
            )
            return KTable(self._builder, table, self._classes)

    def _scope(self) -> Scope:
        return Scope.of_record(self.row)

    def _next(
        self,
        class_: type[Operator],
        kind: str,
        location: str,
        row: RowType | None = None,
        classes: Classes | None = None,
        /,
        **fields: Any,
    ) -> KStream:
        node = self._builder.add(class_, kind, (self.node,), row or self.row, location, **fields)
        return KStream(self._builder, node, self._classes if classes is None else classes)

    def _end(self, class_: type[Any], kind: str, location: str, /, **fields: Any) -> None:
        sink = self._builder.add(class_, kind, (self.node,), self.row, location, **fields)
        self._builder.add_sink(sink)

    def _sink(
        self,
        topic: str | Expression,
        key: FormatLike | None,
        value: FormatLike | None,
        location: str,
    ) -> TopicSink:
        if isinstance(topic, Expression) and topic.type_in(self._scope()) != STRING:
            raise ExpressionError(f"{topic}: the name of a topic is a string")
        source = topic_above(self.node)
        sink = self._builder.add(
            TopicSink, "KSTREAM-SINK", (self.node,), self.row, location, topic=topic,
            key_format=written_format(key, self.row.key, "key", source),
            value_format=written_format(value, self.row.value, "value", source),
        )  # fmt: skip
        self._builder.add_sink(sink)
        return sink

    def _branches(self, conditions: tuple[OperandLike, ...], location: str) -> list[KStream]:
        """Return the streams of the conditions, and last the rest."""
        if not conditions:
            raise PlanError("a split needs at least one condition")
        operands = [predicate(each, self._scope(), self._classes) for each in conditions]
        if any(isinstance(each, PythonFunction) for each in operands):
            return self._asked_once(tuple(operands), location)
        found = []
        rest = self
        for condition in conditions:
            found.append(rest.filter(condition))
            rest = rest.filter_not(condition)
        return [*found, rest]

    def _asked_once(self, conditions: tuple[Operand, ...], location: str) -> list[KStream]:
        split = self._next(Split, "KSTREAM-BRANCH", location, conditions=conditions).node
        children = [
            self._builder.add(
                Branch, "KSTREAM-BRANCHCHILD", (split,), self.row, location, index=index
            )
            for index in range(len(conditions) + 1)
        ]
        return [KStream(self._builder, child, self._classes) for child in children]

    def _value(
        self, value: OperandLike | None, returns: TypeLike | None, fields: dict[str, FieldLike]
    ) -> Typed:
        keeps_all = isinstance(value, str) and value == ALL
        if fields and value is not None and not keeps_all:
            raise PlanError("map_values takes one value, or named fields, not both")
        if fields or keeps_all:
            return projection(keeps_all, fields, self._scope(), self.row.value)
        if value is None:
            raise PlanError("map_values needs a value, or named fields")
        return typed(value, self._scope(), returns=returns, classes=self._classes)

    def _function(self, given: OperandLike, returns: Any, shape: Any) -> Typed:
        if isinstance(given, Expression | str):
            return typed(as_expression(given), self._scope())
        return typed(given, self._scope(), returns=returns, classes=self._classes, shape=shape)

    def _called(self, function: Callable[..., Any]) -> PythonFunction:
        if not callable(function):
            raise PlanError(f"{function!r} is no function")
        return PythonFunction(
            function, VOID, takes_key(function), "value", self._classes.key, self._classes.value
        )


def negated(operand: Operand) -> Operand:
    """Return a condition that holds where this one does not, also where this one is null."""
    if isinstance(operand, PythonFunction):
        return replace(operand, function=Negated(operand.function))
    return Call("not", (Call("coalesce", (operand, Literal(False))),))


def _a_key(found: Typed) -> Typed:
    if found.type == VOID:
        raise ExpressionError("a key that is always null brings nothing together")
    return found
