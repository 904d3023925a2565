"""Avro with values in Avro's JSON encoding, as command lines and REST clients write them.

There a value of a union names its branch, `{"long": 999}`, unless it is null; bytes are text with
a character a byte; logical types are the plain numbers and bytes below them. Values that do not
name their branch are taken as well where they fit one.
"""

from __future__ import annotations

import math
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar

from fastavro import parse_schema, schemaless_reader, schemaless_writer

from headwater.serde.codec import Codec
from headwater.serde.formats import avro_schema
from headwater.serde.formats.avro import AvroSerializer
from headwater.serde.formats.avro_json_reader import AvroJsonReader, tag_of
from headwater.serde.registry_deserializer import RegistryDeserializer

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema, SchemaType


class AvroJsonSerializer(AvroSerializer):
    """Writes Avro from values in Avro's JSON encoding; the settings are AvroSerializer's."""

    def _parse(self, schema: Schema) -> Codec:
        return AvroJsonCodec(avro_schema.load(schema, self._registry))


class AvroJsonDeserializer(RegistryDeserializer[Any]):
    """Reads Avro into values in Avro's JSON encoding, as they were written or as a schema wants."""

    schema_type: ClassVar[SchemaType] = "AVRO"

    def __init__(self, registry: SchemaRegistryClient, schema: Schema | None = None) -> None:
        super().__init__(registry, schema)
        if schema is not None:
            self._codec(schema)  # a wrong schema should be heard of here

    def _parse(self, schema: Schema) -> Codec:
        return AvroJsonCodec(avro_schema.load(schema, self._registry))


class AvroJsonCodec(Codec):
    """One Avro schema at work on its JSON encoding.

    A record with a single field is encoded as that field alone. So each branch of a union can be
    wrapped into a record whose field has the branch's name, without changing a byte: fastavro then
    reads and writes the JSON encoding by itself.
    """

    def __init__(self, parsed: Any) -> None:
        self.parsed = parsed
        self.record_name = avro_schema.record_name_of(parsed)
        self._is_bytes = self.record_name == "bytes"
        self._reader = AvroJsonReader(parsed)
        self._wrapped = parse_schema(_Wrapping().wrap(parsed))

    def encode(self, value: Any) -> bytes:
        """Return Avro's binary encoding; raises ValueError that says where the value is wrong."""
        plain = self._reader.read(value)
        if self._is_bytes:
            assert isinstance(plain, bytes), "the reader makes bytes of what is declared as bytes"
            return plain
        buffer = BytesIO()
        schemaless_writer(buffer, self._wrapped, plain)
        return buffer.getvalue()

    def decoder(self, reader: Codec | None) -> Callable[[bytes, int], Any]:
        """Return what reads payloads into the JSON encoding of the reader's schema, or their own.

        The branches of two schemas are not wrapped alike, so what a reader's schema makes of a
        payload is written with that schema first.
        """
        if self._is_bytes:
            return lambda data, start: data[start:].decode("latin-1")
        if isinstance(reader, AvroJsonCodec):
            return self._resolving(reader)
        wrapped = self._wrapped

        def decode(data: bytes, start: int) -> Any:
            buffer = BytesIO(data)
            buffer.seek(start)
            return _to_json(schemaless_reader(buffer, wrapped, None))

        return decode

    def _resolving(self, reader: AvroJsonCodec) -> Callable[[bytes, int], Any]:
        writer_schema, reader_schema = self.parsed, reader.parsed
        to_json = reader.decoder(None)

        def decode(data: bytes, start: int) -> Any:
            buffer = BytesIO(data)
            buffer.seek(start)
            # With the names of a union's branches, which the values alone need not tell.
            value = schemaless_reader(buffer, writer_schema, reader_schema, return_named_type=True)
            resolved = BytesIO()
            schemaless_writer(resolved, reader_schema, value)
            return to_json(resolved.getvalue(), 0)

        return decode


class _Wrapping:
    """Wraps the branches of unions into records, and leaves logical types and defaults out."""

    def __init__(self) -> None:
        self._branches = 0

    def wrap(self, schema: Any) -> Any:
        if isinstance(schema, list):
            return [self._branch(branch) for branch in schema]
        if not isinstance(schema, dict):
            return schema
        match schema["type"]:
            case "record" | "error":
                fields = [
                    {"name": field["name"], "type": self.wrap(field["type"])}
                    for field in schema["fields"]
                ]
                return {"type": "record", "name": schema["name"], "fields": fields}
            case "array":
                return {"type": "array", "items": self.wrap(schema["items"])}
            case "map":
                return {"type": "map", "values": self.wrap(schema["values"])}
            case "enum":
                return {"type": "enum", "name": schema["name"], "symbols": schema["symbols"]}
            case "fixed":
                return {"type": "fixed", "name": schema["name"], "size": schema["size"]}
            case nested:
                return self.wrap(nested)

    def _branch(self, branch: Any) -> Any:
        if branch == "null":
            return branch
        self._branches += 1
        name = f"headwater.avro_json.Branch{self._branches}"
        field = {"name": tag_of(branch), "type": self.wrap(branch)}
        return {"type": "record", "name": name, "fields": [field]}


def _to_json(value: Any) -> Any:
    match value:
        case dict():
            return {name: _to_json(item) for name, item in value.items()}
        case list():
            return [_to_json(item) for item in value]
        case bytes():
            return value.decode("latin-1")
        case float() if not math.isfinite(value):
            # JSON has no such numbers; Java's encoder writes these names.
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case _:
            return value
