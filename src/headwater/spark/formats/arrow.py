"""Formats that Spark does not have, Protobuf above all: whole columns at once, through Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.serde.arrow import ArrowDeserializer, ArrowSerializer
from headwater.spark.arrow_functions import arrow_function

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from headwater.plan.types import DataType
    from headwater.serde import Schema, SchemaRegistryClient


def decode_arrow(
    data: Column, kind: Any, schema: Schema, type_: DataType, registry: SchemaRegistryClient
) -> tuple[Column, Column]:
    """Return the value and the reason why there is none."""
    decoder = ArrowDeserializer(kind, registry, schema)

    def decode(payloads: pa.Array) -> pa.Array:
        import pyarrow as pa

        values, reasons = decoder.decode(payloads)
        return pa.StructArray.from_arrays([values, reasons], ["value", "reason"])

    wide = f"struct<value:{type_.ddl()},reason:string>"
    # Not deterministic, says this: else Spark may call it once for each use of the value.
    decoded = arrow_function(decode, wide).asNondeterministic()(data)
    return decoded["value"], decoded["reason"]


def encode_arrow(
    value: Column, kind: Any, schema: Schema, topic: str, field: Any, registry: SchemaRegistryClient
) -> Column:
    """Return the framed bytes."""
    encoder = ArrowSerializer(kind, registry, schema, topic=topic, field=field)

    def encode(values: pa.Array) -> pa.Array:
        return encoder.encode(values)

    encoded: Column = arrow_function(encode, "binary")(value)
    return encoded
