"""Schema formats side by side: each parses, writes, normalises and compares schemas of its kind."""

from headwater.registry.formats.avro import AvroFormat
from headwater.registry.formats.base import (
    Incompatibility,
    InvalidSchemaError,
    ParsedSchema,
    SchemaFormat,
)
from headwater.registry.formats.json_schema import JsonSchemaFormat
from headwater.registry.formats.protobuf import ProtobufFormat

FORMATS: dict[str, SchemaFormat] = {
    each.name: each for each in (AvroFormat(), JsonSchemaFormat(), ProtobufFormat())
}

__all__ = [
    "FORMATS",
    "Incompatibility",
    "InvalidSchemaError",
    "ParsedSchema",
    "SchemaFormat",
]
