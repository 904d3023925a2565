"""Users' processors, by Spark's transformWithState in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import StructType

from headwater.plan.schemas.types import BIGINT, HEADERS, Struct
from headwater.spark.operator_rows import arrived, in_event_time, micros
from headwater.spark.processors.spark_processor import SparkProcessor, Supplied

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.plan.nodes import Process
    from headwater.spark.topics import RecordReader, WallClockTime

_SYSTEM_TIME = "system_time"
_IS_RECORD = "is_record"
# Where our clock hears of timers that were set.
_ALARMS_METRIC, _ALARM_STEP_MS = "headwater-timers", 100


def processed(node: Process, rows: DataFrame, reader: RecordReader) -> DataFrame:
    """Give each record to the processor; returns what that forwards."""
    if node.has_own_clock and rows.isStreaming:
        rows = _in_wall_clock_time(rows, reader.wall_clock())
    else:
        # Late records are the processor's concern: Spark would drop them if it saw their time.
        rows = in_event_time(rows.withColumn(_SYSTEM_TIME, F.current_timestamp()))
    source, offset, time = arrived(rows)
    row = F.struct(
        F.col("value"),
        F.col("headers"),
        micros("timestamp").alias("timestamp"),
        F.unix_millis(_SYSTEM_TIME).alias("system_ms"),
        source.alias("source"),
        offset.alias("offset"),
        time.alias("time"),
        # What several processors take of one record comes to them in their order.
        (F.col("value.input") if node.has_inputs else F.lit(0)).alias("input"),
    )
    supplied = Supplied(
        node.supplier,
        node.stores,
        node.keeps_key,
        node.key_class,
        node.value_class,
        node.punctuation_type,
    )
    given = (
        rows.select("key", row.alias("row"))
        .groupBy("key")
        .transformWithState(
            statefulProcessor=SparkProcessor(supplied),
            outputStructType=_output(node),
            outputMode="update",
            timeMode="EventTime" if rows.isStreaming else "None",
        )
    )
    if node.has_own_clock and rows.isStreaming:
        given = _telling_alarms(given)
    return given.select(
        "key", "value", F.timestamp_micros("timestamp").alias("timestamp"), "headers"
    )


def _in_wall_clock_time(rows: DataFrame, clock: WallClockTime) -> DataFrame:
    """Make the clock on the wall what Spark takes for event time: with records, and with ticks."""
    records = rows.withColumns({_SYSTEM_TIME: clock.now, _IS_RECORD: F.lit(True)})
    ticks = clock.ticks.select(F.col("at").alias(_SYSTEM_TIME), F.lit(False).alias(_IS_RECORD))
    both = records.unionByName(ticks, allowMissingColumns=True)
    # Not deterministic, or Spark would drop ticks before it has looked at their time.
    never = F.when(F.spark_partition_id() < 0, F.lit(None).cast("boolean"))
    is_record = F.coalesce(never, F.col(_IS_RECORD))
    return both.withWatermark(_SYSTEM_TIME, "0 seconds").where(is_record)


def _telling_alarms(given: DataFrame) -> DataFrame:
    step = F.lit(_ALARM_STEP_MS)
    alarm = (F.ceil(F.col("wakes_at") / step) * step).cast("long")
    told = given.observe(_ALARMS_METRIC, F.collect_set(alarm).alias("at"))
    return told.where("wakes_at IS NULL")


def _output(node: Process) -> StructType:
    output = Struct.of(
        key=node.row.key,
        value=node.row.value,
        headers=HEADERS,
        timestamp=BIGINT,
        wakes_at=BIGINT,
    )
    made = SparkType.fromDDL(output.ddl())
    assert isinstance(made, StructType), "it was written as one"
    return made
