"""Records that a sink leaves out: counted, logged, and written to the dead-letter topic."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.clients.errors import describe
from headwater.connect.connectors.connector import RetriableError
from headwater.connect.transforms.application import FAILED
from headwater.connect.worker.sink_records import PUT, RAW_HEADERS, RAW_KEY, RAW_VALUE, STAGE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.connector_spec import ConnectorSpec

logger = logging.getLogger("headwater.connect")

_TIMEOUT_S = 30.0
_MOST_LOGGED = 10
_PREFIX = "__connect.errors."


class DeadLetters:
    """Takes what was left out, where the configuration wants it."""

    def __init__(self, spec: ConnectorSpec, config: WorkerConfig) -> None:
        self._spec = spec
        self._config = config
        is_sink = not spec.is_source
        self._topic = spec.common.text("errors.deadletterqueue.topic.name") if is_sink else None
        self._is_there = False

    def take(self, failed: DataFrame) -> int:
        """Write records with `_failed` to the dead-letter topic, and return how many there are."""
        count = failed.count()
        if count and self._spec.common.boolean("errors.log.enable"):
            self._log(failed)
        if count and self._topic:
            self._make_topic(self._topic)
            options = self._config.cluster.java()
            self._letters(failed).write.format("kafka").options(
                **{f"kafka.{name}": value for name, value in options.items()}
            ).option("topic", self._topic).save()
        return count

    def _letters(self, failed: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        raw = {"key": RAW_KEY, "value": RAW_VALUE, "headers": RAW_HEADERS}
        letters = failed.withColumns({name: F.col(each) for name, each in raw.items()})
        if self._spec.common.boolean("errors.deadletterqueue.context.headers.enable"):
            given = F.coalesce(F.col("headers"), F.expr(_NO_HEADERS))
            letters = letters.withColumn("headers", F.concat(given, self._context()))
        return letters.select("key", "value", "headers")

    def _context(self) -> Column:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        said = {
            "topic": F.col("_topic"),
            "partition": F.col("_partition"),
            "offset": F.col("_offset"),
            "connector.name": F.lit(self._spec.name),
            "task.id": F.lit("0"),
            "stage": F.col(STAGE),
            "class.name": F.when(F.col(STAGE) == "KEY_CONVERTER", self._spec.key.class_name)
            .when(F.col(STAGE) == "VALUE_CONVERTER", self._spec.value.class_name)
            .when(F.col(STAGE) == "HEADER_CONVERTER", self._spec.header.class_name)
            .when(F.col(STAGE) == PUT, "org.apache.kafka.connect.sink.SinkTask")
            .otherwise("org.apache.kafka.connect.transforms.Transformation"),
            "exception.class.name": F.lit("org.apache.kafka.connect.errors.DataException"),
            "exception.message": F.col(FAILED),
        }
        return F.array(
            *(
                F.struct(
                    F.lit(f"{_PREFIX}{name}").alias("key"),
                    text.cast("string").cast("binary").alias("value"),
                )
                for name, text in said.items()
            )
        )

    def _log(self, failed: DataFrame) -> None:
        rows = failed.select("_topic", "_partition", "_offset", FAILED).limit(_MOST_LOGGED)
        says_where = self._spec.common.boolean("errors.log.include.messages")
        for row in rows.collect():
            place = f" at {row['_topic']} [{row['_partition']}] offset {row['_offset']}"
            logger.error(
                "connector %s leaves out a record%s: %s",
                self._spec.name, place if says_where else "", row[FAILED],
            )  # fmt: skip

    def _make_topic(self, topic: str) -> None:
        if self._is_there:
            return
        admin = AdminClient(self._config.client("dead-letters"))
        factor = self._spec.common.integer("errors.deadletterqueue.topic.replication.factor")
        try:
            factor = min(factor, len(admin.list_topics(timeout=_TIMEOUT_S).brokers))
            new = NewTopic(topic, num_partitions=1, replication_factor=factor)
            admin.create_topics([new])[topic].result(_TIMEOUT_S)
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                reason = describe(failure.args[0])
                raise RetriableError(f"the topic {topic} cannot be made: {reason}") from None
        self._is_there = True


_NO_HEADERS = "CAST(array() AS ARRAY<STRUCT<key: STRING, value: BINARY>>)"
