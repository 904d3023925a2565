"""Compiles a schema into an encoder for trees of mappings, sequences and plain values."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

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
from headwater.protocol.schemas import FieldShape, is_known, shapes

Tree: TypeAlias = Mapping[str, Any]
_Write: TypeAlias = Callable[[Any, list[bytes]], None]


class TreeError(ValueError):
    """A tree that its schema has no place for: a field that no version has, or a wrong value."""


@cache
def encoder(message: Any) -> Callable[[Tree], bytes]:
    """Compile the encoder of one version of one message."""
    write = _compile_struct(message, message, ())

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

    def encoded(self, tree: Tree) -> bytes:
        parts: list[bytes] = []
        self.put(tree, parts)
        return b"".join(parts)


def _compile_struct(schema: Any, message: Any, path: tuple[str, ...]) -> _Write:
    plain: list[_CompiledField] = []
    tagged: list[tuple[int, _CompiledField, bytes]] = []
    flexible: bool = schema.__flexible__
    for shape in shapes(schema):
        field = _compile_field(shape, encoding(flexible), message, path)
        if shape.tag is None:
            plain.append(field)
        else:
            tagged.append((shape.tag, field, field.encoded({})))
    names = {name for shape in shapes(schema) for name in shape.names}

    def write_struct(tree: Tree, parts: list[bytes]) -> None:
        for name in tree:
            if name not in names and not is_known(message, path, name):
                where = ".".join((message.__name__, *path))
                raise TreeError(f"{where} has no field {name!r} in any version")
        for field in plain:
            field.put(tree, parts)
        if flexible:
            tags = {}
            for tag, field, default in tagged:
                encoded = field.encoded(tree)
                if encoded != default:
                    tags[tag] = encoded
            parts.append(write_tagged_fields(tags))

    return write_struct


def _compile_field(
    shape: FieldShape, kind: Encoding, message: Any, path: tuple[str, ...]
) -> _CompiledField:
    path = (*path, shape.name)
    if shape.is_struct:
        write = _compile_struct(shape.type, message, path)
    else:
        write = _scalar_writer(shape.kafka_type, kind, shape.is_nullable and not shape.is_array)
    if shape.is_array:
        write = _array_writer(write, kind, shape.is_nullable)
    elif shape.is_struct and shape.is_nullable:
        write = _nullable_struct_writer(write)
    where = ".".join((message.__name__, *path))
    return _CompiledField(where, shape.name, shape.names[-1], write, _default(shape))


def _default(shape: FieldShape) -> Any:
    if shape.is_array:
        return None if shape.default is None else ()
    if shape.is_struct:
        return None if shape.default is None else {}
    if shape.default is not MISSING:
        return shape.default
    if shape.is_nullable:
        return None
    return {"string": "", "bytes": b"", "records": b""}.get(shape.kafka_type, 0)


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


def _milliseconds(value: Any) -> Any:
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
