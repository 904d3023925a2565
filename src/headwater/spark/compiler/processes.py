"""Users' processors, by Spark's transformWithState in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import StructType

from headwater.plan.types import BIGINT, HEADERS, Struct
from headwater.spark.operator_rows import arrived, in_event_time, micros
from headwater.spark.processors.spark_processor import SparkProcessor, Supplied

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.plan.nodes import Process


def processed(node: Process, rows: DataFrame) -> DataFrame:
    """Give each record to the processor; returns what that forwards."""
    source, offset, time = arrived(rows)
    # Late records are the processor's concern: Spark would drop them if it saw their time.
    rows = in_event_time(rows)
    row = F.struct(
        F.col("value"),
        F.col("headers"),
        micros("timestamp").alias("timestamp"),
        source.alias("source"),
        offset.alias("offset"),
        time.alias("time"),
    )
    supplied = Supplied(
        node.supplier, node.stores, node.keeps_key, node.key_class, node.value_class
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
    return given.select(
        "key", "value", F.timestamp_micros("timestamp").alias("timestamp"), "headers"
    )


def _output(node: Process) -> StructType:
    output = Struct.of(
        key=node.row.key,
        value=node.row.value,
        headers=HEADERS,
        timestamp=BIGINT,
    )
    made = SparkType.fromDDL(output.ddl())
    assert isinstance(made, StructType), "it was written as one"
    return made
