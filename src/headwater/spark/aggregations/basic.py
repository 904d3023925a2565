"""Folds of what Spark has as well: count, sum, avg, min, max, and first, last and reduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.types import DataType, DecimalType, DoubleType, LongType

from headwater.spark.aggregations.aggregation import (
    Fold,
    StateField,
    as_column,
    nullable,
    type_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

    from headwater.spark.aggregations.aggregation import Aggregation


def fold_basic(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    """Return the fold of one of these functions, which takes values back if there are old ones."""
    if aggregation.value is None and aggregation.function != "count":
        raise ValueError(f"{aggregation.function} as {aggregation.name} needs a value to aggregate")
    if aggregation.old is not None:
        return _UNDOING[aggregation.function](rows, aggregation, _both(aggregation), prefix)
    return _FOLDS[aggregation.function](rows, aggregation, as_column(aggregation.value), prefix)


def _count(_: DataFrame, __: Aggregation, value: Column, prefix: str) -> Fold:
    counted = value.isNotNull()
    update = f"coalesce(state.{prefix}, 0L) + if(row.{prefix}, 1L, 0L)"
    field = StateField(prefix, LongType(), update, _added(prefix))
    return Fold(counted, (field,), f"state.{prefix}")


def _sum(rows: DataFrame, _: Aggregation, value: Column, prefix: str) -> Fold:
    total = type_of(rows, F.sum(value))
    added = _added(prefix)
    field = StateField(prefix, total, added, added)
    return Fold(value.cast(total), (field,), f"state.{prefix}")


def _avg(rows: DataFrame, _: Aggregation, value: Column, prefix: str) -> Fold:
    # Spark's own types: decimals are added up as decimals, all else as doubles.
    result = type_of(rows, F.avg(value))
    total = type_of(rows, F.sum(value)) if isinstance(result, DecimalType) else DoubleType()
    count = f"{prefix}_count"
    counted = f"coalesce(state.{count}, 0L) + if(row.{prefix} IS NULL, 0L, 1L)"
    return Fold(
        value.cast(total),
        (
            StateField(prefix, total, _added(prefix), _added(prefix)),
            StateField(count, LongType(), counted, _added(count)),
        ),
        f"cast(state.{prefix} / nullif(state.{count}, 0L) AS {result.simpleString()})",
    )


def _added(prefix: str) -> str:
    return f"coalesce(state.{prefix} + row.{prefix}, state.{prefix}, row.{prefix})"


def _min(rows: DataFrame, _: Aggregation, value: Column, prefix: str) -> Fold:
    least = f"least(state.{prefix}, row.{prefix})"
    return _same_type(rows, value, prefix, least, least)


def _max(rows: DataFrame, _: Aggregation, value: Column, prefix: str) -> Fold:
    greatest = f"greatest(state.{prefix}, row.{prefix})"
    return _same_type(rows, value, prefix, greatest, greatest)


def _first(rows: DataFrame, _: Aggregation, value: Column, prefix: str) -> Fold:
    first = f"state.{prefix}"
    return _same_type(rows, value, prefix, _else_first(prefix, first), first)


def _last(rows: DataFrame, _: Aggregation, value: Column, prefix: str) -> Fold:
    return _same_type(rows, value, prefix, f"row.{prefix}", f"row.{prefix}")


def _reduce(rows: DataFrame, aggregation: Aggregation, value: Column, prefix: str) -> Fold:
    if aggregation.combine is None:
        raise ValueError(f"reduce as {aggregation.name} needs to be told how to combine two values")
    combined = aggregation.combine(f"state.{prefix}", f"row.{prefix}")
    kept = nullable(type_of(rows, value))
    field = StateField(prefix, kept, _else_first(prefix, combined), combined)
    return Fold(value, (field,), f"state.{prefix}")


def _else_first(prefix: str, update: str) -> str:
    return f"if(state IS NULL, row.{prefix}, {update})"


def _same_type(rows: DataFrame, value: Column, prefix: str, update: str, merge: str) -> Fold:
    field = StateField(prefix, type_of(rows, value), update, merge)
    return Fold(value, (field,), f"state.{prefix}")


def _both(aggregation: Aggregation) -> Column:
    """Return what the row brings and what it takes back, `row.<prefix>.new` and `.old`."""
    new, old = as_column(aggregation.value), as_column(aggregation.old)
    return F.struct(new.alias("new"), old.alias("old"))


def _undoing_count(_: DataFrame, __: Aggregation, both: Column, prefix: str) -> Fold:
    field = StateField(prefix, LongType(), _net_count(prefix, prefix))
    return Fold(both, (field,), f"state.{prefix}")


def _undoing_sum(rows: DataFrame, aggregation: Aggregation, both: Column, prefix: str) -> Fold:
    total = type_of(rows, F.sum(as_column(aggregation.value)))
    fields = _net_fields(prefix, total)
    return Fold(_cast(both, total), fields, f"if(state.{prefix}_count = 0L, NULL, state.{prefix})")


def _undoing_avg(rows: DataFrame, aggregation: Aggregation, both: Column, prefix: str) -> Fold:
    plain = _avg(rows, aggregation, as_column(aggregation.value), prefix)
    total = plain.fields[0].type
    return Fold(_cast(both, total), _net_fields(prefix, total), plain.result)


def _undoing_reduce(rows: DataFrame, aggregation: Aggregation, both: Column, prefix: str) -> Fold:
    if aggregation.combine is None or aggregation.undo is None:
        raise ValueError(f"reduce as {aggregation.name} needs to be told how to add and take back")
    state, old, new = f"state.{prefix}", f"row.{prefix}.old", f"row.{prefix}.new"
    left = f"if({old} IS NULL OR {state} IS NULL, {state}, {aggregation.undo(state, old)})"
    sum_of = aggregation.combine(f"({left})", new)
    update = f"if({new} IS NULL, {left}, if(({left}) IS NULL, {new}, {sum_of}))"
    type_ = nullable(type_of(rows, as_column(aggregation.value)))
    return Fold(both, (StateField(prefix, type_, update),), state)


def _net_fields(prefix: str, total: DataType) -> tuple[StateField, ...]:
    zero = f"cast(0 AS {total.simpleString()})"
    parts = (f"coalesce({part}, {zero})" for part in _parts(prefix))
    state, new, old = parts
    count = f"{prefix}_count"
    return (
        StateField(prefix, total, f"{state} + {new} - {old}"),
        StateField(count, LongType(), _net_count(prefix, count)),
    )


def _net_count(prefix: str, field: str) -> str:
    _, new, old = _parts(prefix)
    return f"coalesce(state.{field}, 0L) + if({new} IS NULL, 0L, 1L) - if({old} IS NULL, 0L, 1L)"


def _parts(prefix: str) -> tuple[str, str, str]:
    return f"state.{prefix}", f"row.{prefix}.new", f"row.{prefix}.old"


def _cast(both: Column, type_: DataType) -> Column:
    return F.struct(both["new"].cast(type_).alias("new"), both["old"].cast(type_).alias("old"))


_FOLDS: dict[str, Callable[[DataFrame, Aggregation, Column, str], Fold]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "min": _min,
    "max": _max,
    "first": _first,
    "last": _last,
    "reduce": _reduce,
}

_UNDOING: dict[str, Callable[[DataFrame, Aggregation, Column, str], Fold]] = {
    "count": _undoing_count,
    "sum": _undoing_sum,
    "avg": _undoing_avg,
    "reduce": _undoing_reduce,
}
