"""Aggregations as folds: for each, which fields of state it keeps, how a row changes them, the end.

The updates are Spark SQL over `state`, null before the first row, and `row`, which has the value
that the aggregation looks at. The JVM runs them row by row, see jvm/.../operators/Fold.java. Merges
make one of two states, of which the later one is `row`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.types import DataType, DecimalType, DoubleType, LongType

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

AggregateFunction = Literal["count", "sum", "avg", "min", "max", "first", "last", "reduce"]


@dataclass(frozen=True)
class Aggregation:
    """One aggregate over the rows of a key.

    >>> Aggregation("readings", "count")
    Aggregation(name='readings', function='count', value=None, combine=None, old=None, undo=None)
    """

    name: str
    """The column that it becomes."""

    function: AggregateFunction

    value: Column | str | None = None
    """What is aggregated, an expression over the input; None only for count, which then counts all.

    As in SQL, null is skipped by all but first, last and reduce.
    """

    combine: Callable[[str, str], str] | None = None
    """For reduce: given the SQL names of the result so far and of the next value, their sum in SQL.

    The first value is the first result.
    """

    old: Column | str | None = None
    """What the row takes back, as `value`, null for nothing; only of count, sum, avg and reduce."""

    undo: Callable[[str, str], str] | None = None
    """For reduce: given the names of the result so far and of what is taken back, what is left."""


class StateField(NamedTuple):
    """A field of state, how a row changes it, and how that of another state is added to it."""

    name: str
    type: DataType
    update: str
    merge: str | None = None
    """None where values are taken back: such states are not merged."""


@dataclass(frozen=True)
class Fold:
    """An aggregation made ready for the JVM."""

    value: Column
    """What the row brings, under the name `row.<prefix>`."""

    fields: tuple[StateField, ...]

    result: str
    """The aggregate, in SQL over `state`."""


def fold(rows: DataFrame, aggregation: Aggregation, prefix: str) -> Fold:
    """Return what the aggregation keeps, in fields whose names begin with the prefix."""
    if aggregation.value is None and aggregation.function != "count":
        raise ValueError(f"{aggregation.function} as {aggregation.name} needs a value to aggregate")
    value = _column(aggregation.value)
    if aggregation.old is not None:
        return _UNDOING[aggregation.function](rows, aggregation, _both(aggregation), prefix)
    return _FOLDS[aggregation.function](rows, aggregation, value, prefix)


def _column(value: Column | str | None) -> Column:
    if value is None:
        return F.lit(1)
    return F.expr(value) if isinstance(value, str) else value


def _type(rows: DataFrame, column: Column) -> DataType:
    return rows.select(column.alias("value")).schema["value"].dataType


def _count(_: DataFrame, __: Aggregation, value: Column, prefix: str) -> Fold:
    counted = value.isNotNull()
    update = f"coalesce(state.{prefix}, 0L) + if(row.{prefix}, 1L, 0L)"
    field = StateField(prefix, LongType(), update, _added(prefix))
    return Fold(counted, (field,), f"state.{prefix}")


def _sum(rows: DataFrame, _: Aggregation, value: Column, prefix: str) -> Fold:
    total = _type(rows, F.sum(value))
    added = _added(prefix)
    field = StateField(prefix, total, added, added)
    return Fold(value.cast(total), (field,), f"state.{prefix}")


def _avg(rows: DataFrame, _: Aggregation, value: Column, prefix: str) -> Fold:
    # Spark's own types: decimals are added up as decimals, all else as doubles.
    result = _type(rows, F.avg(value))
    total = _type(rows, F.sum(value)) if isinstance(result, DecimalType) else DoubleType()
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
    return _same_type(rows, value, prefix, _else_first(prefix, combined), combined)


def _else_first(prefix: str, update: str) -> str:
    return f"if(state IS NULL, row.{prefix}, {update})"


def _same_type(rows: DataFrame, value: Column, prefix: str, update: str, merge: str) -> Fold:
    field = StateField(prefix, _type(rows, value), update, merge)
    return Fold(value, (field,), f"state.{prefix}")


def _both(aggregation: Aggregation) -> Column:
    """Return what the row brings and what it takes back, `row.<prefix>.new` and `.old`."""
    new, old = _column(aggregation.value), _column(aggregation.old)
    return F.struct(new.alias("new"), old.alias("old"))


def _undoing_count(_: DataFrame, __: Aggregation, both: Column, prefix: str) -> Fold:
    field = StateField(prefix, LongType(), _net_count(prefix, prefix))
    return Fold(both, (field,), f"state.{prefix}")


def _undoing_sum(rows: DataFrame, aggregation: Aggregation, both: Column, prefix: str) -> Fold:
    total = _type(rows, F.sum(_column(aggregation.value)))
    fields = _net_fields(prefix, total)
    return Fold(_cast(both, total), fields, f"if(state.{prefix}_count = 0L, NULL, state.{prefix})")


def _undoing_avg(rows: DataFrame, aggregation: Aggregation, both: Column, prefix: str) -> Fold:
    plain = _avg(rows, aggregation, _column(aggregation.value), prefix)
    total = plain.fields[0].type
    return Fold(_cast(both, total), _net_fields(prefix, total), plain.result)


def _undoing_reduce(rows: DataFrame, aggregation: Aggregation, both: Column, prefix: str) -> Fold:
    if aggregation.combine is None or aggregation.undo is None:
        raise ValueError(f"reduce as {aggregation.name} needs to be told how to add and take back")
    state, old, new = f"state.{prefix}", f"row.{prefix}.old", f"row.{prefix}.new"
    left = f"if({old} IS NULL OR {state} IS NULL, {state}, {aggregation.undo(state, old)})"
    sum_of = aggregation.combine(f"({left})", new)
    update = f"if({new} IS NULL, {left}, if(({left}) IS NULL, {new}, {sum_of}))"
    type_ = _type(rows, _column(aggregation.value))
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


_FOLDS: dict[AggregateFunction, Callable[[DataFrame, Aggregation, Column, str], Fold]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "min": _min,
    "max": _max,
    "first": _first,
    "last": _last,
    "reduce": _reduce,
}

_UNDOING: dict[AggregateFunction, Callable[[DataFrame, Aggregation, Column, str], Fold]] = {
    "count": _undoing_count,
    "sum": _undoing_sum,
    "avg": _undoing_avg,
    "reduce": _undoing_reduce,
}
