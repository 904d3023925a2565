"""Topics as DataFrames: raw records as a stream, or as a batch over what is there."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from headwater.plan.nodes import Start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

    from headwater.plan.nodes import TopicSource

_EARLIEST = -2


@dataclass(frozen=True)
class WallClockTime:
    """The clock on the wall, as a query sees it."""

    now: Column
    """When a batch began."""

    ticks: DataFrame
    """A stream with a time, `at`, whenever a timer of the query is due."""


class RecordReader(Protocol):
    """Where a program's records come from: a cluster, or a test."""

    def read(self, source: TopicSource) -> DataFrame:
        """Return records with their bytes: key, value, headers, topic, partition, offset, time."""

    def wall_clock(self) -> WallClockTime:
        """Return what time it is, beside the records."""


@dataclass(frozen=True)
class TopicReader:
    """Reads from a Kafka cluster; `partitions` has the partition counts of all topics."""

    spark: SparkSession
    bootstrap_servers: str
    partitions: Mapping[str, int] = field(default_factory=dict)
    kafka: Mapping[str, str] = field(default_factory=dict)
    batch: bool = False
    replay_from_ms: int | None = None
    """Where streams begin, instead of where each source says; tables are read whole."""
    progress_topic: str | None = None
    """Where queries that read copy their progress to."""

    def read(self, source: TopicSource) -> DataFrame:
        """Return the records of the source's topics."""
        rows = self.spark.read if self.batch else self.spark.readStream
        options = reading_options(self.bootstrap_servers, self.kafka)
        options["subscribe"] = ",".join(source.topics)
        options |= self._start(self.start_of(source), source.topics)
        if self.progress_topic is not None:
            options["progressTopic"] = self.progress_topic
        # Ours gives a task the same records when a batch is read again, and does not ask all the
        # time whether there are new ones.
        return rows.format("kafka" if self.batch else "headwater-kafka").options(**options).load()

    def wall_clock(self) -> WallClockTime:
        """Return this machine's clock, which ticks when a timer is due."""
        from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

        ticks = self.spark.readStream.format("headwater-clock").load()
        return WallClockTime(F.current_timestamp(), ticks)

    def start_of(self, source: TopicSource) -> Start:
        """Return where a source begins without a checkpoint."""
        if self.replay_from_ms is None or source.internal or source.kind != "stream":
            return source.start
        return Start("timestamp", self.replay_from_ms)

    def _start(self, start: Start, topics: tuple[str, ...]) -> dict[str, str]:
        if start.at == "timestamp":
            return {
                "startingTimestamp": str(start.timestamp_ms),
                # Nothing that young yet: wait for it. The default is to fail.
                "startingOffsetsByTimestampStrategy": "latest",
            }
        if start.at == "offsets":
            # Spark wants to be told of every partition; those not named start at the beginning.
            wanted = {
                topic: {
                    str(partition): start.offsets.get(topic, {}).get(partition, _EARLIEST)
                    for partition in range(self.partitions[topic])
                }
                for topic in topics
            }
            return {"startingOffsets": json.dumps(wanted)}
        return {"startingOffsets": start.at}


def reading_options(bootstrap_servers: str, kafka: Mapping[str, str]) -> dict[str, str]:
    """Return the options of Spark's Kafka source that all our readers have."""
    return {
        **{f"kafka.{name}": value for name, value in kafka.items()},
        # After the settings: readers use the cluster that the sinks use, and what a transaction
        # took back must never be seen, whoever wrote it.
        "kafka.bootstrap.servers": bootstrap_servers,
        "kafka.isolation.level": "read_committed",
        "includeHeaders": "true",
    }
