"""Compiles kio's schemas into encoders for trees of mappings, sequences and plain values.

kio's own encoder wants its dataclasses, with timedeltas and enums, and takes ten times as long.
Only `headwater.protocol.messages` imports this module, when the first such message comes along.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeAlias, Union, get_args, get_origin
from uuid import UUID

from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType

from headwater.protocol.encodings import Encoding, encoding
from headwater.protocol.primitives import (
    write_bool,
    write_int8,
    write_int16,
    write_int32,
    write_int64,
    write_tagged_fields,
    write_uuid,
)

Tree: TypeAlias = Mapping[str, Any]
_Write: TypeAlias = Callable[[Any, list[bytes]], None]


class TreeError(ValueError):
    """A tree that its schema has no place for: a field that no version has, or a wrong value."""


class FieldShape(NamedTuple):
    """What a schema says about one field."""

    name: str
    type: type
    """Of the field itself or, if it is an array, of its items."""
    is_array: bool
    is_nullable: bool

    @property
    def is_struct(self) -> bool:
        """Whether the field, or each of its items, has fields of its own."""
        return is_dataclass(self.type)


def shape_of(field: Field[Any]) -> FieldShape:
    """Take apart the type of one of kio's fields."""
    kind: Any = field.type
    is_nullable = get_origin(kind) in (Union, UnionType)
    if is_nullable:
        (kind,) = (option for option in get_args(kind) if option is not NoneType)
    is_array = get_origin(kind) is tuple
    if is_array:
        kind = get_args(kind)[0]
    return FieldShape(field.name, kind, is_array, is_nullable)


@cache
def tree_encoder(schema: type) -> Callable[[Tree], bytes]:
    """Compile the encoder of one version of one message."""
    write = _compile_struct(schema, schema, ())

    def encode(tree: Tree) -> bytes:
        parts: list[bytes] = []
        write(tree, parts)
        return b"".join(parts)

    return encode


class _CompiledField(NamedTuple):
    where: str
    name: str
    alias: str
    write: _Write
    default: Any

    def put(self, tree: Tree, parts: list[bytes]) -> None:
        value = tree.get(self.name, MISSING)
        if value is MISSING:
            value = tree.get(self.alias, self.default)
        try:
            self.write(value, parts)
        except TreeError:
            raise
        except (struct.error, TypeError, AttributeError, ValueError) as error:
            raise TreeError(f"{self.where} can't be {value!r}: {error}") from error


def _compile_struct(schema: Any, root: Any, path: tuple[str, ...]) -> _Write:
    plain: list[_CompiledField] = []
    tagged: list[tuple[int, _CompiledField, bytes]] = []
    for field in fields(schema):
        compiled = _compile_field(field, schema, root, path)
        tag = field.metadata.get("tag")
        if tag is None:
            plain.append(compiled)
        else:
            tagged.append((tag, compiled, _encoded(compiled, {})))
    names = {name for field in fields(schema) for name in (field.name, _alias(field))}
    flexible: bool = schema.__flexible__

    def write_struct(tree: Tree, parts: list[bytes]) -> None:
        for name in tree:
            if name not in names:
                _check_known(root, path, name)
        for field in plain:
            field.put(tree, parts)
        if flexible:
            tags = {}
            for tag, field, default in tagged:
                encoded = _encoded(field, tree)
                if encoded != default:
                    tags[tag] = encoded
            parts.append(write_tagged_fields(tags))

    return write_struct


def _encoded(field: _CompiledField, tree: Tree) -> bytes:
    parts: list[bytes] = []
    field.put(tree, parts)
    return b"".join(parts)


def _compile_field(
    field: Field[Any], schema: Any, root: Any, path: tuple[str, ...]
) -> _CompiledField:
    shape = shape_of(field)
    kind = encoding(schema.__flexible__)
    kafka_type = str(field.metadata.get("kafka_type"))
    if shape.is_struct:
        write = _compile_struct(shape.type, root, (*path, field.name))
    else:
        write = _scalar_writer(kafka_type, kind, shape.is_nullable and not shape.is_array)
    if shape.is_array:
        write = _array_writer(write, kind, shape.is_nullable)
    elif shape.is_struct and shape.is_nullable:
        write = _nullable_struct_writer(write)
    where = ".".join((root.__name__, *path, field.name))
    default = _default(field, shape, kafka_type)
    return _CompiledField(where, field.name, _alias(field), write, default)


