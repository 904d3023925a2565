"""Columns of JSON, with a schema from the registry or with an Arrow type of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headwater.serde.arrow.columns import (
    Column,
    ColumnReader,
    ColumnWriter,
    array_of,
    conformed,
    decode_each,
    encode_each,
)
from headwater.serde.arrow.json_types import json_type, shown_type
from headwater.serde.arrow.json_values import reading_shape, widening_shape, writing_shape
from headwater.serde.formats.json import decode_json, encode_json
from headwater.serde.formats.json_schema import load_codec, load_references

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema


class JsonReader(ColumnReader):
    """Parses JSON into an Arrow type; `check` raises where a value is not allowed."""

    def __init__(self, wanted: pa.DataType, check: Callable[[Any], None] | None = None) -> None:
        self.type = shown_type(wanted)
        self._check = check
        self._shape = reading_shape(wanted)

    def read(self, payloads: Sequence[bytes]) -> Column:
        """Parse payloads."""
        values, reasons = decode_each(payloads, self._value)
        try:
            return Column(pa.array(values, self.type), reasons)
        except (pa.ArrowException, OverflowError, TypeError):
            # Worth the time only here: nearly all whole numbers are exact as doubles.
            widen = widening_shape(self.type)
        if widen is not None:
            values, malformed = decode_each(values, lambda value: value and widen(value))
            reasons = [one or other for one, other in zip(reasons, malformed, strict=True)]
        return array_of(values, reasons, self.type, self.type)

    def _value(self, payload: bytes) -> Any:
        value = decode_json(payload)
        if self._check is not None:
            self._check(value)
        return value if self._shape is None or value is None else self._shape(value)


class JsonWriter(ColumnWriter):
    """Writes JSON; `check` raises where a value is not allowed."""

    def __init__(self, wanted: pa.DataType, check: Callable[[Any], None] | None = None) -> None:
        self.type = shown_type(wanted)
        self._check = check
        self._shape = writing_shape(wanted)

    def write(self, values: pa.Array) -> list[bytes | None]:
        """Encode values; a struct's fields without a value are left out."""
        return encode_each(conformed(values, self.type).to_pylist(), self._payload)

    def _payload(self, value: Any) -> bytes:
        shaped = value if self._shape is None else self._shape(value)
        if self._check is not None:
            self._check(shaped)
        return encode_json(shaped)


def schema_reader(registry: SchemaRegistryClient, reader: Schema) -> JsonReader:
    """Return what reads payloads that the schema allows."""
    return JsonReader(_type(registry, reader), load_codec(reader, registry).check)


def schema_writer(registry: SchemaRegistryClient, schema: Schema) -> JsonWriter:
    """Return what writes values that the schema allows."""
    return JsonWriter(_type(registry, schema), load_codec(schema, registry).check)


def _type(registry: SchemaRegistryClient, schema: Schema) -> pa.DataType:
    return json_type(schema.parse_json(), load_references(schema, registry))
