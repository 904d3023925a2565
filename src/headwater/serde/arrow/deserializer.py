"""Arrow columns of payloads into columns of values, whichever schemas wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pyarrow as pa

from headwater.serde.arrow.json_columns import JsonReader
from headwater.serde.arrow.plain_columns import PLAIN_FORMATS, PlainReader
from headwater.serde.errors import SchemaError
from headwater.serde.framing import ID_SIZE, MAGIC_ID, FramingError, read_schema_ref
from headwater.serde.registry_deserializer import writer_schema
from headwater.serde.schema import as_schema

if TYPE_CHECKING:
    from headwater.serde.arrow.columns import ColumnReader
    from headwater.serde.framing import SchemaRef
    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema, SchemaType

ArrowFormat: TypeAlias = Literal[
    "string", "bytes", "int", "long", "double", "json", "avro", "jsonschema", "protobuf"
]
SCHEMA_TYPES: dict[str, SchemaType] = {
    "avro": "AVRO",
    "jsonschema": "JSON",
    "protobuf": "PROTOBUF",
}


class ArrowDeserializer:
    """Decodes columns; a malformed payload becomes null, with its reason in a column beside.

    `reader_schema` is the schema to read with, for `json` an Arrow type; `message` names
    Protobuf's message where it is not the file's first. Without a schema, each column is read with
    the newest of those that wrote it, so that the type is known only then.

    >>> values, errors = ArrowDeserializer("long").decode(pa.array([b"rubbish", None]))
    >>> values.to_pylist(), errors.to_pylist()
    ([None, None], ['a long has 8 bytes, this has 7', None])

    It can be pickled, so that Spark's workers can be given it.
    """

    def __init__(
        self,
        format: ArrowFormat,  # noqa: A002 - as the command line calls it
        registry: SchemaRegistryClient | None = None,
        reader_schema: str | Schema | pa.DataType | None = None,
        *,
        message: str | None = None,
    ) -> None:
        self._format = format
        self._registry = registry
        self._message = message
        self._given: Schema | None = None
        self._plain: ColumnReader | None = None
        if format in SCHEMA_TYPES:
            if registry is None:
                raise ValueError(f"{format} needs a schema registry")
            if isinstance(reader_schema, pa.DataType):
                raise ValueError(f"{format} is read with a schema, not with an Arrow type")
            if reader_schema is not None:
                self._given = as_schema(reader_schema, SCHEMA_TYPES[format])
        elif format == "json":
            if not isinstance(reader_schema, pa.DataType):
                raise ValueError("give the Arrow type to read json as; it says nothing itself")
            self._plain = JsonReader(reader_schema)
        elif format in PLAIN_FORMATS:
            self._plain = PlainReader(format)
        else:
            raise unknown_format(format)
        self._readers: dict[tuple[Schema, Schema], ColumnReader] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_readers": {}}

    @property
    def type(self) -> pa.DataType:
        """The values' type; raises where that depends on what is read."""
        if self._plain is not None:
            return self._plain.type
        if self._given is None:
            raise ValueError("without a schema to read with, the type depends on what is read")
        return self._reader(self._given, self._given).type

    def decode(
        self,
        payloads: pa.Array | pa.ChunkedArray,
        schema_headers: pa.Array | pa.ChunkedArray | None = None,
    ) -> tuple[pa.Array, pa.Array]:
        """Return values, and beside them the reasons of those that are malformed.

        `schema_headers` are the values of the records' header that names the schema, null where
        a payload has it in front. An unreachable registry raises: no payload is to blame for it.
        """
        data: list[bytes | None] = payloads.to_pylist()
        if self._plain is not None:
            group = _Group()
            for row, payload in enumerate(data):
                if payload is not None:
                    group.add(row, payload)
            return _assembled(len(data), self._plain.type, [(group, self._plain)], {})
        headers = None if schema_headers is None else schema_headers.to_pylist()
        groups, errors = self._by_schema(data, headers)
        reader = self._given
        if reader is None:
            if not groups:
                return pa.nulls(len(data)), _reasons(len(data), errors)
            reader = max(groups, key=lambda schema: groups[schema].newest)
        parts = []
        for writer, group in groups.items():
            try:
                parts.append((group, self._reader(writer, reader)))
            except SchemaError as failure:
                if writer == reader:
                    raise
                reason = f"the schema it was written with cannot be used: {failure}"
                errors.update(dict.fromkeys(group.rows, reason))
        return _assembled(len(data), self._reader(reader, reader).type, parts, errors)

    def _by_schema(
        self, data: list[bytes | None], headers: list[bytes | None] | None
    ) -> tuple[dict[Schema, _Group], dict[int, str]]:
        groups: dict[Schema, _Group] = {}
        errors: dict[int, str] = {}
        known: dict[bytes, _Group] = {}
        for row, payload in enumerate(data):
            if payload is None:
                continue
            header = None if headers is None else headers[row]
            if header is None and (group := known.get(payload[:ID_SIZE])) is not None:
                group.add(row, payload[ID_SIZE:])
                continue
            try:
                ref = read_schema_ref(payload if header is None else header)
                schema = self._writer_schema(ref)
            except (FramingError, ValueError) as failure:
                errors[row] = str(failure)
                continue
            group = groups.setdefault(schema, _Group())
            group.newest = max(group.newest, ref.id or 0)
            if header is not None:
                group.add(row, header[ref.end :] + payload)
                continue
            group.add(row, payload[ref.end :])
            if payload[0] == MAGIC_ID:
                known[payload[:ID_SIZE]] = group
        return groups, errors

    def _writer_schema(self, ref: SchemaRef) -> Schema:
        assert self._registry is not None, "the constructor insists on it"
        return writer_schema(self._registry, ref, SCHEMA_TYPES[self._format])

    def _reader(self, writer: Schema, reader: Schema) -> ColumnReader:
        found = self._readers.get((writer, reader))
        if found is None:
            found = self._readers[writer, reader] = self._new_reader(writer, reader)
        return found

    def _new_reader(self, writer: Schema, reader: Schema) -> ColumnReader:
        # Each format brings a library of its own.
        assert self._registry is not None, "the constructor insists on it"
        if self._format == "avro":
            from headwater.serde.arrow.avro_columns import AvroReader

            return AvroReader(self._registry, writer, reader)
        if self._format == "protobuf":
            from headwater.serde.arrow.protobuf_columns import ProtobufReader

            return ProtobufReader(self._registry, writer, reader, self._message)
        from headwater.serde.arrow.json_columns import schema_reader

        return schema_reader(self._registry, reader)


