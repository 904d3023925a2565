"""Python's operators and Spark's column methods, each of which builds an expression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression

ExpressionLike: TypeAlias = "Expression | Any"
"""An expression, or a constant."""


class Operators(ABC):
    """What one can write after an expression."""

    @abstractmethod
    def _call(self, function: str, *others: ExpressionLike) -> Expression:
        """Build a call with this expression first."""

    @abstractmethod
    def _called_by(self, function: str, other: ExpressionLike) -> Expression:
        """Build a call with this expression second."""

    def isNull(self) -> Expression:  # noqa: N802 - Spark's name
        """Tell whether there is no value."""
        return self._call("isnull")

    def isNotNull(self) -> Expression:  # noqa: N802 - Spark's name
        """Tell whether there is a value."""
        return self._call("isnotnull")

    def eqNullSafe(self, other: ExpressionLike) -> Expression:  # noqa: N802 - Spark's name
        """Compare; two nulls are equal."""
        return self._call("<=>", other)

    def isin(self, *values: ExpressionLike) -> Expression:
        """Tell whether the value is one of these."""
        return self._call("in", *values)

    def between(self, low: ExpressionLike, high: ExpressionLike) -> Expression:
        """Tell whether the value is in a range, both ends included."""
        return (self >= low) & (self <= high)

    def like(self, pattern: str) -> Expression:
        """Match SQL's pattern, with `%` and `_`."""
        return self._call("like", pattern)

    def rlike(self, pattern: str) -> Expression:
        """Match a Java regular expression."""
        return self._call("rlike", pattern)

    def contains(self, other: ExpressionLike) -> Expression:
        """Tell whether a text contains another."""
        return self._call("contains", other)

    def startswith(self, other: ExpressionLike) -> Expression:
        """Tell whether a text starts with another."""
        return self._call("startswith", other)

    def endswith(self, other: ExpressionLike) -> Expression:
        """Tell whether a text ends with another."""
        return self._call("endswith", other)

    def substr(self, start: int, length: int) -> Expression:
        """Return a part of a text, counted from 1."""
        return self._call("substring", start, length)

    def __add__(self, other: ExpressionLike) -> Expression:
        return self._call("+", other)

    def __radd__(self, other: ExpressionLike) -> Expression:
        return self._called_by("+", other)

    def __sub__(self, other: ExpressionLike) -> Expression:
        return self._call("-", other)

    def __rsub__(self, other: ExpressionLike) -> Expression:
        return self._called_by("-", other)

    def __mul__(self, other: ExpressionLike) -> Expression:
        return self._call("*", other)

    def __rmul__(self, other: ExpressionLike) -> Expression:
        return self._called_by("*", other)

    def __truediv__(self, other: ExpressionLike) -> Expression:
        return self._call("/", other)

    def __rtruediv__(self, other: ExpressionLike) -> Expression:
        return self._called_by("/", other)

    def __mod__(self, other: ExpressionLike) -> Expression:
        return self._call("%", other)

    def __rmod__(self, other: ExpressionLike) -> Expression:
        return self._called_by("%", other)

    def __neg__(self) -> Expression:
        return self._call("negative")

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return self._call("=", other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return self._call("<>", other)

    def __lt__(self, other: ExpressionLike) -> Expression:
        return self._call("<", other)

    def __le__(self, other: ExpressionLike) -> Expression:
        return self._call("<=", other)

    def __gt__(self, other: ExpressionLike) -> Expression:
        return self._call(">", other)

    def __ge__(self, other: ExpressionLike) -> Expression:
        return self._call(">=", other)

    def __and__(self, other: ExpressionLike) -> Expression:
        return self._call("and", other)

    def __rand__(self, other: ExpressionLike) -> Expression:
        return self._called_by("and", other)

    def __or__(self, other: ExpressionLike) -> Expression:
        return self._call("or", other)

    def __ror__(self, other: ExpressionLike) -> Expression:
        return self._called_by("or", other)

    def __invert__(self) -> Expression:
        return self._call("not")
