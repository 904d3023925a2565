"""The same jobs in plain PySpark, as one would write them without Headwater."""

from __future__ import annotations

import tempfile
import time
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from benchmarks.pipeline.workload import READING_TYPE, THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from benchmarks.pipeline.programs import Guarantee, Kind, Topics

# A malformed record fails the query, as it does in a Headwater program; Spark's default is to make
# a null of it.
_JSON = {"mode": "FAILFAST"}


def has(kind: Kind, guarantee: Guarantee) -> bool:
    """Tell whether plain PySpark can say this.

    It has no join with a table as it stood, no tables to join, no sessions with updates, and one
    guarantee.
    """
    return guarantee == "at_least_once" and kind in _QUERIES


def run_once(spark: SparkSession, kind: Kind, bootstrap_servers: str, topics: Topics) -> float:
    """Run a job until it has processed what is there; return the seconds."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as checkpoint:
        rows = _QUERIES[kind](_readings(spark, bootstrap_servers, topics.readings))
        query = (
            rows.writeStream.format("kafka")
            .option("kafka.bootstrap.servers", bootstrap_servers)
            .option("topic", topics.output)
            .option("checkpointLocation", checkpoint)
            .outputMode("update")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return time.perf_counter() - started


def read_once(spark: SparkSession, bootstrap_servers: str, topic: str) -> float:
    """Only read a topic, with Spark's Kafka connector; return the seconds."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as checkpoint:
        query = (
            _source(spark, bootstrap_servers, topic)
            .writeStream.format("noop")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return time.perf_counter() - started


def _source(spark: SparkSession, bootstrap_servers: str, topic: str) -> DataFrame:
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )


def _readings(spark: SparkSession, bootstrap_servers: str, topic: str) -> DataFrame:
    return _source(spark, bootstrap_servers, topic).select(
        F.col("key").cast("string").alias("key"),
        F.from_json(F.col("value").cast("string"), READING_TYPE, _JSON).alias("reading"),
        "timestamp",
    )


def _filter(readings: DataFrame) -> DataFrame:
    return readings.where(F.col("reading.value") > THRESHOLD).select(
        "key", F.to_json("reading").alias("value")
    )


def _count(readings: DataFrame) -> DataFrame:
    counts = (
        readings.where("key IS NOT NULL AND reading IS NOT NULL")
        .withWatermark("timestamp", "0 seconds")
        .groupBy("key", F.window("timestamp", "1 minute"))
        .count()
    )
    value = F.struct(
        F.col("window.start").alias("window_start"),
        F.col("window.end").alias("window_end"),
        "count",
    )
    return counts.select("key", F.to_json(value).alias("value"))


_QUERIES: dict[Kind, Callable[[DataFrame], DataFrame]] = {"filter": _filter, "count": _count}
