"""Avro in the registry's framing: by the schema that wrote a record, onto the one to read with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.avro.functions import from_avro, to_avro

from headwater.serde.framing import ID_SIZE, id_prefix
from headwater.spark.formats.writers import is_framed, new_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, SparkSession

    from headwater.plan.schemas.types import DataType

_TO_THE_END = 1 << 30


def decode_avro(
    data: Column,
    writers: Mapping[int, str],
    reader: str,
    subject: str,
    *,
    type_: DataType,
    malformed: Column | None,
) -> Column:
    """Return the value; a malformed one fails the query with `malformed`, or without it is null.

    An empty text stands for a schema that the registry does not know: its records are malformed.
    """
    mode = {"mode": "FAILFAST" if malformed is not None else "PERMISSIVE"}
    refused = F.lit(None).cast(type_.ddl()) if malformed is None else malformed.cast(type_.ddl())
    body, prefix = data.substr(ID_SIZE + 1, _TO_THE_END), data.substr(1, ID_SIZE)
    decoded = F.when(data.isNull(), F.lit(None).cast(type_.ddl()))
    for id_, writer in sorted(writers.items(), reverse=True):
        value = from_avro(body, writer, mode | _reading(writer, reader)) if writer else refused
        decoded = decoded.when(prefix == F.lit(id_prefix(id_)), value)
    new = new_schema(data, subject).cast(type_.ddl())
    return decoded.when(is_framed(data), new).otherwise(refused)


def encode_avro(value: Column, schema: str, schema_id: int) -> Column:
    """Return the framed bytes; null stays null, a tombstone."""
    return F.concat(F.lit(id_prefix(schema_id)), to_avro(value, schema))


def avro_schema(spark: SparkSession, type_: DataType, name: str) -> str:
    """Return an Avro schema for a type; all fields may be null, as they may in Spark."""
    java: Any = spark
    jvm = java._jvm  # noqa: SLF001 - PySpark's way to the JVM
    parsed = jvm.org.apache.spark.sql.types.DataType.fromDDL(type_.ddl())
    converters = jvm.org.apache.spark.sql.avro.SchemaConverters
    return str(converters.toAvroType(parsed, False, name, "").toString())


def _reading(writer: str, reader: str) -> dict[str, str]:
    return {} if writer == reader else {"avroSchema": _like(reader, writer)}


def _like(reader: str, writer: str) -> str:
    """Give the reader's record the writer's name: Avro matches records by it."""
    wanted, written = json.loads(reader), json.loads(writer)
    if not (isinstance(wanted, dict) and isinstance(written, dict) and "name" in written):
        return reader
    renamed = {**wanted, "name": written["name"]}
    renamed.pop("namespace", None)
    if "namespace" in written:
        renamed["namespace"] = written["namespace"]
    return json.dumps(renamed)
