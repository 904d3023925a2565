"""Formats that Spark does not have, Protobuf above all: whole columns at once, through Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.schemas.types import Struct
from headwater.serde.arrow import ArrowDeserializer, ArrowSerializer
from headwater.serde.arrow.bare_protobuf import BareProtobuf
from headwater.spark.arrow_functions import arrow_function
from headwater.spark.formats.protobuf_schema import protobuf_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from headwater.plan.schemas.types import DataType
    from headwater.serde import Schema, SchemaRegistryClient


def decode_arrow(
    data: Column,
    kind: Any,
    schema: Schema,
    type_: DataType,
    registry: SchemaRegistryClient,
    *,
    message: str | None = None,
) -> tuple[Column, Column]:
    """Return the value and the reason why there is none."""
    return _decoded(data, ArrowDeserializer(kind, registry, schema, message=message), type_)


def decode_bare_protobuf(data: Column, type_: DataType) -> tuple[Column, Column]:
    """Return the value and the reason why there is none, of Protobuf by the type alone."""
    wide, is_struct = _as_struct(type_), isinstance(type_, Struct)
    value, reason = _decoded(data, BareProtobuf(protobuf_schema(wide)), wide)
    return (value if is_struct else value.getField("value")), reason


def encode_bare_protobuf(value: Column, type_: DataType) -> Column:
    """Return the bytes of Protobuf by the type alone."""
    format_ = BareProtobuf(protobuf_schema(type_))

    def encode(values: pa.Array) -> pa.Array:
        return format_.encode(values)

    if not isinstance(type_, Struct):
        value = F.when(value.isNotNull(), F.struct(value.alias("value")))
    encoded: Column = arrow_function(encode, "binary")(value)
    return encoded


def _as_struct(type_: DataType) -> Struct:
    return type_ if isinstance(type_, Struct) else Struct.of(value=type_)


def _decoded(
    data: Column, decoder: ArrowDeserializer | BareProtobuf, type_: DataType
) -> tuple[Column, Column]:
    def decode(payloads: pa.Array) -> pa.Array:
        import pyarrow as pa

        values, reasons = decoder.decode(payloads)
        return pa.StructArray.from_arrays([values, reasons], ["value", "reason"])

    wide = f"struct<value:{type_.ddl()},reason:string>"
    # Not deterministic, says this: else Spark may call it once for each use of the value.
    decoded = arrow_function(decode, wide).asNondeterministic()(data)
    return decoded["value"], decoded["reason"]


def encode_arrow(
    value: Column,
    kind: Any,
    schema: Schema,
    topic: str,
    field: Any,
    registry: SchemaRegistryClient,
    *,
    message: str | None = None,
) -> Column:
    """Return the framed bytes."""
    encoder = ArrowSerializer(kind, registry, schema, topic=topic, field=field, message=message)

    def encode(values: pa.Array) -> pa.Array:
        return encoder.encode(values)

    encoded: Column = arrow_function(encode, "binary")(value)
    return encoded
