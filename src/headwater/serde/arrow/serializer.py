"""Arrow columns of values into columns of payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from headwater.serde.arrow.deserializer import SCHEMA_TYPES, unknown_format
from headwater.serde.arrow.json_columns import JsonWriter
from headwater.serde.arrow.plain_columns import PLAIN_FORMATS, PlainWriter
from headwater.serde.context import Context
from headwater.serde.framing import id_prefix

if TYPE_CHECKING:
    from headwater.serde.arrow.columns import ColumnWriter
    from headwater.serde.arrow.deserializer import ArrowFormat
    from headwater.serde.context import Field
    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.registry_serializer import RegistrySerializer, SerializerSettings
    from headwater.serde.schema import Schema


class ArrowSerializer:
    """Encodes columns of one topic; null stays null, a tombstone.

    The formats with a schema take one, and the settings of their serialisers for single values:
    `auto_register_schemas`, `use_latest_version`, `subject_name_strategy` and so on. For `json`
    the schema is an Arrow type, or left out: then the column's own is taken.

    >>> ArrowSerializer("long").encode(pa.array([258, None])).to_pylist()
    [b'\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x02', None]

    It can be pickled, so that Spark's workers can be given it.
    """

    def __init__(
        self,
        format: ArrowFormat,  # noqa: A002 - as the command line calls it
        registry: SchemaRegistryClient | None = None,
        schema: str | Schema | pa.DataType | None = None,
        *,
        topic: str | None = None,
        field: Field = "value",
        message: str | None = None,
        **settings: Unpack[SerializerSettings],
    ) -> None:
        self._format = format
        self._registry = registry
        self._message = message
        self._context = Context(topic, field)
        self._writers: dict[Any, ColumnWriter] = {}
        self._type: pa.DataType | None = None
        self._serializer: RegistrySerializer[Any] | None = None
        if format in SCHEMA_TYPES:
            if registry is None:
                raise ValueError(f"{format} needs a schema registry")
            if isinstance(schema, pa.DataType):
                raise ValueError(f"{format} is written with a schema, not with an Arrow type")
            self._serializer = _serializer(format, registry, schema, message, settings)
        elif format == "json":
            if isinstance(schema, pa.DataType):
                self._type = schema
            elif schema is not None:
                raise ValueError("json has no schema of its own; give an Arrow type, or nothing")
        elif format not in PLAIN_FORMATS:
            raise unknown_format(format)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_writers": {}}

    def encode(self, values: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Return the payloads of a column; raises SerializationError that names the bad row."""
        column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if self._serializer is None:
            return pa.array(self._plain_writer(column.type).write(column), pa.binary())
        written = self._serializer.written_with(self._context)
        writer = self._writers.get(written.schema)
        if writer is None:
            writer = self._writers[written.schema] = self._new_writer(written.schema)
        prefix = id_prefix(written.id)
        return pa.array(
            [None if each is None else prefix + each for each in writer.write(column)],
            pa.binary(),
        )

    def _plain_writer(self, given: pa.DataType) -> ColumnWriter:
        key = (self._type or given) if self._format == "json" else None
        writer = self._writers.get(key)
        if writer is None:
            writer = PlainWriter(self._format) if key is None else JsonWriter(key)
            self._writers[key] = writer
        return writer

    def _new_writer(self, schema: Schema) -> ColumnWriter:
        # Each format brings a library of its own.
        assert self._registry is not None, "the constructor insists on it"
        if self._format == "avro":
            from headwater.serde.arrow.avro_columns import AvroWriter

            return AvroWriter(self._registry, schema)
        if self._format == "protobuf":
            from headwater.serde.arrow.protobuf_columns import ProtobufWriter

            return ProtobufWriter(self._registry, schema, self._message)
        from headwater.serde.arrow.json_columns import schema_writer

        return schema_writer(self._registry, schema)


def _serializer(
    format_name: str,
    registry: SchemaRegistryClient,
    schema: str | Schema | None,
    message: str | None,
    settings: SerializerSettings,
) -> RegistrySerializer[Any]:
    if format_name == "avro":
        from headwater.serde.formats.avro import AvroSerializer

        return AvroSerializer(registry, schema, **settings)
    if format_name == "protobuf":
        from headwater.serde.formats.protobuf import ProtobufSerializer

        return ProtobufSerializer(registry, schema, message=message, **settings)
    from headwater.serde.formats.json_schema import JsonSchemaSerializer

    return JsonSchemaSerializer(registry, schema, **settings)
