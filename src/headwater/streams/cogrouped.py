"""Several grouped streams in one aggregate: each brings results of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.expressions.expressions import Case, Cast, Column, Expression, Literal, StructOf
from headwater.plan.nodes import Map, Merge
from headwater.plan.schemas.types import Field, Struct, as_nullable
from headwater.streams.grouped import KGroupedStream
from headwater.streams.hints import Hints
from headwater.streams.location import Located
from headwater.streams.operands import Classes, check_same

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.plan.expressions.aggregations import Aggregation
    from headwater.plan.nodes import Emit, Operator
    from headwater.plan.windows import AnyWindow
    from headwater.streams.builder import Builder
    from headwater.streams.ktable import KTable
    from headwater.streams.windows import TimeWindow

_VALUE = Column(("record", "value"))


@dataclass(frozen=True)
class Part:
    """One of the streams, and what it brings."""

    grouped: KGroupedStream
    aggregations: Mapping[str, Aggregation]


class CogroupedKStream(Hints):
    """Records of several streams by key, ready to be aggregated together.

    >>> from headwater.streams import App, count, sum
    >>> app = App("customers")
    >>> orders = app.stream("orders", value_type="amount double").group_by_key()
    >>> visits = app.stream("visits", value_type="page string").group_by_key()
    >>> both = orders.cogroup(spent=sum("amount")).cogroup(visits, pages=count())
    >>> both.aggregate().to_stream().to("customers")
    """

    def __init__(
        self, builder: Builder, parts: Sequence[Part], window: AnyWindow | None = None
    ) -> None:
        self._builder = builder
        self._parts = tuple(parts)
        self._window = window

    def cogroup(
        self,
        grouped: KGroupedStream,
        aggregations: Mapping[str, Aggregation] | None = None,
        /,
        **named: Aggregation,
    ) -> CogroupedKStream:
        """Add another grouped stream, with the results that its records bring."""
        with Located():
            return cogrouped(self._builder, self._parts, grouped, {**(aggregations or {}), **named})

    def windowed_by(self, window: TimeWindow) -> CogroupedKStream:
        """Aggregate each window by itself; results have `window_start` and `window_end`."""
        return CogroupedKStream(self._builder, self._parts, window.window)

    def aggregate(self, *, emit: Emit | None = None, name: str | None = None) -> KTable:
        """Return the table of all results; `emit` and `name` are those of `AggregateOptions`."""
        with Located() as location:
            arguments = {
                result: _argument(each)
                for part in self._parts
                for result, each in part.aggregations.items()
            }
            value = Struct(
                tuple(
                    Field(result, as_nullable(arguments[result].type_in(part.grouped.scope)))
                    for part in self._parts
                    for result in part.aggregations
                )
            )
            inputs = [self._mapped(part, arguments, value, location) for part in self._parts]
            row = replace(inputs[0].row, has_position=all(node.row.has_position for node in inputs))
            merged = self._builder.add(Merge, "COGROUPKSTREAM-MERGE", tuple(inputs), row, location)
            classes = Classes(self._parts[0].grouped.key_class)
            together = KGroupedStream(
                self._builder, merged, by=None, classes=classes, window=self._window
            )
            aggregations = {
                result: replace(each, argument=Column(("record", "value", result)))
                for part in self._parts
                for result, each in part.aggregations.items()
            }
            return together.aggregated(aggregations, {"emit": emit, "name": name}, location)

    def _mapped(
        self, part: Part, arguments: Mapping[str, Expression], value: Struct, location: str
    ) -> Operator:
        """Bring what one stream aggregates into its fields, with nulls in those of the others."""
        grouped = part.grouped
        fields = tuple(
            (
                field.name,
                arguments[field.name]
                if field.name in part.aggregations
                else Cast(Literal(None), field.type),
            )
            for field in value.fields
        )
        operand = Case(((_VALUE.isNotNull(), StructOf(fields)),))
        row = replace(grouped.node.row, key=grouped.key_type, value=value)
        key = None if grouped.by is None else grouped.by.operand
        return self._builder.add(
            Map, "COGROUPKSTREAM-MAPVALUES", (grouped.node,), row, location, key=key, value=operand
        )


def cogrouped(
    builder: Builder,
    before: Sequence[Part],
    grouped: KGroupedStream,
    aggregations: Mapping[str, Aggregation],
) -> CogroupedKStream:
    """Return grouped streams with one more; refuse what does not belong together."""
    if not isinstance(grouped, KGroupedStream):
        raise PlanError(
            f"{grouped!r} is no grouped stream: cogroup takes stream.group_by_key() and its results"
        )
    if grouped.window is not None:
        raise PlanError("give the windows to all streams at once: cogroup(...).windowed_by(...)")
    grouped.check(aggregations, "batch", None)
    for part in before:
        check_same(grouped.key_type, part.grouped.key_type, "the keys of cogrouped streams")
        for name in part.aggregations.keys() & aggregations.keys():
            raise PlanError(f"{name} is a result of another of the streams already")
    for each in aggregations.values():
        if each.others or not each.ignore_nulls:
            raise PlanError(
                f"{each} cannot be cogrouped: a record of another stream has null for its values, "
                "which it would count"
            )
        each.type_in(grouped.scope)
    return CogroupedKStream(builder, (*before, Part(grouped, aggregations)))


def _argument(aggregation: Aggregation) -> Expression:
    """What is null for the records that do not count, as it is for those of the other streams."""
    return Literal(1) if aggregation.argument is None else aggregation.argument
