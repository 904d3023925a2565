"""ProtobufConverter: Protobuf in the registry's framing, whole columns at once through Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.connect.converters import protobuf_schemas
from headwater.connect.converters.converter import Decoded
from headwater.connect.converters.registry_settings import REGISTRY_SETTINGS, Subjects
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import ddl
from headwater.serde import Schema as RegisteredSchema
from headwater.serde.arrow import ArrowSerializer
from headwater.serde.formats.protobuf_codec import descriptor_of, load_file
from headwater.spark.arrow_functions import arrow_function
from headwater.spark.formats.arrow import decode_arrow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from headwater.config import Definitions


@dataclass(frozen=True)
class ProtobufConverter:
    """Protobuf, as Confluent's converter of this name writes and reads it."""

    subjects: Subjects

    definitions: ClassVar[Definitions] = REGISTRY_SETTINGS
    needs_topics: ClassVar[bool] = True

    @classmethod
    def configured(cls, config: Mapping[str, str], *, is_key: bool) -> Self:
        """Take Confluent's settings."""
        return cls(Subjects.configured(config, is_key=is_key))

    def to_bytes(self, value: Column, schema: Schema | None, topics: Sequence[str] = ()) -> Column:
        """Return the framed bytes; raises TypeError for values without a schema."""
        if schema is None:
            raise TypeError("ProtobufConverter takes values with a schema; these have none")
        described = RegisteredSchema(protobuf_schemas.as_proto(schema), "PROTOBUF")
        messages = _to_messages(value, schema)
        encoded = F.lit(None).cast("binary")
        for topic in topics:
            # Registered here: the workers would do so each for itself.
            _, found = self.subjects.to_write(topic, described)
            encode = self._encoder(found, topic)
            encoded = F.when(F.col("topic") == topic, encode(messages)).otherwise(encoded)
        return encoded

    def from_bytes(self, frame: DataFrame, column: str, topic: str) -> Decoded:
        """Return the values, read as the newest of the schemas that are among the records."""
        del topic
        found = self.subjects.writers(frame, column, "PROTOBUF")
        newest = next((each for each in reversed(found.values()) if each is not None), None)
        if newest is None:
            failed = F.when(frame[column].isNotNull(), F.lit(_UNKNOWN))
            return Decoded(F.lit(None).cast("string"), Schema(Type.STRING, optional=True), failed)
        message = load_file(newest, self.subjects.registry).class_named(None)
        schema = protobuf_schemas.from_message(descriptor_of(message))
        from headwater.plan.schemas.registry_types import schema_type

        type_ = schema_type(newest, self.subjects.registry).type
        value, reason = decode_arrow(
            frame[column], "protobuf", newest, type_, self.subjects.registry
        )
        return Decoded(_from_messages(value, schema), schema, reason)

    def _encoder(self, schema: RegisteredSchema, topic: str) -> Any:
        serializer = ArrowSerializer(
            "protobuf",
            self.subjects.registry,
            schema,
            topic=topic,
            field="key" if self.subjects.side == "key" else "value",
            auto_register_schemas=self.subjects.registers,
            use_latest_version=self.subjects.uses_latest,
        )

        def encode(values: pa.Array) -> pa.Array:
            return serializer.encode(values)

        return arrow_function(encode, "binary")


_UNKNOWN = "it does not start with the id of a known Protobuf schema"


def _to_messages(value: Column, schema: Schema) -> Column:
    """Return values as the messages that stand for days and times of day have them."""
    match schema.logical:
        case connect.DATE:
            parts = {"year": F.year(value), "month": F.month(value), "day": F.dayofmonth(value)}
            return _message(value, parts)
        case connect.TIME:
            seconds = F.floor(value / 1000)
            parts = {
                "hours": F.floor(seconds / 3600),
                "minutes": F.floor(seconds / 60) % 60,
                "seconds": seconds % 60,
                "nanos": (value % 1000) * 1_000_000,
            }
            return _message(value, {name: of.cast("int") for name, of in parts.items()})
    match schema.type:
        case Type.STRUCT:
            fields = {
                each.name: _to_messages(value.getField(each.name), each.schema)
                for each in schema.fields
            }
            return _message(value, fields)
        case Type.ARRAY if schema.value is not None:
            items = schema.value
            return F.transform(value, lambda each: _to_messages(each, items))
        case Type.MAP if schema.value is not None:
            values = schema.value
            return F.transform_values(value, lambda _, each: _to_messages(each, values))
        case Type.INT8 | Type.INT16:
            return value.cast("int")
    return value


def _from_messages(value: Column, schema: Schema) -> Column:
    match schema.logical:
        case connect.DATE:
            return F.make_date(value["year"], value["month"], value["day"])
        case connect.TIME:
            seconds = (value["hours"] * 60 + value["minutes"]) * 60 + value["seconds"]
            return (seconds * 1000 + F.floor(value["nanos"] / 1_000_000)).cast("int")
    match schema.type:
        case Type.STRUCT:
            fields = {
                each.name: _from_messages(value.getField(each.name), each.schema)
                for each in schema.fields
            }
            return _message(value, fields)
        case Type.ARRAY if schema.value is not None:
            items = schema.value
            return F.transform(value, lambda each: _from_messages(each, items))
        case Type.MAP if schema.value is not None:
            values = schema.value
            return F.transform_values(value, lambda _, each: _from_messages(each, values))
    return value.cast(ddl(schema))


def _message(value: Column, parts: Mapping[str, Column]) -> Column:
    fields = [of.alias(name) for name, of in parts.items()]
    return F.when(value.isNotNull(), F.struct(*fields))
