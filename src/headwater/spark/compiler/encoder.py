"""What a stage's sinks write: records encoded, and sinks that share their input in one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.errors import PlanError
from headwater.plan.expressions.expressions import Expression
from headwater.plan.expressions.scope import Scope
from headwater.plan.formats import INTERNAL
from headwater.spark.formats.columns import ColumnCodec
from headwater.spark.formats.internal import encode_internal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from headwater.plan.nodes import TopicSink
    from headwater.plan.rows import RowType
    from headwater.spark.formats.schemas import Schemas

RECORD = ("topic", "key", "value", "headers", "timestamp")


@dataclass(frozen=True)
class Encoder:
    """Turns the rows of sinks into records with bytes: topic, key, value, headers, timestamp."""

    spark: SparkSession
    schemas: Schemas

    def encoded(self, sink: TopicSink, rows: DataFrame) -> DataFrame:
        """Return the records that a sink writes."""
        try:
            return rows.select(*self.columns(sink))
        except AnalysisException as refusal:
            text = str(refusal.getMessage() or refusal).splitlines()[0]
            raise PlanError(f"this cannot be written: {text}", sink.location) from refusal

    def columns(self, sink: TopicSink, prefix: str = "") -> list[Column]:
        """Return the columns of a sink's records over its rows, whose columns have the prefix."""
        row = sink.parents[0].row
        key, value = self._key_and_value(sink, row, prefix)
        headers, timestamp = F.col(f"{prefix}headers"), F.col(f"{prefix}timestamp")
        made = (_topic(sink, row, prefix), key, value, headers, timestamp)
        return [column.alias(name) for column, name in zip(made, RECORD, strict=True)]

    def _key_and_value(self, sink: TopicSink, row: RowType, prefix: str) -> tuple[Column, Column]:
        key, value = F.col(f"{prefix}key"), F.col(f"{prefix}value")
        if sink.value_format.kind == INTERNAL:
            timestamp = F.col(f"{prefix}timestamp")
            return encode_internal(self.spark, key, value, timestamp, row.key, row.value)
        topics = _topics(sink)
        keys = ColumnCodec(self.spark, self.schemas, sink.key_format, row.key, topics, "key")
        values = ColumnCodec(
            self.spark, self.schemas, sink.value_format, row.value, topics, "value"
        )
        try:
            return keys.encode(key), values.encode(value)
        except PlanError as refusal:
            raise PlanError(refusal.reason, sink.location) from refusal


def _topic(sink: TopicSink, row: RowType, prefix: str) -> Column:
    if isinstance(sink.topic, Expression):
        return F.expr(sink.topic.sql(Scope.of_record(row, prefix=prefix))).cast("string")
    return F.lit(sink.topic)


def _topics(sink: TopicSink) -> tuple[str, ...]:
    if isinstance(sink.topic, str):
        return (sink.topic,)
    named = (sink.key_format.subject, sink.value_format.subject)
    if any(
        format_.needs_registry and not subject
        for format_, subject in zip((sink.key_format, sink.value_format), named, strict=True)
    ):
        raise PlanError(
            "the topic differs from record to record, so that no subject follows from it: name one "
            "in the format, or use json",
            sink.location,
        )
    return ("chosen-by-expression",)
