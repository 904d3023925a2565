"""Deserialisers for records that were written with schemas, into what their JSON looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.rest.embedded_formats import EmbeddedFormat
from headwater.serde import (
    AvroJsonDeserializer,
    JsonSchemaDeserializer,
    ProtobufJsonDeserializer,
)

if TYPE_CHECKING:
    from headwater.serde import Deserializer, SchemaRegistryClient


class SchemaReaders:
    """One deserialiser for each format, shared by all consumers: they remember parsed schemas."""

    def __init__(self, registry: SchemaRegistryClient) -> None:
        self._registry = registry
        self._readers: dict[EmbeddedFormat, Deserializer[Any]] = {}

    def reader(self, format_: EmbeddedFormat) -> Deserializer[Any]:
        """Return what reads a format; it asks the registry, and so is called in threads."""
        reader = self._readers.get(format_)
        if reader is None:
            reader = self._readers[format_] = _DESERIALIZERS[format_](self._registry)
        return reader


_DESERIALIZERS: dict[EmbeddedFormat, Any] = {
    EmbeddedFormat.AVRO: AvroJsonDeserializer,
    EmbeddedFormat.JSONSCHEMA: JsonSchemaDeserializer,
    EmbeddedFormat.PROTOBUF: ProtobufJsonDeserializer,
}
