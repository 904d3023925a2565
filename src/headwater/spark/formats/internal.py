"""Between two stages of one program: Avro without a registry, with the record's time inside.

Spark's Kafka sink writes no timestamps of its own, and windows downstream need the record's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.avro.functions import from_avro, to_avro

from headwater.plan.types import TIMESTAMP, Struct
from headwater.spark.formats.avro import avro_schema

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

    from headwater.plan.types import DataType


def encode_internal_key(key: Column) -> Column:
    """Return a key as bytes that are equal for equal keys."""
    return to_avro(F.struct(key.alias("key")))


def encode_internal_value(value: Column, timestamp: Column) -> Column:
    """Return a value with its time; a tombstone is a null inside."""
    return to_avro(F.struct(value.alias("value"), timestamp.alias("timestamp")))


def decode_internal(
    spark: SparkSession, key: Column, value: Column, key_type: DataType, value_type: DataType
) -> tuple[Column, Column, Column]:
    """Return key, value and timestamp."""
    keys = avro_schema(spark, Struct.of(key=key_type), "topLevelRecord")
    values = avro_schema(spark, Struct.of(value=value_type, timestamp=TIMESTAMP), "topLevelRecord")
    decoded = from_avro(value, values)
    return from_avro(key, keys)["key"], decoded["value"], decoded["timestamp"]
