"""Aggregates: Spark's own with windows and watermarks, and ours where each change counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, assert_never

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.expressions.scope import Scope
from headwater.plan.schemas.types import Struct
from headwater.plan.windows import SessionWindow, SlidingWindow, Window
from headwater.spark import operators
from headwater.spark.compiler.operands import operand_column
from headwater.spark.jobs.progress import LATE_RECORDS
from headwater.spark.operator_rows import ARRIVAL
from headwater.spark.sources.source import NO_HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

    from headwater.plan.expressions.aggregations import Aggregation
    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.nodes import Aggregate, Emit
    from headwater.plan.rows import RowType
    from headwater.plan.windows import AnyWindow

_RESULT = "result_"
_WHICH: dict[Emit, operators.Which] = {"batch": "last", "record": "each", "final": "final"}


def aggregated(node: Aggregate, rows: DataFrame) -> DataFrame:
    """Fold the records of each group, and of each window."""
    row = node.parents[0].row
    key = F.col("key") if node.by is None else operand_column(node.by, row)
    rows = rows.withColumn("group_key", key).where("group_key IS NOT NULL AND value IS NOT NULL")
    if node.in_arrival_order:
        folded = _by_processor(node, rows, row)
        return _with_late_counted(node, folded).where("NOT late").drop("late")
    return _per_batch(node, rows, row)


def late_rows(node: Aggregate, rows: DataFrame) -> DataFrame:
    """Return the records that came after their window had closed, as they came."""
    row = node.parents[0].row
    key = F.col("key") if node.by is None else operand_column(node.by, row)
    kept = ("key", "value", "headers", "timestamp")
    rows = rows.withColumns({f"late_{name}": F.col(name) for name in kept})
    rows = rows.withColumn("group_key", key).where("group_key IS NOT NULL AND value IS NOT NULL")
    # Of this query only what is late is of interest, and it comes at once.
    each = replace(node, emit="record")
    marked = _by_processor(each, rows, row, carry=tuple(f"late_{name}" for name in kept))
    late = marked.where("late").where(_is_first_window(node))
    return late.select(*(F.col(f"late_{name}").alias(name) for name in kept))


def _with_late_counted(node: Aggregate, folded: DataFrame) -> DataFrame:
    if node.window is None:
        return folded
    late = F.count_if(F.col("late") & _is_first_window(node))
    return folded.observe(f"{LATE_RECORDS}{node.id}", late.alias("count"))


def _is_first_window(node: Aggregate) -> Column:
    """A record that is late for several windows is one late record; the first closes first.

    Only windows of one size may be several for a record.
    """
    if not isinstance(node.window, Window):
        return F.lit(True)
    start = F.unix_micros("value.window_start")
    advance, size = node.window.advance_ms * 1000, node.window.size_ms * 1000
    one_before_has_ended = start - advance + size <= F.unix_micros("timestamp")
    return one_before_has_ended | ((start < advance) & (start >= 0))


def _per_batch(node: Aggregate, rows: DataFrame, row: RowType) -> DataFrame:
    results = [_native(each, row).alias(f"{_RESULT}{name}") for name, each in node.aggregations]
    groups: list[Column] = [F.col("group_key")]
    window = node.window
    if window is not None:
        assert isinstance(window, Window), "windows of other kinds are made by a processor"
        if rows.isStreaming:
            rows = rows.withWatermark("timestamp", f"{window.grace_ms} milliseconds")
        size, advance = f"{window.size_ms} milliseconds", f"{window.advance_ms} milliseconds"
        groups.append(F.window("timestamp", size, advance).alias("window"))
    folded = rows.groupBy(*groups).agg(F.max("timestamp").alias("timestamp"), *results)
    if isinstance(window, Window) and window.advance_ms < window.size_ms:
        # As in Kafka Streams: no window begins before the epoch, unless the records are older.
        folded = folded.where(
            (F.unix_micros("window.start") >= 0) | (F.unix_micros("timestamp") < 0)
        )
    return _result(node, folded)


def _by_processor(
    node: Aggregate, rows: DataFrame, row: RowType, carry: tuple[str, ...] = ()
) -> DataFrame:
    window = None if node.window is None else _window(node.window)
    folded = operators.aggregate_changes(
        rows,
        {"group_key": "group_key"},
        [_fold(f"{_RESULT}{name}", each, row, rows) for name, each in node.aggregations],
        window=window,
        carry=carry,
        late="mark" if window is not None else "drop",
        which=_WHICH[node.emit],
    )
    if window is None:
        folded = folded.withColumn("late", F.lit(False))
    return _result(node, folded, ("late", ARRIVAL, *carry))


def _window(window: AnyWindow) -> operators.AnyWindow:
    grace = timedelta(milliseconds=window.grace_ms)
    match window:
        case Window(size_ms, advance_ms):
            size, advance = timedelta(milliseconds=size_ms), timedelta(milliseconds=advance_ms)
            return operators.Window(size, advance, grace)
        case SessionWindow(gap_ms):
            return operators.SessionWindow(timedelta(milliseconds=gap_ms), grace)
        case SlidingWindow(difference_ms):
            return operators.SlidingWindow(timedelta(milliseconds=difference_ms), grace)
        case _:
            assert_never(window)


def _result(node: Aggregate, folded: DataFrame, extra: tuple[str, ...] = ()) -> DataFrame:
    reduced = F.col(f"{_RESULT}{node.aggregations[0][0]}")
    fields = []
    if node.window is not None:
        fields += [
            F.col("window.start").alias("window_start"),
            F.col("window.end").alias("window_end"),
        ]
    if node.reduce is None:
        fields += [F.col(f"{_RESULT}{name}").alias(name) for name, _ in node.aggregations]
    elif fields:
        value_type = node.parents[0].row.value
        names = value_type.names if isinstance(value_type, Struct) else ()
        fields += [reduced[name].alias(name) for name in names] or [reduced.alias("value")]
    return folded.select(
        F.col("group_key").alias("key"),
        (F.struct(*fields) if fields else reduced).alias("value"),
        F.col("timestamp"),
        F.expr(NO_HEADERS).alias("headers"),
        *extra,
    )


def _native(aggregation: Aggregation, row: RowType) -> Column:
    if aggregation.argument is None:
        return F.count(F.lit(1))
    argument = F.expr(aggregation.argument.sql(Scope.of_record(row)))
    functions = {"count": F.count, "sum": F.sum, "avg": F.avg, "min": F.min, "max": F.max}
    return functions[aggregation.function](argument)


def _fold(
    name: str, aggregation: Aggregation, row: RowType, rows: DataFrame
) -> operators.Aggregation:
    function, argument = aggregation.function, aggregation.argument
    if function == "reduce":
        assert argument is not None, "a reduce has an expression"
        return operators.Aggregation(name, "reduce", "value", combining(argument, row))
    if aggregation.is_native:
        value = None if argument is None else argument.sql(Scope.of_record(row))
        return operators.Aggregation(name, function, value)
    looked_at = folded_value(aggregation, Scope.of_record(row), rows)
    return operators.Aggregation(
        name,
        function,
        looked_at,
        limit=aggregation.limit,
        ignore_nulls=aggregation.ignore_nulls,
    )


def folded_value(aggregation: Aggregation, scope: Scope, rows: DataFrame) -> Column:
    """Return what a fold of ours looks at: the value, those beside it, and where it arrived."""
    assert aggregation.argument is not None, "only count has no argument"
    fields = [F.expr(aggregation.argument.sql(scope)).alias("v")]
    fields += [
        F.expr(other.sql(scope)).alias(f"v{index}")
        for index, other in enumerate(aggregation.others)
    ]
    if aggregation.function.endswith("_by_offset"):
        place = F.col("offset") if "offset" in rows.columns else F.unix_micros("timestamp")
        fields.append(place.alias("at"))
    return F.struct(*fields)


def combining(reduction: Expression, row: RowType) -> Callable[[str, str], str]:
    """Return what writes a reduction in SQL, given the names of the result and of the value."""

    def combine(old: str, new: str) -> str:
        return reduction.sql(Scope.of_reduce(row.value, old=old, new=new))

    return combine
