"""Between two stages of one program: Avro without a registry, with the record's time inside.

Spark's Kafka sink writes no timestamps of its own, and windows downstream need the record's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.avro.functions import from_avro, to_avro

from headwater.plan.schemas.types import TIMESTAMP, Struct
from headwater.spark.formats.avro import avro_schema

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

    from headwater.plan.schemas.types import DataType


def encode_internal(
    spark: SparkSession,
    key: Column,
    value: Column,
    timestamp: Column,
    key_type: DataType,
    value_type: DataType,
) -> tuple[Column, Column]:
    """Return a key as bytes that are equal for equal keys, and a value with its time.

    A tombstone is a null inside. The schemas are given: those that Spark would find leave out null
    where its optimiser has found that there is none, and the reader expects it.
    """
    keys, values = _schemas(spark, key_type, value_type)
    record = F.struct(value.alias("value"), timestamp.alias("timestamp"))
    return to_avro(F.struct(key.alias("key")), keys), to_avro(record, values)


def decode_internal(
    spark: SparkSession, key: Column, value: Column, key_type: DataType, value_type: DataType
) -> tuple[Column, Column, Column]:
    """Return key, value and timestamp."""
    keys, values = _schemas(spark, key_type, value_type)
    decoded = from_avro(value, values)
    return from_avro(key, keys)["key"], decoded["value"], decoded["timestamp"]


def _schemas(spark: SparkSession, key: DataType, value: DataType) -> tuple[str, str]:
    types = Struct.of(key=key), Struct.of(value=value, timestamp=TIMESTAMP)
    keys, values = (avro_schema(spark, each, "topLevelRecord") for each in types)
    return keys, values
