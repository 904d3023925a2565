"""A table's values, and the keys of records, as Python has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from headwater import serde
from headwater.serde.context import Context
from headwater.serde.errors import DeserializationError
from headwater.stores.errors import StoreError, StoreValueError
from headwater.stores.python_types import python_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde import Deserializer, SchemaRegistryClient
    from headwater.serde.context import Field
    from headwater.stores.table import Side

# By name: each is imported when it is used, with the library that it brings.
_PLAIN = {
    "string": "StringDeserializer",
    "bytes": "BytesDeserializer",
    "int": "IntegerDeserializer",
    "long": "LongDeserializer",
    "double": "DoubleDeserializer",
}
_OF_REGISTRY = {
    "avro": "AvroDeserializer",
    "jsonschema": "JsonSchemaDeserializer",
    "protobuf": "ProtobufDeserializer",
}


def value_reader(
    side: Side, topic: str, field: Field, registry: SchemaRegistryClient | None
) -> Callable[[bytes], Any]:
    """Return what reads the bytes of keys or values; it raises StoreValueError."""
    kind = side.format.kind
    if kind == "json":
        return _json_reader(side, topic, field)
    if kind in _PLAIN:
        deserializer: Deserializer[Any] = getattr(serde, _PLAIN[kind])()
    elif kind in _OF_REGISTRY:
        if registry is None:
            raise StoreError(f"{topic} is written as {kind}: say where the registry is")
        deserializer = getattr(serde, _OF_REGISTRY[kind])(registry)
    else:
        raise StoreError(f"{topic} is written as {kind}, which only its program can read")
    place = Context(topic, field)

    def read(data: bytes) -> Any:
        try:
            return deserializer(data, place)
        except DeserializationError as failure:
            raise StoreValueError(str(failure)) from failure

    return read


def _json_reader(side: Side, topic: str, field: Field) -> Callable[[bytes], Any]:
    decoder = msgspec.json.Decoder(python_type(side.type), strict=False)

    def read(data: bytes) -> Any:
        try:
            return decoder.decode(data)
        except (msgspec.DecodeError, msgspec.ValidationError) as failure:
            raise StoreValueError(
                f"{Context(topic, field)}: it is no JSON {side.type.ddl()}: {failure}"
            ) from None

    return read
