"""Kafka's primitive types on the wire: numbers, varints, ids and tagged fields.

Every reader takes a buffer, a position and the name of the field, and returns the value with the
position after it. It checks each length against what is left before it takes or allocates
anything, and names the field in the `ProtocolError` that it raises.

>>> read_int16(memoryview(bytes([0, 7, 255])), 0, "version")
(7, 2)
"""

from __future__ import annotations

from struct import Struct, error
from typing import TYPE_CHECKING, Any

from headwater.protocol.errors import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "MAX_ITEMS",
    "MAX_ITEMS_ANSWERED",
    "MAX_TAGS",
    "ZERO_UUID",
    "ProtocolError",
    "absurd",
    "read_bool",
    "read_int8",
    "read_int16",
    "read_int32",
    "read_int64",
    "read_tagged_fields",
    "read_uuid",
    "read_uvarint",
    "read_varint",
    "read_varlong",
    "skip_tagged_fields",
    "truncated",
    "unpack",
    "write_bool",
    "write_int8",
    "write_int16",
    "write_int32",
    "write_int64",
    "write_tagged_fields",
    "write_uuid",
    "write_uvarint",
    "write_varint",
    "write_varlong",
]

ZERO_UUID = bytes(16)
"""How Kafka writes "no id"."""

MAX_ITEMS = 100_000
"""The most topics, and the most partitions, that one request may name.

An item takes as little as three bytes on the wire and a hundred or more once it is an object,
so a frame of the allowed size could otherwise hold enough items to exhaust memory.
"""

MAX_ITEMS_ANSWERED = 2_000_000
"""The most items, ids of replicas included, that an answer to a request of ours may have.

A cluster of 200,000 partitions with three replicas each, which is as large as Kafka's get, has
1,400,000 of them in one answer.
"""

MAX_TAGS = 16
"""The most tagged fields that one structure may have; Kafka has four at most."""

_INT8, _INT16, _INT32, _INT64 = Struct(">b"), Struct(">h"), Struct(">i"), Struct(">q")
_SINGLE_BYTES = [bytes((value,)) for value in range(0x80)]
_NO_TAGS: Mapping[int, memoryview] = {}


def unpack(layout: Struct, view: memoryview, position: int, field: str) -> tuple[Any, ...]:
    """Read fixed-size fields that follow one another; they end at `position + layout.size`."""
    try:
        return layout.unpack_from(view, position)
    except error:
        raise truncated(field, layout.size, len(view) - position) from None


def read_bool(view: memoryview, position: int, field: str) -> tuple[bool, int]:
    """Read one byte; anything but zero is true, as Kafka has it."""
    return unpack(_INT8, view, position, field)[0] != 0, position + 1


def read_int8(view: memoryview, position: int, field: str) -> tuple[int, int]:
    """Read a signed 8-bit number."""
    return unpack(_INT8, view, position, field)[0], position + 1


def read_int16(view: memoryview, position: int, field: str) -> tuple[int, int]:
    """Read a signed 16-bit number."""
    return unpack(_INT16, view, position, field)[0], position + 2


def read_int32(view: memoryview, position: int, field: str) -> tuple[int, int]:
    """Read a signed 32-bit number."""
    return unpack(_INT32, view, position, field)[0], position + 4


def read_int64(view: memoryview, position: int, field: str) -> tuple[int, int]:
    """Read a signed 64-bit number."""
    return unpack(_INT64, view, position, field)[0], position + 8


def read_uuid(view: memoryview, position: int, field: str) -> tuple[bytes, int]:
    """Read the 16 raw bytes of an id."""
    end = position + 16
    if end > len(view):
        raise truncated(field, 16, len(view) - position)
    return bytes(view[position:end]), end


def read_uvarint(view: memoryview, position: int, field: str) -> tuple[int, int]:
    """Read an unsigned number of up to 32 bits, seven bits to the byte, lowest first."""
    return _read_base128(view, position, field, 32)


