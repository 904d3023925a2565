"""Compiles a schema into a decoder that makes kio's entities and trusts no length that it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from datetime import UTC, datetime, timedelta
from functools import cache
from struct import Struct
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from headwater.protocol.encodings import Encoding, encoding
from headwater.protocol.kio_schemas import ErrorCode
from headwater.protocol.primitives import (
    ZERO_UUID,
    ProtocolError,
    read_tagged_fields,
    unpack,
)
from headwater.protocol.schemas import FieldShape, shapes


class _Cursor:
    """Where in a message the decoder is, how many items it may make, and how many more."""

    __slots__ = ("most_items", "position", "room", "view")

    def __init__(self, view: memoryview, position: int, most_items: int) -> None:
        self.view = view
        self.position = position
        self.most_items = self.room = most_items


_Read: TypeAlias = Callable[[_Cursor], Any]


@cache
def decoder(message: Any) -> Callable[[memoryview, int, int], Any]:
    """Compile the decoder of one version of one message; it is told how many items it may make."""
    read = _compile_struct(message, message.__name__).read

    def decode(view: memoryview, position: int, most_items: int) -> Any:
        return read(_Cursor(view, position, most_items))

    return decode


class _Compiled(NamedTuple):
    read: _Read
    least_size: int
    """In bytes, so that an array is known to be impossible before its first item is read."""


def _compile_struct(schema: Any, where: str) -> _Compiled:
    plain: list[tuple[str, _Read]] = []
    tagged: dict[int, tuple[str, _Read]] = {}
    defaults: dict[str, Any] = {}
    flexible: bool = schema.__flexible__
    least_size = 1 if flexible else 0
    for shape in shapes(schema):
        compiled = _compile_field(shape, encoding(flexible), f"{where}.{shape.name}")
        if shape.tag is None:
            plain.append((shape.name, compiled.read))
            least_size += compiled.least_size
        else:
            tagged[shape.tag] = (shape.name, compiled.read)
            defaults[shape.name] = _tagged_default(shape)

    def read(cursor: _Cursor) -> Any:
        values = dict(defaults)
        for name, read_field in plain:
            values[name] = read_field(cursor)
        if flexible:
            field = f"{where}'s tagged fields"
            tags, cursor.position = read_tagged_fields(cursor.view, cursor.position, field)
            for tag, content in tags.items():
                if tag in tagged:
                    name, read_field = tagged[tag]
                    within = _Cursor(content, 0, cursor.most_items)
                    within.room = cursor.room
                    values[name] = read_field(within)
                    cursor.room = within.room
        return schema(**values)

    return _Compiled(read, least_size)


def _compile_field(shape: FieldShape, kind: Encoding, where: str) -> _Compiled:
    if shape.is_struct:
        compiled = _compile_struct(shape.type, where)
    else:
        is_nullable = shape.is_nullable and not shape.is_array
        compiled = _compile_scalar(shape.kafka_type, kind, is_nullable, where)
    if shape.is_array:
        return _compile_array(compiled, kind, shape.is_nullable, where)
    if shape.is_struct and shape.is_nullable:
        return _compile_nullable_struct(compiled.read, where)
    return compiled


def _compile_array(item: _Compiled, kind: Encoding, is_nullable: bool, where: str) -> _Compiled:
    read_length = kind.read_nullable_array_length if is_nullable else kind.read_array_length
    read_item, item_size = item

    def read(cursor: _Cursor) -> tuple[Any, ...] | None:
        length, cursor.position = read_length(cursor.view, cursor.position, where, item_size)
        if length < 0:
            return None
        cursor.room -= length
        if cursor.room < 0:
            raise ProtocolError(f"{where}: with it, the message has over {cursor.most_items} items")
        return tuple([read_item(cursor) for _ in range(length)])

    return _Compiled(read, len(kind.write_array_length(0)))


def _compile_nullable_struct(read_struct: _Read, where: str) -> _Compiled:
    def read(cursor: _Cursor) -> Any:
        (marker,) = unpack(_MARKER, cursor.view, cursor.position, where)
        cursor.position += 1
        return None if marker < 0 else read_struct(cursor)

    return _Compiled(read, 1)


def _compile_scalar(kafka_type: str, kind: Encoding, is_nullable: bool, where: str) -> _Compiled:
    if kafka_type == "string":
        return _compile_text(kind, is_nullable, where)
    if kafka_type in ("bytes", "records"):
        return _compile_bytes(kind, is_nullable, where)
    layout, convert = _FIXED[kafka_type]

    def read(cursor: _Cursor) -> Any:
        (value,) = unpack(layout, cursor.view, cursor.position, where)
        cursor.position += layout.size
        if convert is None:
            return value
        try:
            return convert(value)
        except (ValueError, OverflowError):
            raise ProtocolError(f"{where}: it cannot be {value}") from None

    return _Compiled(read, layout.size)


def _compile_text(kind: Encoding, is_nullable: bool, where: str) -> _Compiled:
    read_text = kind.read_nullable_string if is_nullable else kind.read_string

    def read(cursor: _Cursor) -> str | None:
        text, cursor.position = read_text(cursor.view, cursor.position, where)
        return text

    return _Compiled(read, len(kind.write_string("")))


def _compile_bytes(kind: Encoding, is_nullable: bool, where: str) -> _Compiled:
    read_bytes = kind.read_nullable_bytes if is_nullable else kind.read_bytes

    def read(cursor: _Cursor) -> bytes | None:
        content, cursor.position = read_bytes(cursor.view, cursor.position, where)
        return None if content is None else bytes(content)

    return _Compiled(read, len(kind.write_bytes(b"")))


def _tagged_default(shape: FieldShape) -> Any:
    if shape.default is not MISSING:
        return shape.default
    return {"string": "", "bytes": b"", "bool": False}.get(shape.kafka_type, 0)


def _duration(milliseconds: int) -> timedelta:
    return timedelta(milliseconds=milliseconds)


def _time(milliseconds: int) -> datetime | None:
    if milliseconds == -1:
        return None
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def _id(raw: bytes) -> UUID | None:
    return None if raw == ZERO_UUID else UUID(bytes=raw)


_MARKER = Struct(">b")
_FIXED: dict[str, tuple[Struct, Callable[[Any], Any] | None]] = {
    "bool": (Struct(">?"), None),
    "int8": (Struct(">b"), None),
    "int16": (Struct(">h"), None),
    "int32": (Struct(">i"), None),
    "int64": (Struct(">q"), None),
    "uint16": (Struct(">H"), None),
    "float64": (Struct(">d"), None),
    "error_code": (Struct(">h"), ErrorCode),
    "uuid": (Struct(">16s"), _id),
    "timedelta_i32": (Struct(">i"), _duration),
    "timedelta_i64": (Struct(">q"), _duration),
    "datetime_i64": (Struct(">q"), _time),
}
