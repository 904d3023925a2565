"""An aggregate over the rows of a key, and the fold that computes it in the JVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


@dataclass(frozen=True)
class Aggregation:
    """One aggregate over the rows of a key.

    >>> Aggregation("readings", "count").function
    'count'
    """

    name: str
    """The column that it becomes."""

    function: str
    """`first`, `last`, or one of the names that `headwater.plan.expressions.aggregations` has."""

    value: Column | str | None = None
    """What is aggregated, an expression over the input; None only for count, which then counts all.

    As in SQL, null is skipped by count, sum, avg, min and max. For what Spark does not have itself
    it is a struct, of the value `v` and of what else the function looks at; null is no value.
    """

    combine: Callable[[str, str], str] | None = None
    """For reduce: given the SQL names of the result so far and of the next value, their sum in SQL.

    The first value is the first result.
    """

    old: Column | str | None = None
    """What the row takes back, as `value`, null for nothing; only where that can be done."""

    undo: Callable[[str, str], str] | None = None
    """For reduce: given the names of the result so far and of what is taken back, what is left."""

    limit: int | None = None
    """How many values are kept, of those functions that keep some."""

    ignore_nulls: bool = True
    """Whether values that are null are passed over."""


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


FoldMaker: TypeAlias = "Callable[[DataFrame, Aggregation, str], Fold]"


def as_column(value: Column | str | None) -> Column:
    """Return a value as a column; nothing is a 1, to be counted."""
    if value is None:
        return F.lit(1)
    return F.expr(value) if isinstance(value, str) else value


def type_of(rows: DataFrame, column: Column) -> DataType:
    """Return the type that a column over these rows has."""
    return rows.select(column.alias("value")).schema["value"].dataType


def nullable(type_: DataType) -> DataType:
    """Return the type with room for nulls everywhere.

    A literal is never null, and what is made of it later may be.
    """
    match type_:
        case StructType():
            fields = [StructField(each.name, nullable(each.dataType)) for each in type_]
            return StructType(fields)
        case ArrayType():
            return ArrayType(nullable(type_.elementType))
        case MapType():
            return MapType(type_.keyType, nullable(type_.valueType))
        case _:
            return type_


def same(left: str, right: str, type_: DataType) -> str:
    """Return whether two values are equal, nulls included.

    Spark does not compare maps: their entries are compared, in order, and maps within anything else
    by how they are written.
    """
    if "map<" not in type_.simpleString():
        return f"{left} <=> {right}"
    if isinstance(type_, MapType) and "map<" not in type_.valueType.simpleString():
        return " <=> ".join(f"array_sort(map_entries({side}))" for side in (left, right))
    texts = (f"to_json(named_struct('v', {side}))" for side in (left, right))
    return " = ".join(texts)


def value_and_old(rows: DataFrame, aggregation: Aggregation) -> tuple[Column, DataType]:
    """Return `row.<prefix>` with its fields `new` and `old`, and the type of the value inside."""
    new = as_column(aggregation.value)
    struct = type_of(rows, new)
    old = F.lit(None) if aggregation.old is None else as_column(aggregation.old)
    both = F.struct(new.alias("new"), old.cast(struct).alias("old"))
    return both, struct["v"].dataType  # type: ignore[index]
