"""Topic sources: raw records decoded, and malformed ones sent to the dead letter topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.errors import PlanError
from headwater.plan.expressions.scope import Scope
from headwater.plan.formats import INTERNAL
from headwater.plan.nodes import ChangelogMode
from headwater.spark.compiler.stateless import upserts
from headwater.spark.formats.columns import ColumnCodec, FieldName
from headwater.spark.formats.internal import decode_internal
from headwater.spark.formats.projection import projected
from headwater.spark.sources.processing_log import log_entry
from headwater.spark.sources.source import NO_HEADERS, POSITION

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from headwater.plan.nodes import TopicSource
    from headwater.plan.schemas.types import DataType
    from headwater.spark.compiler.nodes import NodeCompiler
    from headwater.spark.formats.schemas import Schemas

_FIELDS: tuple[FieldName, ...] = ("key", "value")
_RAW_KEY, _RAW_VALUE, _REASON = "raw_key", "raw_value", "malformed_because"


class TopicSourceReader:
    """Decodes what the compiler's reader reads of topics, be they a cluster's or a test's."""

    def rows(self, source: TopicSource, compiler: NodeCompiler) -> DataFrame:
        """Return the records of a source: key, value, timestamp, headers and position."""
        rows = _decoded(source, compiler.raw(source), compiler.spark, compiler.schemas)
        return rows if source.changelog is ChangelogMode.APPEND else upserts(rows)


def malformed_rows(
    source: TopicSource, raw: DataFrame, spark: SparkSession, schemas: Schemas
) -> DataFrame:
    """Return the records that go to the dead-letter topic, with the reason."""
    codecs = {field: _codec(source, field, spark, schemas) for field in _FIELDS}
    parsed = _parsed(codecs, raw).where(f"{_REASON} IS NOT NULL")
    logger = source.on_malformed.logger
    topic = F.lit(source.on_malformed.dead_letter_topic).alias("topic")
    if logger is None:
        return _as_they_came(parsed, topic)
    entry = log_entry(
        logger,
        target=F.substring_index(_REASON, ": ", 1),
        reason=F.col(_REASON),
        record=F.when(F.col(_REASON).startswith("key: "), F.col(_RAW_KEY)).otherwise(
            F.col(_RAW_VALUE)
        ),
    )
    return parsed.select(
        topic,
        F.lit(None).cast("binary").alias("key"),
        entry.alias("value"),
        F.expr(NO_HEADERS).alias("headers"),
        F.col("timestamp"),
    )


def _as_they_came(parsed: DataFrame, topic: Column) -> DataFrame:
    described = F.array(
        *(
            F.struct(
                F.lit(f"headwater.{name}").alias("key"),
                F.col(column).cast("string").cast("binary").alias("value"),
            )
            for name, column in (("reason", _REASON), *zip(POSITION, POSITION, strict=True))
        )
    )
    return parsed.select(
        topic,
        F.col(_RAW_KEY).alias("key"),
        F.col(_RAW_VALUE).alias("value"),
        F.concat(F.coalesce("headers", F.expr(NO_HEADERS)), described).alias("headers"),
        F.col("timestamp"),
    )


def _decoded(
    source: TopicSource, raw: DataFrame, spark: SparkSession, schemas: Schemas
) -> DataFrame:
    if source.value_format.kind == INTERNAL:
        return _internal_rows(source, raw, spark)
    codecs = {field: _codec(source, field, spark, schemas) for field in _FIELDS}
    if source.on_malformed.fails:
        rows = raw.select(*_columns(_once(codecs["key"]), _once(codecs["value"])))
    else:
        rows = _parsed(codecs, raw).where(f"{_REASON} IS NULL")
        rows = rows.drop(_RAW_KEY, _RAW_VALUE, _REASON)
    rows = _as_declared(source, rows, codecs)
    if source.timestamp_by is None:
        return rows
    scope = Scope.of_record(source.row)
    return rows.withColumn("timestamp", F.expr(source.timestamp_by.sql(scope)).cast("timestamp"))


def _parsed(codecs: dict[FieldName, ColumnCodec], raw: DataFrame) -> DataFrame:
    key, value = (codecs[field].parse(F.col(field)) for field in _FIELDS)
    reasons = [
        F.concat(F.lit(f"{name}: "), decoded.reason)
        for name, decoded in (("key", key), ("value", value))
        if decoded.reason is not None
    ]
    reason = F.coalesce(*reasons, _never("string") if reasons else F.lit(None).cast("string"))
    return raw.select(
        *_columns(key.value, value.value),
        F.col("key").alias(_RAW_KEY),
        F.col("value").alias(_RAW_VALUE),
        reason.alias(_REASON),
    )


def _codec(
    source: TopicSource, field: FieldName, spark: SparkSession, schemas: Schemas
) -> ColumnCodec:
    given = source.key_format if field == "key" else source.value_format
    try:
        format_, type_ = schemas.read_as(given, _declared(source, field), source.topics[0], field)
    except PlanError as refusal:
        raise PlanError(refusal.reason, source.location) from refusal
    return ColumnCodec(spark, schemas, format_, type_, source.topics, field)


def _declared(source: TopicSource, field: FieldName) -> DataType:
    return source.row.key if field == "key" else source.row.value


def _as_declared(
    source: TopicSource, rows: DataFrame, codecs: dict[FieldName, ColumnCodec]
) -> DataFrame:
    """Make what the program declared of what was decoded; a column that fits stays as it is."""
    made: dict[str, Column] = {
        field: projected(F.col(field), codecs[field].type, _declared(source, field))
        for field in _FIELDS
        if codecs[field].type != _declared(source, field)
    }
    return rows.withColumns(made) if made else rows


def _once(codec: ColumnCodec) -> Column:
    """Decode, and keep Spark from doing so twice: for the value, and for a filter that looks at it.

    Spark moves filters below what computes their columns, unless that is not deterministic.
    """
    decoded = codec.decode(F.col(codec.field))
    is_cheap = codec.format.fixed_type is not None
    return decoded if is_cheap else F.coalesce(decoded, _never(codec.type.ddl()))


def _never(type_: str) -> Column:
    """Return a null that Spark cannot know to be one, and takes for not deterministic."""
    return F.when(F.spark_partition_id() < 0, F.lit(None).cast(type_))


def _internal_rows(source: TopicSource, raw: DataFrame, spark: SparkSession) -> DataFrame:
    key, value, timestamp = decode_internal(
        spark, F.col("key"), F.col("value"), source.row.key, source.row.value
    )
    return raw.select(
        key.alias("key"), value.alias("value"), timestamp.alias("timestamp"), "headers", *POSITION
    )


def _columns(key: Column, value: Column) -> list[Column]:
    return [
        key.alias("key"),
        value.alias("value"),
        *(F.col(name) for name in ("timestamp", "headers", *POSITION)),
    ]
