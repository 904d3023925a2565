"""Confluent's wire format: which schema a payload was written with, in front of it or in a header.

A payload starts with a zero byte and the schema's id (4 bytes), or with a one byte and the
schema's GUID (16 bytes); either can stand in a header of the record instead. Protobuf adds which
message of the file it is: the path of indexes from the outermost message to the one that was
written, as zigzag varints with their count in front, and a lone 0 for the file's first message.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.serde.context import Context

MAGIC_ID = 0
MAGIC_GUID = 1
ID_SIZE = 5
GUID_SIZE = 17
SCHEMA_ID_HEADERS = {"key": "__key_schema_id", "value": "__value_schema_id"}

# A message nested deeper than this is not a schema but a malformed payload.
_MAX_DEPTH = 1000


class FramingError(ValueError):
    """Bytes do not start as the wire format says; the message says how they differ."""


class SchemaRef(NamedTuple):
    """What names the schema: its id or its GUID; and where the payload goes on behind it."""

    id: int | None
    guid: uuid.UUID | None
    end: int


def id_prefix(schema_id: int) -> bytes:
    """Return what comes in front of a payload.

    >>> id_prefix(258).hex()
    '0000000102'
    """
    return bytes([MAGIC_ID]) + schema_id.to_bytes(4, "big")


def read_schema_ref(data: bytes) -> SchemaRef:
    """Read which schema a payload, or a header, names."""
    if not data:
        raise FramingError("it is empty; not even a magic byte is there")
    if data[0] == MAGIC_ID:
        if len(data) < ID_SIZE:
            raise FramingError(f"it ends after {len(data)} bytes, in the middle of the schema id")
        return SchemaRef(int.from_bytes(data[1:ID_SIZE], "big"), None, ID_SIZE)
    if data[0] == MAGIC_GUID:
        if len(data) < GUID_SIZE:
            raise FramingError(f"it ends after {len(data)} bytes, in the middle of the schema GUID")
        return SchemaRef(None, uuid.UUID(bytes=data[1:GUID_SIZE]), GUID_SIZE)
    raise FramingError(
        f"it starts with the byte {data[0]:#04x} and not with the magic byte 0 or 1; "
        "it was not written with a schema from a registry"
    )


def schema_header(context: Context) -> bytes | None:
    """Return the header that names the schema, where a record has one."""
    return context.header(SCHEMA_ID_HEADERS[context.field])


def encode_indexes(indexes: Sequence[int]) -> bytes:
    """Return a path of message indexes.

    >>> encode_indexes([0]).hex(), encode_indexes([1, 0]).hex()
    ('00', '040200')
    """
    if list(indexes) == [0]:
        return b"\0"
    encoded = bytearray()
    for number in (len(indexes), *indexes):
        zigzag = number << 1
        while zigzag > 0x7F:
            encoded.append(zigzag & 0x7F | 0x80)
            zigzag >>= 7
        encoded.append(zigzag)
    return bytes(encoded)


def decode_indexes(data: bytes, position: int) -> tuple[tuple[int, ...], int]:
    """Read a path of message indexes; returns it and where the message starts."""
    count, position = _varint(data, position)
    if count == 0:
        return (0,), position
    if not 0 < count <= _MAX_DEPTH:
        raise FramingError(f"it has {count} message indexes, which no schema can have")
    indexes = []
    for _ in range(count):
        index, position = _varint(data, position)
        indexes.append(index)
    return tuple(indexes), position


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data):
            raise FramingError("it ends in the middle of the message indexes")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1), position
        if shift > 63:
            raise FramingError("a message index is longer than any number can be")
