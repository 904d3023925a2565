"""What can be done with a stream that remembers: grouping and joining."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.plan.errors import PlanError
from headwater.plan.expressions.scope import Scope
from headwater.streams.grouped import KGroupedStream
from headwater.streams.joins import Joiner
from headwater.streams.location import Located
from headwater.streams.operands import key_of_columns, typed
from headwater.streams.operators import Operators
from headwater.streams.processes import add_process

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.nodes import JoinKind
    from headwater.plan.processing.processor import Processor
    from headwater.streams.kstream import KStream
    from headwater.streams.ktable import GlobalKTable, KTable
    from headwater.streams.operands import FieldLike, OperandLike
    from headwater.streams.types import TypeLike
    from headwater.streams.windows import JoinWindow


class StatefulOperators(Operators):
    """The part of a stream that groups and joins."""

    def group_by_key(self) -> KGroupedStream:
        """Group records by their key."""
        return KGroupedStream(self._builder, self.node, by=None, classes=self._classes)

    def group_by(
        self, key: OperandLike, *more: FieldLike, returns: TypeLike | None = None
    ) -> KGroupedStream:
        """Group records by something else than their key, which becomes the result's key.

        `group_by("kind", "date(at) AS day")` groups by several expressions: the result's key is a
        struct with a field for each.
        """
        with Located():
            scope = Scope.of_record(self.node.row)
            given = key_of_columns((key, *more)) if more else key
            by = typed(given, scope, returns=returns, classes=self._classes)
            return KGroupedStream(self._builder, self.node, by=by, classes=self._classes)

    def join(
        self,
        other: KStream | KTable | GlobalKTable,
        value: OperandLike | None = None,
        /,
        *,
        window: JoinWindow | None = None,
        on: FieldLike | None = None,
        returns: TypeLike | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KStream:
        """Join records that find a partner.

        With a stream: records of the same key whose timestamps are within the `window`. With a
        table: the value that the record's key has at that moment. With a global table: that of
        the key which the expression `on` gives.

        The new value is given as in `map_values`, over the fields of both; a field that both have
        is written `left.id` (this stream's) or `right.id`. A function gets the two values. Without
        anything it has all fields of both.
        """
        with Located() as location:
            return self._join("inner", other, value, window, on, returns, name, fields, location)

    def left_join(
        self,
        other: KStream | KTable | GlobalKTable,
        value: OperandLike | None = None,
        /,
        *,
        window: JoinWindow | None = None,
        on: FieldLike | None = None,
        returns: TypeLike | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KStream:
        """Join as `join` does; a record without a partner comes out with nulls."""
        with Located() as location:
            return self._join("left", other, value, window, on, returns, name, fields, location)

    def outer_join(
        self,
        other: KStream,
        value: OperandLike | None = None,
        /,
        *,
        window: JoinWindow,
        returns: TypeLike | None = None,
        name: str | None = None,
        **fields: FieldLike,
    ) -> KStream:
        """Join two streams; records of either without a partner come out with nulls."""
        with Located() as location:
            return self._join("outer", other, value, window, None, returns, name, fields, location)

    def process(
        self,
        processor: Callable[[], Processor],
        *,
        returns: tuple[TypeLike, TypeLike],
        name: str | None = None,
    ) -> KStream:
        """Give each record to a processor of your own, which keeps state by key.

        `processor` is its class, or a function that makes one; `returns` are the types of the keys
        and values that it forwards. See docs/processors.md.
        """
        with Located() as location:
            return add_process(
                self._builder, self.node, self._classes, processor, returns, name, location,
                keeps_key=False,
            )  # fmt: skip

    def transform_values(
        self,
        processor: Callable[[], Processor],
        *,
        returns: TypeLike,
        name: str | None = None,
    ) -> KStream:
        """Give each record to a processor that may change its value only, and keeps state by key.

        What it forwards has the record's key, so that nothing has to be repartitioned after it.
        """
        with Located() as location:
            return add_process(
                self._builder, self.node, self._classes, processor, returns, name, location,
                keeps_key=True,
            )  # fmt: skip

    def _join(
        self,
        kind: JoinKind,
        other: KStream | KTable | GlobalKTable,
        value: OperandLike | None,
        window: JoinWindow | None,
        on: FieldLike | None,
        returns: TypeLike | None,
        name: str | None,
        fields: dict[str, Any],
        location: str,
    ) -> KStream:
        from headwater.streams.kstream import KStream
        from headwater.streams.ktable import GlobalKTable, KTable

        joiner = Joiner(self._builder, kind, self.node, self._classes, name, location)
        joiner.project(other.node, other._classes, value, fields, returns)  # noqa: SLF001
        if isinstance(other, KStream):
            if window is None:
                raise PlanError(
                    'a join of two streams needs a span of time: window=within("2 minutes")'
                )
            if on is not None:
                raise PlanError("two streams are joined by their keys: use select_key before")
            return joiner.with_stream(other.node, window)
        if kind == "outer":
            raise PlanError("an outer join is between two streams; use left_join for a table")
        if window is not None:
            raise PlanError("a table has a value at any time: leave window out")
        if isinstance(other, GlobalKTable):
            if on is None:
                raise PlanError('say what to look up in the global table: on="id"')
            return joiner.with_table(other.node, on)
        if isinstance(other, KTable):
            if on is not None:
                raise PlanError(
                    "a table is joined by the record's key: use select_key before, or a global "
                    "table, which takes on="
                )
            return joiner.with_table(other.node, None)
        raise PlanError(f"{other!r} is neither a stream nor a table")
