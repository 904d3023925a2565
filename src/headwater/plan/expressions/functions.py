"""Expressions by function, under Spark's names: `col`, `lit`, `expr`, `when`, `upper`, `sum`, ...

As in PySpark, a text given to a function is the name of a column. Functions that have no entry of
their own here are reached with `call("name", ...)` or in SQL text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from headwater.plan.errors import ExpressionError
from headwater.plan.expressions.aggregations import Aggregation
from headwater.plan.expressions.expressions import (
    Call,
    Case,
    Column,
    Expression,
    Literal,
    StructOf,
    as_operand,
)
from headwater.plan.expressions.sql_text import SqlText

_MOST_BARS = 1000
_NAME_PART = re.compile(r"`(?:[^`]|``)+`|[^`.]+")

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.expressions.operators import ExpressionLike

    ColumnLike = Expression | str


def col(name: str) -> Expression:
    """Return a column by its name: a field of the value, or `key`, `timestamp`, `record.key`."""
    parts = _NAME_PART.findall(name)
    if ".".join(parts) != name or not name:
        raise ExpressionError(f"{name!r} is no name of a column: put odd letters in backticks")
    return Column(tuple(part.strip("`").replace("``", "`") for part in parts))


def lit(value: Any) -> Expression:
    """Return a constant."""
    return as_operand(value)


def expr(text: str) -> Expression:
    """Return an expression in Spark's SQL."""
    return SqlText(text)


def when(condition: Expression, value: ExpressionLike) -> Case:
    """Start a choice: `when(...).when(...).otherwise(...)`."""
    return Case(((condition, as_operand(value)),))


def struct(*columns: ColumnLike, **named: ColumnLike) -> Expression:
    """Return a struct of columns under their own names and of expressions under new ones."""
    fields = [(_name_of(part), part) for part in (_column(given) for given in columns)]
    fields += [(name, _column(given)) for name, given in named.items()]
    return StructOf(tuple(fields))


def call(function: str, *arguments: ExpressionLike) -> Expression:
    """Call any function of Spark's by its name; arguments that are no expressions are constants."""
    return Call(function, tuple(as_operand(argument) for argument in arguments))


def count(column: ColumnLike | None = None) -> Aggregation:
    """Count records, or those where the column is not null."""
    return Aggregation("count", None if column is None else _column(column))


def sum(column: ColumnLike) -> Aggregation:  # noqa: A001 - Spark's name
    """Add up a column."""
    return Aggregation("sum", _column(column))


def avg(column: ColumnLike) -> Aggregation:
    """Take the mean of a column."""
    return Aggregation("avg", _column(column))


def min(column: ColumnLike) -> Aggregation:  # noqa: A001 - Spark's name
    """Take the smallest value of a column."""
    return Aggregation("min", _column(column))


def max(column: ColumnLike) -> Aggregation:  # noqa: A001 - Spark's name
    """Take the largest value of a column."""
    return Aggregation("max", _column(column))


def collect_list(column: ColumnLike, limit: int | None = None) -> Aggregation:
    """Collect the values, nulls too, in the order of arrival; at most `limit`, the first ones."""
    return Aggregation("collect_list", _column(column), limit=limit, ignore_nulls=False)


def collect_set(column: ColumnLike, limit: int | None = None) -> Aggregation:
    """Collect each different value once, in the order in which they first came."""
    return Aggregation("collect_set", _column(column), limit=limit, ignore_nulls=False)


def earliest_by_offset(
    column: ColumnLike, n: int | None = None, *, ignore_nulls: bool = True
) -> Aggregation:
    """Keep the first value that arrived, or a list of the first `n`."""
    return Aggregation("earliest_by_offset", _column(column), limit=n, ignore_nulls=ignore_nulls)


def latest_by_offset(
    column: ColumnLike, n: int | None = None, *, ignore_nulls: bool = True
) -> Aggregation:
    """Keep the last value that arrived, or a list of the last `n`."""
    return Aggregation("latest_by_offset", _column(column), limit=n, ignore_nulls=ignore_nulls)


def topk(column: ColumnLike, k: int, *others: ColumnLike) -> Aggregation:
    """List the `k` greatest values, or structs of them (`sort_col`) and other columns (`col0`)."""
    beside = tuple(_column(other) for other in others)
    return Aggregation("topk", _column(column), beside, limit=k)


def topkdistinct(column: ColumnLike, k: int) -> Aggregation:
    """List the `k` greatest different values."""
    return Aggregation("topkdistinct", _column(column), limit=k)


