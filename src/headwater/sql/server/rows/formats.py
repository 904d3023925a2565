"""Keys and values of records as columns, and columns as bytes, in every format of the language."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from headwater import serde
from headwater.serde.context import Context
from headwater.serde.errors import SerdeError
from headwater.serde.formats.protobuf_codec import descriptor_of, load_file
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.casting import caster, text_of
from headwater.sql.server.rows.json_values import fields_from_json, from_json, to_json
from headwater.sql.server.rows.protobuf import BareMessages, message_json, schema_of
from headwater.sql.server.rows.schemas import avro_schema, json_schema
from headwater.sql.server.rows.shown import encoded
from headwater.sql.types.sql_type import (
    BIGINT,
    BYTES,
    DOUBLE,
    INTEGER,
    STRING,
    SqlType,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.serde import SchemaRegistryClient
    from headwater.serde.context import Field
    from headwater.sql.metastore.formats import ChosenFormat
    from headwater.sql.metastore.source import DataSource, SourceColumn

Columns: TypeAlias = "Mapping[str, Any]"

_DESERIALIZERS = {
    "AVRO": "AvroDeserializer",
    "JSON_SR": "JsonSchemaDeserializer",
    "PROTOBUF": "ProtobufJsonDeserializer",
}
_NUMBERS: dict[SqlType, str] = {
    INTEGER: "Integer",
    BIGINT: "Long",
    DOUBLE: "Double",
    STRING: "String",
    BYTES: "Bytes",
}


class MalformedError(ValueError):
    """Bytes that are none of the format; `field` says whether a key's or a value's."""

    def __init__(self, message: str, field: Field) -> None:
        super().__init__(message)
        self.field = field


class Side:
    """The keys, or the values, of a source's records."""

    def __init__(
        self, source: DataSource, field: Field, registry: SchemaRegistryClient | None
    ) -> None:
        self.columns: tuple[SourceColumn, ...] = source.key if field == "key" else source.value
        chosen: ChosenFormat = source.key_format if field == "key" else source.value_format
        self._chosen = chosen
        self._place = Context(source.topic, field)
        self._registry = registry
        self._struct = Struct(tuple((column.name, column.type) for column in self.columns))
        self._is_bare = self._bare(source, field)
        self._decode: Callable[[bytes], Columns] | None = None
        self._encode: Callable[[Columns], bytes | None] | None = None

    def read(self, data: bytes | None) -> Columns | None:
        """Return the columns of some bytes; raises MalformedError, and SqlError by its format."""
        if not self.columns:
            return {}
        if data is None:
            return None
        if self._decode is None:
            self._decode = self._decoder()
        try:
            return self._decode(data)
        except (SerdeError, ValueError, TypeError, ArithmeticError) as failure:
            raise MalformedError(f"{self._place}: {failure}", self._place.field) from failure

    def write(self, columns: Columns | None) -> bytes | None:
        """Return the bytes of columns; raises SqlError for what cannot be written."""
        if columns is None or not self.columns:
            return None
        if self._encode is None:
            self._encode = self._encoder()
        try:
            return self._encode(columns)
        except SerdeError as failure:
            raise SqlError(str(failure)) from failure

    def _bare(self, source: DataSource, field: Field) -> bool:
        """Return whether the only column stands by itself, without an object around it."""
        if len(self.columns) != 1:
            return False
        if self._chosen.name.startswith("PROTOBUF"):  # which has messages alone
            return False
        return field == "key" or source.wrap_single_value is False

    @property
    def _type(self) -> SqlType:
        return self.columns[0].type if self._is_bare else self._struct

    def _decoder(self) -> Callable[[bytes], Columns]:
        match self._chosen.name:
            case "KAFKA":
                (column,) = self.columns
                kind = _NUMBERS[column.type]
                deserialize = getattr(serde, f"{kind}Deserializer")()
                return lambda data: {column.name: deserialize(data, self._place)}
            case "JSON":
                return lambda data: self._from_json(msgspec.json.decode(data))
            case "DELIMITED":
                return self._from_delimited
            case "PROTOBUF_NOSR":
                messages = BareMessages(self._struct)
                return lambda data: self._from_json(messages.read(data))
            case name if name in _DESERIALIZERS:
                deserialize = getattr(serde, _DESERIALIZERS[name])(self._client())
                return lambda data: self._from_json(deserialize(data, self._place))
            case name:
                raise SqlError(f"the {name} format is not read here yet")

    def _from_json(self, value: Any) -> Columns:
        if self._is_bare:
            return {self.columns[0].name: from_json(value, self.columns[0].type)}
        if not isinstance(value, dict):
            raise TypeError(f"{value!r} is no object")
        return fields_from_json(value, self._struct)

    def _from_delimited(self, data: bytes) -> Columns:
        rows = list(csv.reader([data.decode()], delimiter=self._delimiter))
        values = rows[0] if rows else []
        if len(values) != len(self.columns):
            raise ValueError(f"there are {len(values)} values for {len(self.columns)} columns")
        return {
            column.name: None if text == "" else caster(STRING, column.type)(text)
            for column, text in zip(self.columns, values, strict=True)
        }

    def _encoder(self) -> Callable[[Columns], bytes | None]:
        match self._chosen.name:
            case "KAFKA":
                (column,) = self.columns
                serialize = getattr(serde, f"{_NUMBERS[column.type]}Serializer")()
                return lambda columns: serialize(columns.get(column.name), self._place)
            case "JSON":
                return lambda columns: encoded(self._to_json(columns))
            case "DELIMITED":
                return self._to_delimited
            case "PROTOBUF_NOSR":
                messages = BareMessages(self._struct)
                return lambda columns: messages.write(dict(columns))
            case "PROTOBUF":
                return self._messages_by_registry()
            case "AVRO" | "JSON_SR":
                return self._by_registry()
            case name:
                raise SqlError(f"rows in the {name} format are not written here yet")

    def _to_json(self, columns: Columns) -> Any:
        if self._is_bare:
            column = self.columns[0]
            return to_json(columns.get(column.name), column.type)
        return to_json(dict(columns), self._struct)

    def _to_delimited(self, columns: Columns) -> bytes:
        values = [
            "" if (value := columns.get(column.name)) is None else text_of(value, column.type)
            for column in self.columns
        ]
        line = io.StringIO()
        csv.writer(line, delimiter=self._delimiter, lineterminator="").writerow(values)
        return line.getvalue().encode()

    def _by_registry(self) -> Callable[[Columns], bytes | None]:
        is_avro = self._chosen.name == "AVRO"
        make = serde.AvroSerializer if is_avro else serde.JsonSchemaSerializer
        client, subject = self._client(), f"{self._place.topic}-{self._place.field}"
        if subject in client.get_subjects():
            serializer: Any = make(client, None, use_latest_version=True)
        else:
            schema = avro_schema(self._type) if is_avro else json_schema(self._type)
            serializer = make(client, schema)

        def encode(columns: Columns) -> bytes | None:
            value = self._bare_or_dict(columns) if is_avro else self._to_json(columns)
            return serializer(value, self._place)  # type: ignore[no-any-return]

        return encode

    def _messages_by_registry(self) -> Callable[[Columns], bytes | None]:
        client, message = self._client(), self._chosen.message
        subject = f"{self._place.topic}-{self._place.field}"
        if subject in client.get_subjects():
            schema = client.get_latest_version(subject).schema
        else:
            schema = serde.Schema(schema_of(self._struct, message), "PROTOBUF")
        serializer = serde.ProtobufSerializer(client, schema, message=message)
        descriptor = descriptor_of(load_file(schema, client).class_named(message))

        def encode(columns: Columns) -> bytes | None:
            return serializer(message_json(dict(columns), self._struct, descriptor), self._place)

        return encode

    def _bare_or_dict(self, columns: Columns) -> Any:
        if self._is_bare:
            return columns.get(self.columns[0].name)
        return {column.name: columns.get(column.name) for column in self.columns}

    @property
    def _delimiter(self) -> str:
        return dict(self._chosen.properties).get("DELIMITER", ",")

    def _client(self) -> SchemaRegistryClient:
        if self._registry is None:
            raise SqlError(
                f"the {self._chosen.name} format needs a registry: set ksql.schema.registry.url"
            )
        return self._registry
