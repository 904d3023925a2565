"""Records by group: aggregates over all of them, or over windows in event time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from headwater.plan.errors import ExpressionError, PlanError
from headwater.plan.expressions import functions
from headwater.plan.expressions.aggregations import Aggregation
from headwater.plan.expressions.expressions import Column, StructOf
from headwater.plan.expressions.python_function import PythonFunction
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import Aggregate, Map
from headwater.plan.processing.fold import Fold, WindowFold
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import WINDOW_FIELDS, DataType, Field, Struct
from headwater.streams.hints import Hints
from headwater.streams.location import Located
from headwater.streams.names import check_name
from headwater.streams.operands import Classes, as_expression, check_same
from headwater.streams.processes import add_process
from headwater.streams.types import as_class, as_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.nodes import Emit, Operator
    from headwater.plan.windows import AnyWindow
    from headwater.streams.builder import Builder
    from headwater.streams.cogrouped import CogroupedKStream
    from headwater.streams.ktable import KTable
    from headwater.streams.operands import FieldLike, Typed
    from headwater.streams.types import TypeLike
    from headwater.streams.windows import TimeWindow

_EMITS = ("batch", "record", "final")


class AggregateOptions(TypedDict, total=False):
    """What every aggregate takes.

    `emit` is `batch` (the last result of a group in each micro-batch) or `record` (one for each
    record). Records that come after their window has closed are counted, and written to the topic
    `late_to` if there is one. `name` keeps the state apart from the numbering of operators.
    """

    emit: Emit | None
    late_to: str | None
    name: str | None


class KGroupedStream(Hints):
    """Records of the same key, ready to be aggregated.

    >>> from headwater.streams import App, avg, count, tumbling
    >>> app = App("averages")
    >>> readings = app.stream("readings", value_type="id string, value double")
    >>> by_minute = readings.group_by_key().windowed_by(tumbling("1 minute").grace("10 seconds"))
    >>> by_minute.aggregate(mean=avg("value"), n=count()).to_stream().to("averages")
    """

    def __init__(
        self,
        builder: Builder,
        node: Operator,
        *,
        by: Typed | None,
        classes: Classes,
        window: AnyWindow | None = None,
    ) -> None:
        self._builder = builder
        self.node = node
        self.by = by
        self._classes = classes
        self.window = window

    @property
    def key_type(self) -> DataType:
        """The type of the groups' keys."""
        return self.node.row.key if self.by is None else self.by.type

    @property
    def key_class(self) -> type | None:
        """The dataclass of the groups' keys, if they were declared by one."""
        return self._classes.key if self.by is None else self.by.class_

    @property
    def scope(self) -> Scope:
        """The names of a record."""
        return Scope.of_record(self.node.row)

    def cogroup(
        self, aggregations: Mapping[str, Aggregation] | None = None, /, **named: Aggregation
    ) -> CogroupedKStream:
        """Aggregate together with other streams: `cogroup(n=count()).cogroup(others, m=count())`.

        Each stream brings results of its own, and the table has all of them for a key.
        """
        from headwater.streams.cogrouped import cogrouped

        with Located():
            return cogrouped(self._builder, (), self, {**(aggregations or {}), **named})

    def windowed_by(self, window: TimeWindow) -> KGroupedStream:
        """Aggregate each window by itself; results have `window_start` and `window_end`."""
        return KGroupedStream(
            self._builder, self.node, by=self.by, classes=self._classes, window=window.window
        )

    def aggregate(
        self,
        aggregations: Mapping[str, Aggregation] | Callable[[], Any] | None = None,
        aggregator: Callable[..., Any] | None = None,
        /,
        *,
        returns: TypeLike | None = None,
        emit: Emit | None = None,
        late_to: str | None = None,
        name: str | None = None,
        **named: Aggregation,
    ) -> KTable:
        """Compute several results at once: `aggregate(total=sum("value"), n=count())`.

        The options are those of `AggregateOptions`. Or fold with functions of your own, the first
        result and the next one of key, value and the one before: `aggregate(list, lambda key,
        value, all: [*all, value["id"]], returns="array<string>")`. Without windows each record then
        has a result, and None deletes it.
        """
        with Located() as location:
            if aggregator is not None or callable(aggregations):
                if aggregator is None or not callable(aggregations) or returns is None or named:
                    raise PlanError(
                        "aggregate takes results by name, as aggregate(n=count()), or two "
                        "functions and the type of the result, as aggregate(lambda: 0, lambda key, "
                        'value, total: total + value["n"], returns="bigint")'
                    )
                fold = Fold(aggregator, as_type(returns).ddl(), as_class(returns), aggregations)
                options = AggregateOptions(emit=emit, late_to=late_to, name=name)
                return self._folded(fold, returns, options, location)
            if returns is not None:
                raise PlanError("returns= is for a function: what these return is known")
            options = AggregateOptions(emit=emit, late_to=late_to, name=name)
            return self.aggregated({**(aggregations or {}), **named}, options, location)

    def count(self, **options: Unpack[AggregateOptions]) -> KTable:
        """Count the records; the result's field is `count`."""
        with Located() as location:
            return self.aggregated({"count": functions.count()}, options, location)

    def sum(self, of: FieldLike, **options: Unpack[AggregateOptions]) -> KTable:
        """Add up an expression; the result's field is `sum`."""
        return self._single("sum", of, options)

    def avg(self, of: FieldLike, **options: Unpack[AggregateOptions]) -> KTable:
        """Take the mean of an expression; the result's field is `avg`."""
        return self._single("avg", of, options)

    def min(self, of: FieldLike, **options: Unpack[AggregateOptions]) -> KTable:
        """Take the smallest value of an expression; the result's field is `min`."""
        return self._single("min", of, options)

    def max(self, of: FieldLike, **options: Unpack[AggregateOptions]) -> KTable:
        """Take the largest value of an expression; the result's field is `max`."""
        return self._single("max", of, options)

    def reduce(
        self,
        value: FieldLike | Callable[[Any, Any], Any] | None = None,
        /,
        *,
        emit: Emit | None = None,
        late_to: str | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KTable:
        """Fold the values of a group: `old` is the result so far, `new` the record's value.

        `reduce("old + new")` for plain values, `reduce(total="old.total + new.total", ...)` for
        structs. The result has the value's type; the first record's value is the first result.
        A Python function gets the two; without windows it gives a result for each record.
        """
        with Located() as location:
            wanted = self.node.row.value
            if callable(value):
                if fields:
                    raise PlanError("reduce takes a function, or an expression for each field")
                fold = Fold(value, wanted.ddl(), self._classes.value)
                returns = self._classes.value or wanted
                options = AggregateOptions(emit=emit, late_to=late_to, name=name)
                return self._folded(fold, returns, options, location)
            if fields:
                check_name(name, Scope.of_reduce(wanted))
            expression = reduction(value, fields, wanted)
            given = expression.type_in(Scope.of_reduce(wanted))
            check_same(given, wanted, f"{expression}: a reduced value keeps its type")
            reduced = {"value": Aggregation("reduce", expression)}
            options = AggregateOptions(emit=emit, late_to=late_to, name=name)
            return self.aggregated(reduced, options, location)

    def _folded(
        self, fold: Fold, returns: TypeLike, options: AggregateOptions, location: str
    ) -> KTable:
        if self.window is not None:
            return self._folded_windows(fold, returns, options, location)
        if options.get("late_to") is not None or options.get("emit") == "final":
            raise PlanError(
                "only windows have late records and a final result: use windowed_by before"
            )
        if options.get("emit") == "batch":
            raise PlanError(
                "a Python function gives a result for each record, unless there are windows: leave "
                'emit="batch"'
            )
        node = self.node
        if self.by is not None:
            row = replace(node.row, key=self.by.type)
            node = self._builder.add(
                Map, "KSTREAM-KEY-SELECT", (node,), row, location, key=self.by.operand
            )
        classes = Classes(self.key_class, self._classes.value)
        folded = add_process(
            self._builder, node, classes, fold, returns, options.get("name"), location,
            keeps_key=True,
        )  # fmt: skip
        return folded.to_table()

    def _folded_windows(
        self, fold: Fold, returns: TypeLike, options: AggregateOptions, location: str
    ) -> KTable:
        """Collect each window's values, and fold them: so that a batch is few calls of Python."""
        from headwater.streams.ktable import KTable

        result = as_type(returns)
        inner = result.fields if isinstance(result, Struct) else (Field("value", result),)
        value = _struct(WINDOW_FIELDS, inner)
        collected = Aggregation("collect_list", Column(("record", "value")), ignore_nulls=False)
        windows = self.aggregated({WindowFold.VALUES: collected}, options, location)
        names = result.names if isinstance(result, Struct) else ()
        function = WindowFold(fold, self._classes.value, names)
        # Of what a function returns, Spark takes anything to be null.
        given = Struct(tuple(replace(field, nullable=True) for field in value.fields))
        operand = PythonFunction(
            function, given, takes_key=True, key_class=self.key_class, skips_null=True
        )
        row = replace(windows.row, value=value)
        node = self._builder.add(
            Map, "KTABLE-MAPVALUES", (windows.node,), row, location, value=operand
        )
        return KTable(self._builder, node, Classes(self.key_class))

    def _single(self, function: str, of: FieldLike, options: AggregateOptions) -> KTable:
        with Located() as location:
            aggregation = Aggregation(function, as_expression(of))
            return self.aggregated({function: aggregation}, options, location)

    def aggregated(
        self,
        aggregations: Mapping[str, Aggregation],
        options: AggregateOptions,
        location: str,
    ) -> KTable:
        """Return the table of these results."""
        from headwater.streams.ktable import KTable

        emit = options.get("emit") or self._builder.emit
        late_to = options.get("late_to")
        self.check(aggregations, emit, late_to)
        value, is_reduce = self._value(aggregations)
        kind = "KSTREAM-REDUCE" if is_reduce else "KSTREAM-AGGREGATE"
        row = RowType(self.key_type, value, windowed=self.window is not None)
        node = self._builder.add(
            Aggregate, kind, (self.node,), row, location,
            by=None if self.by is None else self.by.operand, emit=emit, late_to=late_to,
            aggregations=tuple(aggregations.items()), window=self.window, name=options.get("name"),
        )  # fmt: skip
        keeps_class = is_reduce and self.window is None
        return KTable(
            self._builder,
            node,
            Classes(self.key_class, self._classes.value if keeps_class else None),
        )

    def check(
        self, aggregations: Mapping[str, Aggregation], emit: Emit, late_to: str | None
    ) -> None:
        """Raise PlanError for what is no aggregate, or has no meaning here."""
        if not aggregations:
            raise PlanError("aggregate needs a result, as aggregate(n=count())")
        for name, given in aggregations.items():
            if not isinstance(given, Aggregation):
                raise PlanError(f"{name}={given} is no aggregate: use count, sum, avg, min or max")
        if emit not in _EMITS:
            raise PlanError(f"there is no emit {emit!r} (there are {', '.join(_EMITS)})")
        if self.window is None and emit == "final":
            raise PlanError("only windows have a final result: use windowed_by before")
        if self.window is None and late_to is not None:
            raise PlanError("only windows have late records: use windowed_by before late_to")

    def _value(self, aggregations: Mapping[str, Aggregation]) -> tuple[DataType, bool]:
        first = next(iter(aggregations.values()))
        window = WINDOW_FIELDS if self.window is not None else ()
        if first.function == "reduce":
            value = self.node.row.value
            if not window:
                return value, True
            inner = value.fields if isinstance(value, Struct) else (Field("value", value),)
            return _struct(window, inner), True
        fields = (Field(name, each.type_in(self.scope)) for name, each in aggregations.items())
        return _struct(window, tuple(fields)), False


def _struct(window: tuple[Field, ...], fields: tuple[Field, ...]) -> Struct:
    taken = {field.name for field in window} & {field.name for field in fields}
    if taken:
        raise ExpressionError(f"{', '.join(sorted(taken))}: the window has fields of these names")
    return Struct((*window, *fields))


def reduction(
    value: FieldLike | None, fields: Mapping[str, FieldLike], wanted: DataType
) -> Expression:
    """Return how two values become one: as one expression, or as one for each field."""
    if (value is None) == (not fields):
        raise PlanError("reduce takes one expression, or one for each field")
    if value is not None:
        return as_expression(value)
    names = wanted.names if isinstance(wanted, Struct) else ()
    if set(names) != set(fields):
        raise ExpressionError(
            f"reduce needs an expression for each field of the value ({', '.join(names)}), "
            f"not for {', '.join(fields)}"
        )
    return StructOf(tuple((name, as_expression(fields[name])) for name in names))
