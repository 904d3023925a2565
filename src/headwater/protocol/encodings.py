"""Strings, bytes and arrays in Kafka's two encodings of a length: the legacy and the compact one.

A codec asks once which encoding its version has, and then reads and writes alike in both:

>>> compact = encoding(flexible=True)
>>> compact.write_string("orders")
b'\\x07orders'
>>> compact.read_string(memoryview(b"\\x07orders"), 0, "name")
('orders', 7)
"""

from collections.abc import Callable
from typing import NamedTuple

from headwater.protocol.primitives import (
    ProtocolError,
    absurd,
    read_int16,
    read_int32,
    read_uvarint,
    truncated,
    write_int16,
    write_int32,
    write_uvarint,
)


class Encoding(NamedTuple):
    """How strings, bytes and arrays are read and written in one family of versions."""

    read_string: Callable[[memoryview, int, str], tuple[str, int]]
    read_nullable_string: Callable[[memoryview, int, str], tuple[str | None, int]]
    read_bytes: Callable[[memoryview, int, str], tuple[memoryview, int]]
    read_nullable_bytes: Callable[[memoryview, int, str], tuple[memoryview | None, int]]
    read_array_length: Callable[[memoryview, int, str, int], tuple[int, int]]
    """The last argument is the least number of bytes that an item can have."""
    read_nullable_array_length: Callable[[memoryview, int, str, int], tuple[int, int]]
    """As `read_array_length`, and -1 for null."""
    write_string: Callable[[str], bytes]
    write_nullable_string: Callable[[str | None], bytes]
    write_bytes: Callable[[bytes], bytes]
    write_nullable_bytes: Callable[[bytes | None], bytes]
    write_array_length: Callable[[int], bytes]
    """-1 for null."""


def encoding(flexible: bool) -> Encoding:
    """`COMPACT` for the flexible versions of an API, `LEGACY` for those before."""
    return COMPACT if flexible else LEGACY


def _take(view: memoryview, position: int, length: int, field: str) -> memoryview:
    if length < 0:
        raise ProtocolError(f"{field}: its length is {length}")
    end = position + length
    if end > len(view):
        raise truncated(field, length, len(view) - position)
    return view[position:end]


def _text(view: memoryview, position: int, length: int, field: str) -> str:
    try:
        return str(_take(view, position, length, field), "utf-8")
    except UnicodeDecodeError:
        raise ProtocolError(f"{field}: it is not UTF-8") from None


def _not_null(length: int, field: str) -> int:
    if length == -1:
        raise ProtocolError(f"{field}: it is null and may not be")
    return length


def _check_items(length: int, view: memoryview, position: int, field: str, item_size: int) -> int:
    if length < -1:
        raise ProtocolError(f"{field}: its length is {length}")
    left = len(view) - position
    if length * item_size > left:
        raise absurd(field, f"{length} items", left)
    return length


def _read_string(view: memoryview, position: int, field: str) -> tuple[str, int]:
    length, position = read_int16(view, position, field)
    return _text(view, position, _not_null(length, field), field), position + length


def _read_nullable_string(view: memoryview, position: int, field: str) -> tuple[str | None, int]:
    length, position = read_int16(view, position, field)
    if length == -1:
        return None, position
    return _text(view, position, length, field), position + length


def _read_bytes(view: memoryview, position: int, field: str) -> tuple[memoryview, int]:
    length, position = read_int32(view, position, field)
    return _take(view, position, _not_null(length, field), field), position + length


def _read_nullable_bytes(
    view: memoryview, position: int, field: str
) -> tuple[memoryview | None, int]:
    length, position = read_int32(view, position, field)
    if length == -1:
        return None, position
    return _take(view, position, length, field), position + length


def _read_array_length(
    view: memoryview, position: int, field: str, item_size: int
) -> tuple[int, int]:
    length, position = read_int32(view, position, field)
    return _check_items(_not_null(length, field), view, position, field, item_size), position


def _read_nullable_array_length(
    view: memoryview, position: int, field: str, item_size: int
) -> tuple[int, int]:
    length, position = read_int32(view, position, field)
    return _check_items(length, view, position, field, item_size), position


def _read_compact_string(view: memoryview, position: int, field: str) -> tuple[str, int]:
    length, position = read_uvarint(view, position, field)
    length = _not_null(length - 1, field)
    return _text(view, position, length, field), position + length


def _read_compact_nullable_string(
    view: memoryview, position: int, field: str
) -> tuple[str | None, int]:
    length, position = read_uvarint(view, position, field)
    if not length:
        return None, position
    return _text(view, position, length - 1, field), position + length - 1


def _read_compact_bytes(view: memoryview, position: int, field: str) -> tuple[memoryview, int]:
    length, position = read_uvarint(view, position, field)
    length = _not_null(length - 1, field)
    return _take(view, position, length, field), position + length


def _read_compact_nullable_bytes(
    view: memoryview, position: int, field: str
) -> tuple[memoryview | None, int]:
    length, position = read_uvarint(view, position, field)
    if not length:
        return None, position
    return _take(view, position, length - 1, field), position + length - 1


def _read_compact_array_length(
    view: memoryview, position: int, field: str, item_size: int
) -> tuple[int, int]:
    length, position = read_uvarint(view, position, field)
    return _check_items(_not_null(length - 1, field), view, position, field, item_size), position


def _read_compact_nullable_array_length(
    view: memoryview, position: int, field: str, item_size: int
) -> tuple[int, int]:
    length, position = read_uvarint(view, position, field)
    return _check_items(length - 1, view, position, field, item_size), position


def _write_string(value: str) -> bytes:
    encoded = value.encode()
    if len(encoded) > 0x7FFF:
        raise ValueError(f"a string has {len(encoded)} bytes, but at most {0x7FFF} can be written")
    return write_int16(len(encoded)) + encoded


def _write_nullable_string(value: str | None) -> bytes:
    return b"\xff\xff" if value is None else _write_string(value)


def _write_bytes(value: bytes) -> bytes:
    return write_int32(len(value)) + value


def _write_nullable_bytes(value: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if value is None else _write_bytes(value)


def _write_compact_string(value: str) -> bytes:
    encoded = value.encode()
    return write_uvarint(len(encoded) + 1) + encoded


def _write_compact_nullable_string(value: str | None) -> bytes:
    return b"\x00" if value is None else _write_compact_string(value)


def _write_compact_bytes(value: bytes) -> bytes:
    return write_uvarint(len(value) + 1) + value


def _write_compact_nullable_bytes(value: bytes | None) -> bytes:
    return b"\x00" if value is None else _write_compact_bytes(value)


def _write_compact_array_length(length: int) -> bytes:
    return write_uvarint(length + 1)


LEGACY = Encoding(
    _read_string,
    _read_nullable_string,
    _read_bytes,
    _read_nullable_bytes,
    _read_array_length,
    _read_nullable_array_length,
    _write_string,
    _write_nullable_string,
    _write_bytes,
    _write_nullable_bytes,
    write_int32,
)

COMPACT = Encoding(
    _read_compact_string,
    _read_compact_nullable_string,
    _read_compact_bytes,
    _read_compact_nullable_bytes,
    _read_compact_array_length,
    _read_compact_nullable_array_length,
    _write_compact_string,
    _write_compact_nullable_string,
    _write_compact_bytes,
    _write_compact_nullable_bytes,
    _write_compact_array_length,
)