def read_varint(view: memoryview, position: int, field: str) -> tuple[int, int]:
    """Read a zigzag-encoded number of 32 bits."""
    value, position = _read_base128(view, position, field, 32)
    return (value >> 1) ^ -(value & 1), position


def read_varlong(view: memoryview, position: int, field: str) -> tuple[int, int]:
    """Read a zigzag-encoded number of 64 bits."""
    value, position = _read_base128(view, position, field, 64)
    return (value >> 1) ^ -(value & 1), position


def read_tagged_fields(
    view: memoryview, position: int, field: str
) -> tuple[Mapping[int, memoryview], int]:
    """Read the optional fields that end a flexible structure, by tag, each still encoded."""
    count, position = _read_base128(view, position, field, 32)
    if not count:
        return _NO_TAGS, position
    if count > MAX_TAGS:
        raise ProtocolError(f"{field}: there are {count}, but at most {MAX_TAGS} can be")
    fields: dict[int, memoryview] = {}
    for _ in range(count):
        tag, position = _read_base128(view, position, field, 32)
        size, position = _read_base128(view, position, field, 32)
        end = position + size
        if end > len(view):
            raise truncated(f"{field} (tag {tag})", size, len(view) - position)
        fields[tag] = view[position:end]
        position = end
    return fields, position


def skip_tagged_fields(view: memoryview, position: int, field: str) -> int:
    """Check the optional fields that end a flexible structure, and step over them."""
    if position < len(view) and not view[position]:
        return position + 1
    return read_tagged_fields(view, position, field)[1]


write_int8 = _INT8.pack
write_int16 = _INT16.pack
write_int32 = _INT32.pack
write_int64 = _INT64.pack


def write_bool(value: bool) -> bytes:
    """Write one byte."""
    return b"\x01" if value else b"\x00"


def write_uuid(value: bytes | None) -> bytes:
    """Write the 16 raw bytes of an id, or zeros for none."""
    if value is None:
        return ZERO_UUID
    if len(value) != 16:
        raise ValueError(f"an id has 16 bytes, but this one has {len(value)}: {value.hex()}")
    return value


def write_uvarint(value: int) -> bytes:
    """Write an unsigned number, seven bits to the byte, lowest first."""
    if 0 <= value < 0x80:
        return _SINGLE_BYTES[value]
    if value < 0:
        raise ValueError(f"{value} is negative, and an unsigned varint cannot be")
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def write_varint(value: int) -> bytes:
    """Write a number of 32 bits, zigzag-encoded."""
    return write_uvarint((value << 1) ^ (value >> 31))


def write_varlong(value: int) -> bytes:
    """Write a number of 64 bits, zigzag-encoded."""
    return write_uvarint((value << 1) ^ (value >> 63))


def write_tagged_fields(fields: Mapping[int, bytes]) -> bytes:
    """Write encoded optional fields by tag, lowest tag first as Kafka demands."""
    if not fields:
        return b"\x00"
    parts = [write_uvarint(len(fields))]
    for tag in sorted(fields):
        value = fields[tag]
        parts += write_uvarint(tag), write_uvarint(len(value)), value
    return b"".join(parts)


def truncated(field: str, wanted: int, left: int) -> ProtocolError:
    """What to raise when a field is cut off by the end of its frame."""
    return ProtocolError(f"{field}: it needs {wanted} bytes, but {max(left, 0)} are left")


def absurd(field: str, claim: str, left: int) -> ProtocolError:
    """What to raise when a count cannot be true, given what is left of the frame."""
    return ProtocolError(f"{field}: {claim} cannot be in the {max(left, 0)} bytes that are left")


def _read_base128(view: memoryview, position: int, field: str, bits: int) -> tuple[int, int]:
    try:
        byte = view[position]
        position += 1
        if byte < 0x80:
            return byte, position
        value = byte & 0x7F
        shift = 7
        while shift < bits:
            byte = view[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> bits:
                    break
                return value, position
            shift += 7
    except IndexError:
        raise ProtocolError(f"{field}: the frame ends within a varint") from None
    raise ProtocolError(f"{field}: a varint has more than {bits} bits")