def unknown_format(name: str) -> ValueError:
    """Return an error that lists the formats that there are."""
    known = ", ".join((*PLAIN_FORMATS, "json", *SCHEMA_TYPES))
    return ValueError(f"there is no format {name!r}; there are {known}")


class _Group:
    """The payloads of one schema, and where in the column they stand."""

    def __init__(self) -> None:
        self.newest = 0
        self.rows: list[int] = []
        self.payloads: list[bytes] = []

    def add(self, row: int, payload: bytes) -> None:
        self.rows.append(row)
        self.payloads.append(payload)


def _assembled(
    size: int,
    wanted: pa.DataType,
    parts: list[tuple[_Group, ColumnReader]],
    errors: dict[int, str],
) -> tuple[pa.Array, pa.Array]:
    """Read the parts of a column and put them where they belong; the other rows are null."""
    where: list[int | None] = [None] * size
    arrays = [pa.nulls(0, wanted)]
    taken = 0
    for group, reader in parts:
        column = reader.read(group.payloads)
        for index, reason in enumerate(column.reasons):
            if reason is not None:
                errors[group.rows[index]] = reason
        if len(group.rows) == size:
            return column.values, _reasons(size, errors)
        for index, row in enumerate(group.rows):
            where[row] = taken + index
        arrays.append(column.values)
        taken += len(column.values)
    return pa.concat_arrays(arrays).take(pa.array(where, pa.int64())), _reasons(size, errors)


def _reasons(size: int, errors: dict[int, str]) -> pa.Array:
    if not errors:
        return pa.nulls(size, pa.string())
    return pa.array([errors.get(row) for row in range(size)], pa.string())
