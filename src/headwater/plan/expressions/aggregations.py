"""What a group of records is folded into: count, sum and their kind, lists, statistics, reduce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.errors import ExpressionError
from headwater.plan.schemas.types import (
    BIGINT,
    DOUBLE,
    INTEGERS,
    STRING,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    is_numeric,
)

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.expressions.scope import Scope

NATIVE = ("count", "sum", "avg", "min", "max")
"""The functions that Spark aggregates with by itself; all others are folds of ours."""

UNDOABLE = (
    "count", "sum", "avg", "collect_list", "count_distinct", "histogram", "stddev_samp",
    "stddev_sample", "correlation", "attr",
)  # fmt: skip
"""The functions that can take back the value of a row that is replaced."""

_OF_NUMBERS = ("sum", "avg", "stddev_samp", "stddev_sample", "correlation")
_OF_ORDER = ("min", "max", "topk", "topkdistinct")
_LISTS = ("collect_list", "collect_set", "topk", "topkdistinct")
_BY_OFFSET = ("earliest_by_offset", "latest_by_offset")
_STATISTICS = ("stddev_samp", "stddev_sample", "correlation")


@dataclass(frozen=True, eq=False)
class Aggregation:
    """One result of a group.

    `argument` is over the record's names; `count` without one counts records, with one those where
    it is not null. For `reduce` it is over `old` and `new`, both of the value's type: the first
    record's value is the first result. `others` are further arguments: the second column of a
    correlation, or what `topk` has beside its values. `limit` is how many values are kept; without
    one, `earliest_by_offset` and `latest_by_offset` are a single value and no list.
    """

    function: str
    argument: Expression | None = None
    others: tuple[Expression, ...] = ()
    limit: int | None = None
    ignore_nulls: bool = True

    def __str__(self) -> str:
        parts = ["*" if self.argument is None else str(self.argument), *map(str, self.others)]
        parts += [] if self.limit is None else [str(self.limit)]
        parts += [] if self.ignore_nulls else ["with nulls"]
        return f"{self.function}({', '.join(parts)})"

    @property
    def is_native(self) -> bool:
        """Whether Spark has the function itself."""
        return self.function in NATIVE

    def type_in(self, scope: Scope) -> DataType:
        """Return the result's type; for what Spark has under this name, its own."""
        if self.argument is None:
            return BIGINT
        given = self.argument.type_in(scope)
        if self.function in _OF_NUMBERS:
            for argument in (self.argument, *self.others):
                if not is_numeric(argument.type_in(scope)):
                    found = argument.type_in(scope).ddl()
                    raise ExpressionError(f"{self}: needs numbers, not {found}")
        if self.function in _OF_ORDER and isinstance(given, Array | Map):
            raise ExpressionError(f"{self}: {given.ddl()} has no order")
        if self.function in ("count", "count_distinct"):
            return BIGINT
        if self.function == "sum":
            return _sum_type(given)
        if self.function == "histogram":
            return Map(STRING, BIGINT)
        if self.function in _STATISTICS:
            return DOUBLE
        if self.function in _LISTS or (self.function in _BY_OFFSET and self.limit is not None):
            return Array(self._element(given, scope))
        return _average_type(given) if self.function == "avg" else given

    def _element(self, given: DataType, scope: Scope) -> DataType:
        if not self.others:
            return given
        columns = (
            Field(f"col{index}", each.type_in(scope)) for index, each in enumerate(self.others)
        )
        return Struct((Field("sort_col", given), *columns))


def _sum_type(given: DataType) -> DataType:
    if isinstance(given, Decimal):
        return Decimal(min(38, given.precision + 10), given.scale)
    return BIGINT if given in INTEGERS else DOUBLE


def _average_type(given: DataType) -> DataType:
    if isinstance(given, Decimal):
        return Decimal(min(38, given.precision + 4), min(38, given.scale + 4))
    return DOUBLE
