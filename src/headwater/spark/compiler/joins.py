"""Joins: a stream's record with a table as it stands, two tables, two streams' close records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.scope import Scope
from headwater.spark import operators
from headwater.spark.compiler.operands import operand_column
from headwater.spark.foreign_key_join import foreign_key_join

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.plan.nodes import (
        ForeignKeyJoin,
        StreamStreamJoin,
        StreamTableJoin,
        TableTableJoin,
    )

_RIGHT = "right_value"
# Spark drops what is as old as the watermark, Kafka Streams what is older than the span. So the
# time that Spark sees is later by this. The watermark begins at the epoch, and a record of the
# epoch is not late.
_AFTER_THE_WATERMARK = "INTERVAL 1 MILLISECOND"


def with_table(node: StreamTableJoin, stream: DataFrame, table: DataFrame) -> DataFrame:
    """Let each record of the stream meet the table as it stood when the record arrived."""
    left, right = (parent.row for parent in node.parents)
    key = F.col("key") if node.key is None else operand_column(node.key, left)
    # As in Kafka Streams, a record without a value has nothing to be joined.
    stream = stream.where("value IS NOT NULL")
    if node.key is not None:
        # As Kafka Streams loads a global table: before the stream, however old its records are.
        table = table.withColumn("timestamp", F.lit("0001-01-01").cast("timestamp"))
    joined = operators.stream_table_join(stream, table, how=node.kind, stream_key=key, into=_RIGHT)
    scope = Scope.of_join(left, right, left_value="value", right_value=_RIGHT)
    return joined.withColumn("value", F.expr(node.projection.sql(scope))).drop(_RIGHT)


def of_tables(node: TableTableJoin, left: DataFrame, right: DataFrame) -> DataFrame:
    """Give the pair of each key when a row of either table changes it."""
    which: Literal["each", "last"] = "each" if node.emit == "record" else "last"
    return _paired(node, operators.table_table_join(left, right, how=node.kind, which=which))


def by_foreign_key(node: ForeignKeyJoin, left: DataFrame, right: DataFrame) -> DataFrame:
    """Give the pair of each left row when it changes, or the row that it refers to does."""
    which: Literal["each", "last"] = "each" if node.emit == "record" else "last"
    key = operand_column(node.foreign_key, node.parents[0].row)
    return _paired(node, foreign_key_join(left, right, key, how=node.kind, which=which))


def with_stream(node: StreamStreamJoin, left: DataFrame, right: DataFrame) -> DataFrame:
    """Pair records of the same key whose timestamps are close."""
    left_row, right_row = (parent.row for parent in node.parents)
    # A record may come as long as another's span reaches back to it, and the grace longer.
    lefts = _side(left, "left", node.after_ms + node.grace_ms)
    rights = _side(right, "right", node.before_ms + node.grace_ms)
    close = (
        f"left_key = right_key"
        f" AND right_event >= left_event - INTERVAL {node.before_ms} MILLISECONDS"
        f" AND right_event <= left_event + INTERVAL {node.after_ms} MILLISECONDS"
    )
    how = {"inner": "inner", "left": "leftOuter", "outer": "fullOuter"}[node.kind]
    joined = lefts.join(rights, F.expr(close), how).select(
        F.coalesce("left_key", "right_key").alias("key"),
        "left_value",
        "right_value",
        # Greatest passes over nulls: an unmatched record keeps its own time.
        F.expr(f"greatest(left_event, right_event) - {_AFTER_THE_WATERMARK}").alias("timestamp"),
        F.coalesce("left_headers", "right_headers").alias("headers"),
    )
    if node.kind != "inner":
        joined = joined.union(_alone(left, right, "left_value", "right_value"))
    if node.kind == "outer":
        joined = joined.union(_alone(right, left, "right_value", "left_value"))
    scope = Scope.of_join(left_row, right_row)
    return joined.withColumn("value", F.expr(node.projection.sql(scope))).drop(
        "left_value", "right_value"
    )


def _paired(node: TableTableJoin | ForeignKeyJoin, joined: DataFrame) -> DataFrame:
    """Put what the program makes of two rows in their place, or a tombstone."""
    scope = Scope.of_join(*(parent.row for parent in node.parents))
    pair = F.when(~F.col("gone"), F.expr(node.projection.sql(scope)))
    return joined.withColumn("value", pair).drop("gone", "left_value", "right_value")


def _alone(rows: DataFrame, others: DataFrame, own: str, other: str) -> DataFrame:
    """Return the records without a key: they meet nobody, so that they need not wait."""
    nothing = F.lit(None).cast(others.schema["value"].dataType)
    named = rows.where("key IS NULL AND value IS NOT NULL").withColumns(
        {own: F.col("value"), other: nothing}
    )
    return named.select("key", "left_value", "right_value", "timestamp", "headers")


def _side(rows: DataFrame, side: str, patience_ms: int) -> DataFrame:
    named = rows.where("key IS NOT NULL AND value IS NOT NULL").select(
        *(F.col(name).alias(f"{side}_{name}") for name in ("key", "value", "headers")),
        F.expr(f"timestamp + {_AFTER_THE_WATERMARK}").alias(f"{side}_event"),
    )
    if not named.isStreaming:
        return named
    return named.withWatermark(f"{side}_event", f"{patience_ms + 1} milliseconds")
