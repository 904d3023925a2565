"""Joins of two streams: records of one key that are close in time, paired in the JVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.spark.operator_rows import (
    ARRIVAL,
    Arrival,
    arrived_by,
    in_event_time,
    laid_out,
    micros,
    order_of,
    run_operator,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_LEFT_SIDE, _RIGHT_SIDE = 0, 1
_OF_RECORDS = ("key", "headers", "timestamp")
_COLUMNS = (*_OF_RECORDS, "left", "right")


@dataclass(frozen=True)
class JoinSpan:
    """How much older and newer than the left record the right one may be, in milliseconds."""

    before_ms: int
    after_ms: int
    grace_ms: int = 0
    """How much longer to wait for records that come late."""


@dataclass(frozen=True)
class JoinSide:
    """What a row is as a record of one side: the names of its columns, and what is before them.

    `reached` is the column that says whether it is one; without it, each row is.
    """

    names: Sequence[str]
    prefix: str = ""
    reached: str | None = None

    def columns(self, side: int, types: Sequence[DataType]) -> list[Column]:
        """Return what the join takes of the record."""
        values: list[Column] = [F.lit(None).cast(each) for each in types]
        values[side] = F.col(f"{self.prefix}value")
        source, offset, time = arrived_by(Arrival.of_columns(self.names, prefix=self.prefix))
        return [
            F.lit(side).alias("side"),
            *(F.col(f"{self.prefix}{name}").alias(name) for name in _OF_RECORDS),
            values[0].alias("left"),
            values[1].alias("right"),
            F.struct(source.alias("source"), offset.alias("offset"), time.alias("time")).alias(
                ARRIVAL
            ),
        ]

    def is_one(self, keeps: bool) -> Column:
        """Tell whether a row is a record of this side that the join has to know of."""
        reached = F.lit(True) if self.reached is None else F.col(self.reached)
        return reached if keeps else reached & F.col(f"{self.prefix}key").isNotNull()


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
    types = [rows.schema["value"].dataType for rows in (left, right)]

    def records(rows: DataFrame, number: int, keeps: bool) -> DataFrame:
        side = JoinSide(rows.columns)
        return rows.where(side.is_one(keeps)).select(*side.columns(number, types))

    keeps_left, keeps_right = _kept(how)
    both = records(left, _LEFT_SIDE, keeps_left).union(records(right, _RIGHT_SIDE, keeps_right))
    return _paired(both, span, how, unmatched, into)


def self_join(
    rows: DataFrame,
    sides: tuple[JoinSide, JoinSide],
    span: JoinSpan,
    *,
    how: Literal["inner", "left", "outer"],
    unmatched: Literal["in the end", "at once"] = "in the end",
    into: tuple[str, str] = ("left_value", "right_value"),
) -> DataFrame:
    """Return what `stream_stream_join` does, of rows that are records of both sides.

    They are read once, and each is first a record of the left side, then one of the right.
    """
    types = [rows.schema[f"{side.prefix}value"].dataType for side in sides]
    records = [
        F.when(side.is_one(keeps), F.struct(*side.columns(number, types)))
        for number, (side, keeps) in enumerate(zip(sides, _kept(how), strict=True))
    ]
    both = rows.select(F.explode(F.array_compact(F.array(*records))).alias("record"))
    return _paired(both.select("record.*"), span, how, unmatched, into)


def _kept(how: str) -> tuple[bool, bool]:
    return how != "inner", how == "outer"


def _paired(
    records: DataFrame,
    span: JoinSpan,
    how: Literal["inner", "left", "outer"],
    unmatched: Literal["in the end", "at once"],
    into: tuple[str, str],
) -> DataFrame:
    keeps_left, keeps_right = _kept(how)
    # One watermark for the two: the later of their times, as in Kafka Streams.
    rows = in_event_time(records)
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