def count_distinct(column: ColumnLike) -> Aggregation:
    """Count the different values, nulls left out."""
    return Aggregation("count_distinct", _column(column))


def histogram(column: ColumnLike) -> Aggregation:
    """Count how often each text came, for at most 1,000 different ones."""
    return Aggregation("histogram", _column(column), limit=_MOST_BARS)


def stddev_sample(column: ColumnLike) -> Aggregation:
    """Take the standard deviation of a sample; 0 for fewer than two numbers."""
    return Aggregation("stddev_sample", _column(column))


def stddev_samp(column: ColumnLike) -> Aggregation:
    """Take the variance of a sample, which is what ksqlDB has under this name."""
    return Aggregation("stddev_samp", _column(column))


def correlation(x: ColumnLike, y: ColumnLike) -> Aggregation:
    """Take Pearson's correlation of two columns, over records that have both; else NaN."""
    return Aggregation("correlation", _column(x), (_column(y),))


def attr(column: ColumnLike) -> Aggregation:
    """Take the value that all records share; null where there are several."""
    return Aggregation("attr", _column(column), ignore_nulls=False)


def concat_ws(separator: str, *columns: ColumnLike) -> Expression:
    """Join texts with a separator between them."""
    return Call("concat_ws", (Literal(separator), *(_column(column) for column in columns)))


def date_trunc(unit: str, column: ColumnLike) -> Expression:
    """Cut a time down to a unit such as `hour`."""
    return Call("date_trunc", (Literal(unit), _column(column)))


def format_string(format: str, *columns: ColumnLike) -> Expression:  # noqa: A002 - Spark's name
    """Format values as Java's printf does."""
    return Call("format_string", (Literal(format), *(_column(column) for column in columns)))


def _column(given: ColumnLike) -> Expression:
    return col(given) if isinstance(given, str) else as_operand(given)


def _name_of(expression: Expression) -> str:
    if expression.name is None:
        raise TypeError(f"{expression} needs a name in a struct: use .alias(name) or name=...")
    return expression.name


def _of_column(function: str) -> Callable[..., Expression]:
    """A function whose first argument is a column and whose others are constants."""

    def build(column: ColumnLike, *others: ExpressionLike) -> Expression:
        return Call(function, (_column(column), *(as_operand(other) for other in others)))

    build.__name__ = build.__qualname__ = function
    build.__doc__ = f"Call Spark's `{function}`: a column first, then constants or expressions."
    return build


def _of_columns(function: str) -> Callable[..., Expression]:
    def build(*columns: ColumnLike) -> Expression:
        return Call(function, tuple(_column(column) for column in columns))

    build.__name__ = build.__qualname__ = function
    build.__doc__ = f"Call Spark's `{function}` with columns."
    return build


upper = _of_column("upper")
lower = _of_column("lower")
trim = _of_column("trim")
length = _of_column("length")
substring = _of_column("substring")
replace = _of_column("replace")
regexp_replace = _of_column("regexp_replace")
regexp_extract = _of_column("regexp_extract")
split = _of_column("split")
round = _of_column("round")  # noqa: A001 - Spark's name
floor = _of_column("floor")
ceil = _of_column("ceil")
abs = _of_column("abs")  # noqa: A001 - Spark's name
sqrt = _of_column("sqrt")
pow = _of_column("pow")  # noqa: A001 - Spark's name
isnull = _of_column("isnull")
isnan = _of_column("isnan")
size = _of_column("size")
element_at = _of_column("element_at")
array_contains = _of_column("array_contains")
array_join = _of_column("array_join")
array_distinct = _of_column("array_distinct")
get_json_object = _of_column("get_json_object")
to_json = _of_column("to_json")
md5 = _of_column("md5")
sha2 = _of_column("sha2")
year = _of_column("year")
month = _of_column("month")
dayofmonth = _of_column("dayofmonth")
hour = _of_column("hour")
minute = _of_column("minute")
second = _of_column("second")
to_date = _of_column("to_date")
to_timestamp = _of_column("to_timestamp")
date_format = _of_column("date_format")
unix_millis = _of_column("unix_millis")
timestamp_millis = _of_column("timestamp_millis")
concat = _of_columns("concat")
coalesce = _of_columns("coalesce")
greatest = _of_columns("greatest")
least = _of_columns("least")
array = _of_columns("array")
current_timestamp = _of_columns("current_timestamp")
