"""Avro with schemas from a registry."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from fastavro import schemaless_reader, schemaless_writer

from headwater.serde.codec import Codec
from headwater.serde.formats import avro_schema
from headwater.serde.registry_deserializer import RegistryDeserializer
from headwater.serde.registry_serializer import RegistrySerializer
from headwater.serde.schema import as_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.registry_deserializer import DeserializerSettings
    from headwater.serde.registry_serializer import SerializerSettings
    from headwater.serde.schema import Schema, SchemaType


class AvroSerializer(RegistrySerializer[Any]):
    """Writes Avro: dicts, and what else fastavro takes.

    A tuple `("long", 5)` or `("com.example.Order", {...})` chooses a branch of a union where the
    value alone does not. `strict=True` refuses dicts with fields that the schema does not have or
    without one that it has; `strict_allow_default=True` lets those be missing that have a default.
    The other settings are RegistrySerializer's.
    """

    schema_type: ClassVar[SchemaType] = "AVRO"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: str | Schema | None = None,
        *,
        strict: bool = False,
        strict_allow_default: bool = False,
        **settings: Unpack[SerializerSettings],
    ) -> None:
        super().__init__(
            registry, None if schema is None else as_schema(schema, "AVRO"), **settings
        )
        self._strict = strict
        self._strict_allow_default = strict_allow_default
        if self._schema is not None:
            self._codec(self._schema)  # a wrong schema should be heard of here

    def _parse(self, schema: Schema) -> Codec:
        parsed = avro_schema.load(schema, self._registry)
        return AvroCodec(parsed, strict=self._strict, allow_default=self._strict_allow_default)


class AvroDeserializer(RegistryDeserializer[Any]):
    """Reads Avro into dicts; the settings are RegistryDeserializer's."""

    schema_type: ClassVar[SchemaType] = "AVRO"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: str | Schema | None = None,
        **settings: Unpack[DeserializerSettings],
    ) -> None:
        super().__init__(
            registry, None if schema is None else as_schema(schema, "AVRO"), **settings
        )
        if self._schema is not None:
            self._codec(self._schema)

    def _parse(self, schema: Schema) -> Codec:
        return AvroCodec(avro_schema.load(schema, self._registry))


class AvroCodec(Codec):
    """One Avro schema at work."""

    def __init__(self, parsed: Any, *, strict: bool = False, allow_default: bool = False) -> None:
        self.parsed = parsed
        self.record_name = avro_schema.record_name_of(parsed)
        self.is_bytes = self.record_name == "bytes"
        self._strict = strict
        self._allow_default = allow_default

    def encode(self, value: Any) -> bytes:
        """Return Avro's binary encoding; a schema that is nothing but "bytes" has no length."""
        if self.is_bytes:
            # All of Confluent's serialisers leave the length out here.
            return value.encode() if isinstance(value, str) else bytes(memoryview(value))
        buffer = BytesIO()
        schemaless_writer(
            buffer,
            self.parsed,
            value,
            strict=self._strict,
            strict_allow_default=self._allow_default,
        )
        return buffer.getvalue()

    def decoder(self, reader: Codec | None) -> Callable[[bytes, int], Any]:
        """Return what reads this schema's payloads into the fields of the reader's."""
        if self.is_bytes:
            return lambda data, start: data[start:]
        writer = self.parsed
        reader_schema = reader.parsed if isinstance(reader, AvroCodec) else None

        def decode(data: bytes, start: int) -> Any:
            buffer = BytesIO(data)
            buffer.seek(start)
            return schemaless_reader(buffer, writer, reader_schema)

        return decode
