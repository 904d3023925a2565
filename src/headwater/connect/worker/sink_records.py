"""Ranges of a topic as the records that a sink is given: decoded and transformed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from headwater.connect.converters.converter import converter_for
from headwater.connect.converters.headers import header_converter_for
from headwater.connect.data.shape import Shape
from headwater.connect.transforms.application import FAILED, apply_steps
from headwater.connect.transforms.chain import read_chain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

    from headwater.connect.connectors.connector import TopicPartition
    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.connector_spec import ConnectorSpec
    from headwater.connect.worker.observed import Observed

RAW_KEY, RAW_VALUE, RAW_HEADERS = "_raw_key", "_raw_value", "_raw_headers"
"""The columns that have a record's bytes, for the dead-letter topic."""
STAGE = "_stage"
"""The column that says where a record has failed, if it has, in Kafka Connect's words."""
PUT = "TASK_PUT"
"""The stage of what the sink's target does not take."""
START = "auto.offset.reset"
"""The setting of a consumer that says where a sink begins with a topic: earliest or latest."""
INTERNAL = (RAW_KEY, RAW_VALUE, RAW_HEADERS, STAGE, FAILED)
"""What a sink is not given."""


SIZE = "size_in_bytes"
"""What is counted of the records' bytes."""
# What records are read in: Kafka's own defaults are for consumers that handle them one by one.
_POLLS = {
    "max.poll.records": "10000",
    "max.partition.fetch.bytes": str(8 << 20),
    "receive.buffer.bytes": str(1 << 20),
}


class SinkRecords:
    """What a connector's configuration makes of records."""

    def __init__(self, spec: ConnectorSpec, config: WorkerConfig) -> None:
        overrides = spec.overrides("consumer")
        overrides.pop(START, None)  # positions are the group's, and not this reader's
        self._client = {**_POLLS, **config.cluster.java(), **overrides}
        self._chain = read_chain(spec.properties)
        self._key = converter_for(spec.key.class_name, spec.key.settings, is_key=True)
        self._value = converter_for(spec.value.class_name, spec.value.settings, is_key=False)
        self._headers = header_converter_for(
            spec.header.class_name, spec.header.settings
        ).from_bytes()

    def of(
        self,
        session: SparkSession,
        topic: str,
        ranges: Mapping[TopicPartition, tuple[int, int]],
        observed: Observed | None = None,
    ) -> tuple[DataFrame, Shape]:
        """Return a topic's records, and in the column FAILED why one cannot be taken."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        from headwater.connect.python_functions import register_functions

        raw = self._read(session, topic, ranges)
        key = self._key.from_bytes(raw, "key", topic)
        value = self._value.from_bytes(raw, "value", topic)
        unread = F.expr(self._headers.failed)
        failures = [each.failed for each in (key, value) if each.failed is not None]
        frame = raw.select(
            "topic",
            "partition",
            key.value.alias("key"),
            value.value.alias("value"),
            F.expr(self._headers.headers).alias("headers"),
            "timestamp",
            F.col("topic").alias("_topic"),
            F.col("partition").alias("_partition"),
            F.col("offset").alias("_offset"),
            F.col("key").alias(RAW_KEY),
            F.col("value").alias(RAW_VALUE),
            F.col("headers").alias(RAW_HEADERS),
            F.coalesce(*failures, unread).alias(FAILED),
            _stage(key.failed, value.failed, unread).alias(STAGE),
            _size().alias(SIZE),
        )
        steps, shape = self._chain.compile(Shape(key.schema, value.schema))
        register_functions(session, steps)
        if observed is None:
            return apply_steps(frame, steps).drop(SIZE), shape
        if any(step.where is not None for step in steps):
            frame = observed.before(frame)
        counted = observed.after(apply_steps(frame, steps), F.sum(SIZE).alias(SIZE))
        return counted.drop(SIZE), shape

    def _read(
        self,
        session: SparkSession,
        topic: str,
        ranges: Mapping[TopicPartition, tuple[int, int]],
    ) -> DataFrame:
        starts = {str(each.partition): start for each, (start, _) in ranges.items()}
        ends = {str(each.partition): end for each, (_, end) in ranges.items()}
        return (
            session.read.format("kafka")
            .options(**{f"kafka.{name}": value for name, value in self._client.items()})
            .option("kafka.isolation.level", "read_committed")
            .option("assign", json.dumps({topic: [each.partition for each in ranges]}))
            .option("startingOffsets", json.dumps({topic: starts}))
            .option("endingOffsets", json.dumps({topic: ends}))
            .option("includeHeaders", "true")
            .load()
        )


def _size() -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return sum((F.coalesce(F.octet_length(name), F.lit(0)) for name in ("key", "value")), F.lit(0))


def _stage(key: Column | None, value: Column | None, headers: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    never = F.lit(False)
    return (
        F.when(never if key is None else key.isNotNull(), "KEY_CONVERTER")
        .when(never if value is None else value.isNotNull(), "VALUE_CONVERTER")
        .when(headers.isNotNull(), "HEADER_CONVERTER")
        .otherwise("TRANSFORMATION")
    )
