"""What a group of records is folded into: count, sum, avg, min, max and reduce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.errors import ExpressionError
from headwater.plan.types import BIGINT, DOUBLE, INTEGERS, Array, DataType, Decimal, Map, is_numeric

if TYPE_CHECKING:
    from headwater.plan.expressions import Expression
    from headwater.plan.scope import Scope

FUNCTIONS = ("count", "sum", "avg", "min", "max", "reduce")


@dataclass(frozen=True, eq=False)
class Aggregation:
    """One result of a group.

    `argument` is over the record's names; `count` without one counts records, with one those where
    it is not null. For `reduce` it is over `old` and `new`, both of the value's type: the first
    record's value is the first result.
    """

    function: str
    argument: Expression | None = None

    def __str__(self) -> str:
        return f"{self.function}({'*' if self.argument is None else self.argument})"

    def type_in(self, scope: Scope) -> DataType:
        """Return the result's type, as Spark's function of this name has it."""
        if self.argument is None:
            return BIGINT
        given = self.argument.type_in(scope)
        if self.function == "count":
            return BIGINT
        if self.function in ("sum", "avg") and not is_numeric(given):
            raise ExpressionError(f"{self}: needs numbers, not {given.ddl()}")
        if self.function in ("min", "max") and isinstance(given, Array | Map):
            raise ExpressionError(f"{self}: {given.ddl()} has no order")
        if self.function == "sum":
            return _sum_type(given)
        return _average_type(given) if self.function == "avg" else given


def _sum_type(given: DataType) -> DataType:
    if isinstance(given, Decimal):
        return Decimal(min(38, given.precision + 10), given.scale)
    return BIGINT if given in INTEGERS else DOUBLE


def _average_type(given: DataType) -> DataType:
    if isinstance(given, Decimal):
        return Decimal(min(38, given.precision + 4), min(38, given.scale + 4))
    return DOUBLE
