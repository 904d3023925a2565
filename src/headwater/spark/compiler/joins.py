"""Joins: a stream's record with a table as it stands, two tables, two streams' close records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.expressions.scope import Scope
from headwater.plan.processing.folding import folded_path_of
from headwater.spark import operators
from headwater.spark.compiler.folded import Folded
from headwater.spark.compiler.operands import operand_column
from headwater.spark.foreign_key_join import foreign_key_join
from headwater.spark.stream_stream_join import JoinSide, JoinSpan, self_join, stream_stream_join

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.plan.nodes import (
        ForeignKeyJoin,
        Operator,
        StreamStreamJoin,
        StreamTableJoin,
        TableTableJoin,
    )

_RIGHT = "right_value"


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
    joined = foreign_key_join(
        left, right, key, how=node.kind, which=which, repeats_ends=node.repeats_ends
    )
    return _paired(node, joined)


def with_stream(node: StreamStreamJoin, left: DataFrame, right: DataFrame) -> DataFrame:
    """Pair records of the same key whose timestamps are close."""
    span = JoinSpan(node.before_ms, node.after_ms, node.grace_ms)
    joined = stream_stream_join(left, right, span, how=node.kind, unmatched=node.unmatched)
    return _projected(node, joined)


def with_itself(node: StreamStreamJoin, start: Operator, rows: DataFrame) -> DataFrame:
    """Pair the records of what both sides are made of, which is read once for the two."""
    folded = Folded(start, rows)
    sides = []
    for parent in node.parents:
        for each in folded_path_of(parent)[1]:
            folded.follow(each)
        prefix = folded.prefix(parent)
        sides.append(JoinSide(folded.names(parent), prefix, f"{prefix}reached"))
    span = JoinSpan(node.before_ms, node.after_ms, node.grace_ms)
    left, right = sides
    joined = self_join(folded.rows, (left, right), span, how=node.kind, unmatched=node.unmatched)
    return _projected(node, joined)


def _projected(node: StreamStreamJoin, joined: DataFrame) -> DataFrame:
    scope = Scope.of_join(*(parent.row for parent in node.parents))
    return joined.withColumn("value", F.expr(node.projection.sql(scope))).drop(
        "left_value", "right_value"
    )


def _paired(node: TableTableJoin | ForeignKeyJoin, joined: DataFrame) -> DataFrame:
    """Put what the program makes of two rows in their place, or a tombstone."""
    scope = Scope.of_join(*(parent.row for parent in node.parents))
    pair = F.when(~F.col("gone"), F.expr(node.projection.sql(scope)))
    return joined.withColumn("value", pair).drop("gone", "left_value", "right_value")
