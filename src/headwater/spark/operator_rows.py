"""How rows are laid out for the operators in the JVM, and in which order they arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

_WATERMARK_METADATA = "spark.watermarkDelayMs"

ARRIVAL = "arrival"
"""The column in which results say in which order they came, for an operator that follows."""


@dataclass(frozen=True)
class Arrival:
    """The columns that say when a row arrived."""

    time: str = "timestamp"
    """The record's time, a timestamp."""

    offset: str | None = "offset"
    """The place in its queue; without one, the time is."""

    source: tuple[str, ...] = ("topic", "partition")
    """What tells the queues apart."""

    order: str | None = None
    """The column that an operator before has left, which says all this of its results."""

    @classmethod
    def of(cls, rows: DataFrame, time: str = "timestamp") -> Arrival:
        """Return what an operator before has left, or there is of a topic's columns."""
        return cls.of_columns(rows.columns, time)

    @classmethod
    def of_columns(cls, names: Sequence[str], time: str = "timestamp", prefix: str = "") -> Arrival:
        """Return the same for columns that have the prefix before these names."""
        if ARRIVAL in names:
            return cls(f"{prefix}{time}", order=f"{prefix}{ARRIVAL}")
        offset = f"{prefix}offset" if "offset" in names else None
        source = tuple(f"{prefix}{name}" for name in cls.source if name in names)
        return cls(f"{prefix}{time}", offset, source)


def laid_out(
    rows: DataFrame,
    keys: Mapping[str, Column],
    side: int | Column,
    arrival: Arrival | None,
    payload: Mapping[str, Column],
) -> DataFrame:
    """Lay rows out as the JVM expects them: a struct of all else, then the key's columns."""
    source, offset, time = arrived(rows, arrival)
    return rows.select(
        F.struct(
            (F.lit(side) if isinstance(side, int) else side).alias("side"),
            source.alias("source"),
            offset.alias("offset"),
            time.alias("time"),
            *(column.alias(name) for name, column in payload.items()),
        ).alias("row"),
        # Spark sorts a batch by the key. Keys often begin alike, which makes comparing them slow;
        # with a number before them, it almost never gets so far.
        F.xxhash64(*keys.values()).alias("key_hash"),
        *(column.alias(f"by_{name}") for name, column in keys.items()),
    )


def in_event_time(rows: DataFrame, time: str = "timestamp") -> DataFrame:
    """Give a stream a watermark that waits for nothing, unless it has one."""
    if not rows.isStreaming or _WATERMARK_METADATA in rows.schema[time].metadata:
        return rows
    return rows.withWatermark(time, "0 seconds")


def run_operator(rows: DataFrame, operator: str, *arguments: Any) -> DataFrame:
    """Call an operator of the JVM by its name."""
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    spark: Any = rows.sparkSession
    jvm_rows: Any = rows
    operators = spark._jvm.io.headwater.operators.Operators  # noqa: SLF001 - PySpark's way to the JVM
    result = getattr(operators, operator)(jvm_rows._jdf, *arguments)  # noqa: SLF001
    return ClassicDataFrame(result, spark)


def order_of(*key: Column, order: str = "row.order") -> Column:
    """Return the column for an operator that follows: a queue for each key, never reordered."""
    return F.struct(
        F.xxhash64(*key).alias("source"),
        F.col(f"{order}.offset").alias("offset"),
        F.col(f"{order}.time").alias("time"),
    ).alias(ARRIVAL)


def micros(column: str) -> Column:
    """Return a time in microseconds."""
    return F.unix_micros(F.col(column))


def arrived(rows: DataFrame, arrival: Arrival | None = None) -> tuple[Column, Column, Column]:
    """Return a row's queue, its place in it, and the time by which queues are chosen."""
    return arrived_by(arrival or Arrival.of(rows))


def arrived_by(arrival: Arrival) -> tuple[Column, Column, Column]:
    """Return the same by the columns that say it."""
    if arrival.order is not None:
        source, offset, time = (
            F.col(f"{arrival.order}.{part}") for part in ("source", "offset", "time")
        )
        return source, offset, time
    time = micros(arrival.time)
    offset = time if arrival.offset is None else F.col(arrival.offset).cast("long")
    source = F.xxhash64(*arrival.source) if arrival.source else F.lit(0).cast("long")
    return source, offset, time
