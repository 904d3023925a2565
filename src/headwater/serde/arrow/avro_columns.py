"""Columns of Avro."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from fastavro import schemaless_reader, schemaless_writer

from headwater.serde.arrow.avro_types import avro_type
from headwater.serde.arrow.avro_values import (
    has_wide_union,
    reading_shape,
    without_meaning,
    writing_shape,
)
from headwater.serde.arrow.columns import (
    Column,
    ColumnReader,
    ColumnWriter,
    array_of,
    conformed,
    decode_each,
    encode_each,
)
from headwater.serde.formats import avro_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema


class AvroReader(ColumnReader):
    """Reads what one schema wrote as another one has it."""

    def __init__(self, registry: SchemaRegistryClient, writer: Schema, reader: Schema) -> None:
        shown = avro_schema.load(reader, registry)
        types = avro_type(shown)
        self.type, self._physical = types.logical, types.physical
        as_read = without_meaning(shown)
        # Only another schema is worth the time that resolving takes.
        self._reader = None if writer == reader else as_read
        self._writer = without_meaning(avro_schema.load(writer, registry))
        self._is_bytes = avro_schema.record_name_of(self._writer) == "bytes"
        self._wide = has_wide_union(as_read)
        self._shape = reading_shape(as_read) if self._wide else None

    def read(self, payloads: Sequence[bytes]) -> Column:
        """Decode payloads into the reader's fields."""
        if self._is_bytes:  # which have no length in front, see AvroCodec
            return Column(pa.array(payloads, self.type), [None] * len(payloads))
        values, reasons = decode_each(payloads, self._wide_value if self._wide else self._value)
        return array_of(values, reasons, self._physical, self.type)

    def _value(self, payload: bytes) -> Any:
        return schemaless_reader(BytesIO(payload), self._writer, self._reader)

    def _wide_value(self, payload: bytes) -> Any:
        value = schemaless_reader(
            BytesIO(payload), self._writer, self._reader, return_named_type=True
        )
        return value if self._shape is None or value is None else self._shape(value)


class AvroWriter(ColumnWriter):
    """Writes with one schema."""

    def __init__(self, registry: SchemaRegistryClient, schema: Schema) -> None:
        shown = avro_schema.load(schema, registry)
        types = avro_type(shown)
        self.type, self._raw, self._physical = types.logical, types.raw, types.physical
        self._schema = without_meaning(shown)
        self._is_bytes = avro_schema.record_name_of(self._schema) == "bytes"
        self._shape = writing_shape(self._schema)

    def write(self, values: pa.Array) -> list[bytes | None]:
        """Encode values; dates and times become the numbers that the schema says."""
        fitting = conformed(values, self.type)
        if self._physical != self.type:
            fitting = fitting.cast(self._physical, safe=False)  # finer than the schema can say
        plain = fitting.cast(self._raw).to_pylist()
        return plain if self._is_bytes else encode_each(plain, self._payload)

    def _payload(self, value: Any) -> bytes:
        buffer = BytesIO()
        shape = self._shape
        schemaless_writer(buffer, self._schema, value if shape is None else shape(value))
        return buffer.getvalue()
