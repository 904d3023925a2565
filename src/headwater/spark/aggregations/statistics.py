"""Folds that calculate with all numbers: standard deviation and correlation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql.types import DoubleType, LongType

from headwater.spark.aggregations.aggregation import Fold, StateField, value_and_old

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.spark.aggregations.aggregation import Aggregation, FoldMaker


class _Moments(NamedTuple):
    """How many numbers, their mean, and the sum of squared distances from it, in SQL."""

    n: str
    mean: str
    squares: str

    def with_(self, number: str) -> _Moments:
        """Add a number, as Welford does, which loses fewer digits than sums of squares."""
        n, mean, squares = self
        moved = f"({mean} + ({number} - {mean}) / ({n} + 1L))"
        far = f"({squares} + ({number} - {mean}) * ({number} - {moved}))"
        return _Moments(f"({n} + 1L)", moved, far).unless(f"{number} IS NULL", self)

    def without(self, number: str) -> _Moments:
        """Take a number back."""
        n, mean, squares = self
        moved = f"if({n} > 1L, ({mean} * {n} - {number}) / nullif({n} - 1L, 0L), 0D)"
        near = f"if({n} > 1L, {squares} - ({number} - {mean}) * ({number} - {moved}), 0D)"
        return _Moments(f"({n} - 1L)", moved, near).unless(f"{number} IS NULL", self)

    def unless(self, condition: str, others: _Moments) -> _Moments:
        pairs = zip(others, self, strict=True)
        return _Moments(*(f"if({condition}, {one}, {other})" for one, other in pairs))


def _deviation(result: str) -> FoldMaker:
    def make(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
        both, _ = value_and_old(rows, aggregation)
        names = (f"{prefix}_n", prefix, f"{prefix}_m2")
        before = _Moments(*(f"coalesce(state.{each}, {_zero(each)})" for each in names))
        left = before.without(_number(prefix, "old")) if aggregation.old is not None else before
        after = left.with_(_number(prefix, "new"))
        merged = _merged(names)
        types = (LongType(), DoubleType(), DoubleType())
        fields = tuple(
            StateField(name, type_, update, merge)
            for name, type_, update, merge in zip(names, types, after, merged, strict=True)
        )
        variance = f"greatest(state.{prefix}_m2, 0D) / nullif(state.{prefix}_n - 1L, 0L)"
        few = f"coalesce(state.{prefix}_n, 0L) < 2L"
        return Fold(both, fields, f"if({few}, 0D, {result.format(variance)})")

    return make


def _merged(names: tuple[str, str, str]) -> _Moments:
    n, mean, squares = (f"coalesce(state.{each}, {_zero(each)})" for each in names)
    m, other, others = (f"coalesce(row.{each}, {_zero(each)})" for each in names)
    both = f"nullif({n} + {m}, 0L)"
    return _Moments(
        f"{n} + {m}",
        f"coalesce(({mean} * {n} + {other} * {m}) / {both}, 0D)",
        f"{squares} + {others}"
        f" + coalesce(({other} - {mean}) * ({other} - {mean}) * {n} * {m} / {both}, 0D)",
    )


def _correlation(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    """Keep the sums of which Pearson's formula is made."""
    both, _ = value_and_old(rows, aggregation)
    terms = {
        "n": "1D",
        "x": "{x}",
        "y": "{y}",
        "xx": "{x} * {x}",
        "yy": "{y} * {y}",
        "xy": "{x} * {y}",
    }
    fields = []
    for name, term in terms.items():
        field = f"{prefix}_{name}"
        update = f"coalesce(state.{field}, 0D)"
        if aggregation.old is not None:
            update += f" - {_term(prefix, 'old', term)}"
        update += f" + {_term(prefix, 'new', term)}"
        merge = f"coalesce(state.{field}, 0D) + coalesce(row.{field}, 0D)"
        fields.append(StateField(field, DoubleType(), update, merge))
    n, x, y, xx, yy, xy = (f"state.{prefix}_{name}" for name in terms)
    spread = f"sqrt({n} * {xx} - {x} * {x}) * sqrt({n} * {yy} - {y} * {y})"
    text = f"({n} * {xy} - {x} * {y}) / nullif({spread}, 0D)"
    result = f"if(state IS NULL, NULL, coalesce({text}, double('NaN')))"
    return Fold(both, tuple(fields), result)


def _term(prefix: str, side: str, term: str) -> str:
    x, y = _number(prefix, side), _number(prefix, side, "v0")
    return f"coalesce({term.format(x=x, y=y)} * if({x} IS NULL OR {y} IS NULL, NULL, 1D), 0D)"


def _number(prefix: str, side: str, field: str = "v") -> str:
    return f"cast(row.{prefix}.{side}.{field} AS double)"


def _zero(name: str) -> str:
    return "0L" if name.endswith("_n") else "0D"


STATISTICS: dict[str, FoldMaker] = {
    "stddev_samp": _deviation("{0}"),
    "stddev_sample": _deviation("sqrt({0})"),
    "correlation": _correlation,
}
