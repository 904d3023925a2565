"""Joins of two streams: records of one key that are close in time, paired in the JVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.spark.operator_rows import (
    ARRIVAL,
    arrived,
    in_event_time,
    laid_out,
    micros,
    order_of,
    run_operator,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LEFT_SIDE, _RIGHT_SIDE = 0, 1
_COLUMNS = ("key", "headers", "timestamp", "left", "right")


@dataclass(frozen=True)
class JoinSpan:
    """How much older and newer than the left record the right one may be, in milliseconds."""

    before_ms: int
    after_ms: int
    grace_ms: int = 0
    """How much longer to wait for records that come late."""


def stream_stream_join(
    left: DataFrame,
    right: DataFrame,
    span: JoinSpan,
    *,
    how: Literal["inner", "left", "outer"],
    unmatched: Literal["in the end", "at once"] = "in the end",
    into: tuple[str, str] = ("left_value", "right_value"),
) -> DataFrame:
    """Return the pairs of records with one key whose timestamps are as close as the span says.

    A record without a partner comes out, where its side is kept, when nobody can come any more; or
    at once, and later once more with each partner. One without a key has no partner. One without a
    value only moves time.

    The columns are `key`, the two values under the names of `into`, the `timestamp` of the later of
    the two records, the `headers` of the one that came last, and the order of results in `arrival`.
    """
    keeps_left, keeps_right = how != "inner", how == "outer"
    types = [side.schema["value"].dataType for side in (left, right)]

    def rows_of(side: DataFrame, number: int, kept: bool) -> DataFrame:
        values: list[Column] = [F.lit(None).cast(each) for each in types]
        values[number] = F.col("value")
        rows = side if kept else side.where("key IS NOT NULL")
        source, offset, time = arrived(rows)
        return rows.select(
            F.lit(number).alias("side"),
            *("key", "headers", "timestamp"),
            values[0].alias("left"),
            values[1].alias("right"),
            F.struct(source.alias("source"), offset.alias("offset"), time.alias("time")).alias(
                ARRIVAL
            ),
        )

    both = rows_of(left, _LEFT_SIDE, keeps_left).union(rows_of(right, _RIGHT_SIDE, keeps_right))
    # One watermark for the two: the later of their times, as in Kafka Streams.
    rows = in_event_time(both)
    payload = {name: micros(name) if name == "timestamp" else F.col(name) for name in _COLUMNS}
    joined = run_operator(
        laid_out(rows, {"key": F.col("key")}, F.col("side"), None, payload),
        "streamStreamJoin",
        *(each * 1000 for each in (span.before_ms, span.after_ms, span.grace_ms)),
        *(keeps_left, keeps_right, unmatched == "at once", rows.isStreaming),
    )
    return joined.select(
        F.col("row.key").alias("key"),
        F.col("row.left").alias(into[0]),
        F.col("row.right").alias(into[1]),
        F.timestamp_micros("row.time").alias("timestamp"),
        F.col("row.headers").alias("headers"),
        order_of(F.col("row.key")),
    )