def _alias(field: Field[Any]) -> str:
    """Kafka's name for a time, which kio gives without its unit."""
    kafka_type = str(field.metadata.get("kafka_type"))
    return field.name + "_ms" if kafka_type.startswith("timedelta") else field.name


def _default(field: Field[Any], shape: FieldShape, kafka_type: str) -> Any:
    if shape.is_array:
        return None if field.default is None else ()
    if shape.is_struct:
        return None if field.default is None else {}
    if field.default is not MISSING:
        return field.default
    if shape.is_nullable:
        return None
    return {"string": "", "bytes": b"", "records": b"", "uuid": None}.get(kafka_type, 0)


def _array_writer(write_item: _Write, kind: Encoding, is_nullable: bool) -> _Write:
    write_length = kind.write_array_length

    def write(items: Any, parts: list[bytes]) -> None:
        if items is None:
            if not is_nullable:
                raise TypeError("an array is needed here")
            parts.append(write_length(-1))
            return
        parts.append(write_length(len(items)))
        for item in items:
            write_item(item, parts)

    return write


def _nullable_struct_writer(write_struct: _Write) -> _Write:
    def write(tree: Any, parts: list[bytes]) -> None:
        if tree is None:
            parts.append(b"\xff")
        else:
            parts.append(b"\x01")
            write_struct(tree, parts)

    return write


def _scalar_writer(kafka_type: str, kind: Encoding, is_nullable: bool) -> _Write:
    encode: Callable[[Any], bytes]
    if kafka_type == "string":
        encode = kind.write_nullable_string if is_nullable else kind.write_string
    elif kafka_type in ("bytes", "records"):
        encode = kind.write_nullable_bytes if is_nullable else kind.write_bytes
    else:
        encode = _SCALARS[kafka_type]

    def write(value: Any, parts: list[bytes]) -> None:
        parts.append(encode(value))

    return write


def _write_uuid(value: Any) -> bytes:
    return write_uuid(value.bytes if isinstance(value, UUID) else value)


def _write_duration_i32(value: Any) -> bytes:
    return write_int32(_milliseconds(value))


def _write_duration_i64(value: Any) -> bytes:
    return write_int64(_milliseconds(value))


def _write_time(value: Any) -> bytes:
    if value is None:
        return write_int64(-1)
    if isinstance(value, datetime):
        value = round(value.timestamp() * 1000)
    return write_int64(value)


def _milliseconds(value: Any) -> int:
    return value // timedelta(milliseconds=1) if isinstance(value, timedelta) else value


_SCALARS: dict[str, Callable[[Any], bytes]] = {
    "bool": write_bool,
    "int8": write_int8,
    "int16": write_int16,
    "int32": write_int32,
    "int64": write_int64,
    "uint16": struct.Struct(">H").pack,
    "float64": struct.Struct(">d").pack,
    "error_code": write_int16,
    "uuid": _write_uuid,
    "timedelta_i32": _write_duration_i32,
    "timedelta_i64": _write_duration_i64,
    "datetime_i64": _write_time,
}


@cache
def _check_known(root: Any, path: tuple[str, ...], name: str) -> None:
    """Pass over a field that only other versions have, and refuse one that none has."""
    api_key = int(root.__api_key__)
    load = load_request_schema if root.__type__ is EntityType.request else load_response_schema
    for version in schema_name_map[api_key_map[api_key]]:
        schema: Any = load(api_key, version)
        for step in path:
            nested = {shape.name: shape.type for shape in map(shape_of, fields(schema))}
            schema = nested.get(step)
            if schema is None:
                break
        else:
            if any(name in (field.name, _alias(field)) for field in fields(schema)):
                return
    where = ".".join((root.__name__, *path))
    raise TreeError(f"{where} has no field {name!r} in any version")
