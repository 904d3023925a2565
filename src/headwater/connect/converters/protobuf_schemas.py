"""Connect's schemas as Protobuf's, as Confluent's ProtobufConverter makes them, and back."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Field, Schema, Type
from headwater.serde.arrow.protobuf_types import entry_of, is_map

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFAULT_NAME = "ConnectDefault"
_SCALARS = {
    Type.INT8: "int32",
    Type.INT16: "int32",
    Type.INT32: "int32",
    Type.INT64: "int64",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BOOLEAN: "bool",
    Type.STRING: "string",
    Type.BYTES: "bytes",
}
_MESSAGES = {
    connect.DATE: ("google.type.Date", "google/type/date.proto"),
    connect.TIME: ("google.type.TimeOfDay", "google/type/timeofday.proto"),
    connect.TIMESTAMP: ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
}
_BY_MESSAGE = {
    "google.type.Date": connect.date,
    "google.type.TimeOfDay": connect.time,
    "google.protobuf.Timestamp": connect.timestamp,
}
# As protobuf numbers its types: double, float, int64, uint64 and so on.
_BY_NUMBER = {
    1: Type.FLOAT64,
    2: Type.FLOAT32,
    3: Type.INT64,
    5: Type.INT32,
    7: Type.INT64,
    8: Type.BOOLEAN,
    9: Type.STRING,
    12: Type.BYTES,
    13: Type.INT64,
    14: Type.STRING,
    15: Type.INT32,
    16: Type.INT64,
    17: Type.INT32,
    18: Type.INT64,
}


def as_proto(schema: Schema) -> str:
    """Return the text of a struct's message; raises ValueError for what has no counterpart.

    >>> print(as_proto(connect.struct({"id": Schema(Type.INT64)}, name="org.Person")))
    syntax = "proto3";
    package org;
    message Person {
      int64 id = 1;
    }
    """
    if schema.type is not Type.STRUCT:
        raise ValueError(f"Protobuf's values are messages, of structs; this is {schema.type.value}")
    imports: set[str] = set()
    names = (f"{_DEFAULT_NAME}{number}" for number in count(1))
    space, _, own = (schema.name or next(names)).rpartition(".")
    body = _message(own, schema, names, imports)
    lines = ['syntax = "proto3";']
    lines += [f"package {space};"] if space else []
    lines += [f'import "{each}";' for each in sorted(imports)]
    return "\n".join([*lines, *body])


def from_message(message: Any) -> Schema:
    """Return Connect's schema of a message's descriptor; raises ValueError."""
    name = message.full_name
    named = None if message.name.startswith(_DEFAULT_NAME) else name
    return Schema(Type.STRUCT, name=named, fields=tuple(map(_field, message.fields)))


def _message(name: str, schema: Schema, names: Iterator[str], imports: set[str]) -> list[str]:
    lines: list[str] = []
    inner: list[str] = []
    for number, field in enumerate(schema.fields, 1):
        kind, nested = _type(field.schema, names, imports, field.name)
        inner += nested
        label = ""
        if field.schema.optional and field.schema.type not in (Type.ARRAY, Type.MAP, Type.STRUCT):
            label = "" if field.schema.logical else "optional "
        lines.append(f"  {label}{kind} {field.name} = {number};")
    return [f"message {name} {{", *lines, *(f"  {line}" for line in inner), "}"]


def _type(
    schema: Schema, names: Iterator[str], imports: set[str], field: str
) -> tuple[str, list[str]]:
    if schema.logical == connect.DECIMAL:
        raise ValueError(f"field {field}: a decimal has no counterpart here; cast it to text")
    if schema.logical is not None:
        kind, file = _MESSAGES[schema.logical]
        imports.add(file)
        return kind, []
    match schema.type:
        case Type.STRUCT:
            name = (schema.name or next(names)).rpartition(".")[2]
            return name, _message(name, schema, names, imports)
        case Type.ARRAY:
            assert schema.value is not None
            if schema.value.type in (Type.ARRAY, Type.MAP):
                raise ValueError(f"field {field}: Protobuf has no lists of lists or of maps")
            kind, nested = _type(schema.value, names, imports, field)
            return f"repeated {kind}", nested
        case Type.MAP:
            assert schema.key is not None
            assert schema.value is not None
            key, _ = _type(schema.key, names, imports, field)
            kind, nested = _type(schema.value, names, imports, field)
            return f"map<{key}, {kind}>", nested
    return _SCALARS[schema.type], []


def _field(field: Any) -> Field:
    if is_map(field):
        key, value = entry_of(field)
        schema = Schema(Type.MAP, key=_element(key), value=_element(value))
    elif field.is_repeated:
        schema = Schema(Type.ARRAY, value=_element(field))
    else:
        schema = _element(field)
        if field.has_presence:
            schema = schema.as_optional()
    return Field(field.name, schema)


def _element(field: Any) -> Schema:
    message = field.message_type
    if message is not None:
        known = _BY_MESSAGE.get(message.full_name)
        return from_message(message) if known is None else known()
    if field.type not in _BY_NUMBER:
        raise ValueError(f"field {field.name}: its type has no counterpart among Connect's")
    return Schema(_BY_NUMBER[field.type])
