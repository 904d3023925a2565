"""Bytes and values: text, numbers, JSON, and with a schema registry Avro, JSON Schema, Protobuf.

The formats are imported when they are first used, since each brings a library of its own.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from headwater.serde.context import Context
from headwater.serde.errors import (
    DeserializationError,
    RegistryError,
    RegistryUnreachableError,
    SchemaError,
    SerdeError,
    SerializationError,
)
from headwater.serde.schema import Reference, RegisteredSchema, Schema
from headwater.serde.serializer import Deserializer, Serializer

if TYPE_CHECKING:
    from headwater.serde.formats.avro import AvroDeserializer, AvroSerializer
    from headwater.serde.formats.avro_json import AvroJsonDeserializer, AvroJsonSerializer
    from headwater.serde.formats.json import JsonDeserializer, JsonSerializer
    from headwater.serde.formats.json_schema import JsonSchemaDeserializer, JsonSchemaSerializer
    from headwater.serde.formats.numbers import (
        DoubleDeserializer,
        DoubleSerializer,
        IntegerDeserializer,
        IntegerSerializer,
        LongDeserializer,
        LongSerializer,
    )
    from headwater.serde.formats.protobuf import (
        ProtobufDeserializer,
        ProtobufJsonDeserializer,
        ProtobufSerializer,
    )
    from headwater.serde.formats.text import (
        BytesDeserializer,
        BytesSerializer,
        StringDeserializer,
        StringSerializer,
    )
    from headwater.serde.registry_client import SchemaRegistryClient

__all__ = [
    "AvroDeserializer",
    "AvroJsonDeserializer",
    "AvroJsonSerializer",
    "AvroSerializer",
    "BytesDeserializer",
    "BytesSerializer",
    "Context",
    "DeserializationError",
    "Deserializer",
    "DoubleDeserializer",
    "DoubleSerializer",
    "IntegerDeserializer",
    "IntegerSerializer",
    "JsonDeserializer",
    "JsonSchemaDeserializer",
    "JsonSchemaSerializer",
    "JsonSerializer",
    "LongDeserializer",
    "LongSerializer",
    "ProtobufDeserializer",
    "ProtobufJsonDeserializer",
    "ProtobufSerializer",
    "Reference",
    "RegisteredSchema",
    "RegistryError",
    "RegistryUnreachableError",
    "Schema",
    "SchemaError",
    "SchemaRegistryClient",
    "SerdeError",
    "SerializationError",
    "Serializer",
    "StringDeserializer",
    "StringSerializer",
]

_LAZY = {
    "SchemaRegistryClient": "registry_client",
    **dict.fromkeys(("AvroDeserializer", "AvroSerializer"), "formats.avro"),
    **dict.fromkeys(("AvroJsonDeserializer", "AvroJsonSerializer"), "formats.avro_json"),
    **dict.fromkeys(("JsonDeserializer", "JsonSerializer"), "formats.json"),
    **dict.fromkeys(("JsonSchemaDeserializer", "JsonSchemaSerializer"), "formats.json_schema"),
    **dict.fromkeys(("DoubleDeserializer", "DoubleSerializer"), "formats.numbers"),
    **dict.fromkeys(("IntegerDeserializer", "IntegerSerializer"), "formats.numbers"),
    **dict.fromkeys(("LongDeserializer", "LongSerializer"), "formats.numbers"),
    **dict.fromkeys(("ProtobufDeserializer", "ProtobufSerializer"), "formats.protobuf"),
    "ProtobufJsonDeserializer": "formats.protobuf",
    **dict.fromkeys(("BytesDeserializer", "BytesSerializer"), "formats.text"),
    **dict.fromkeys(("StringDeserializer", "StringSerializer"), "formats.text"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
