"""Numbers as Java's serialisers write them: 4 or 8 bytes, big-endian."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from headwater.serde.serializer import Deserializer, Serializer

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.context import Context

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_DOUBLE = struct.Struct(">d")


class IntegerSerializer(Serializer[int]):
    """Writes whole numbers from -2^31 to 2^31-1.

    >>> IntegerSerializer()(258)
    b'\\x00\\x00\\x01\\x02'
    """

    def _encoder(self, context: Context) -> Callable[[int], bytes]:
        return _encode_int


class IntegerDeserializer(Deserializer[int]):
    """Reads whole numbers of 4 bytes."""

    def _decode(self, data: bytes, context: Context) -> int:
        return int(_unpack(_INT, data, "int"))


class LongSerializer(Serializer[int]):
    """Writes whole numbers from -2^63 to 2^63-1.

    >>> LongSerializer()(258)
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x02'
    """

    def _encoder(self, context: Context) -> Callable[[int], bytes]:
        return _encode_long


class LongDeserializer(Deserializer[int]):
    """Reads whole numbers of 8 bytes."""

    def _decode(self, data: bytes, context: Context) -> int:
        return int(_unpack(_LONG, data, "long"))


class DoubleSerializer(Serializer[float]):
    """Writes IEEE 754 numbers of double precision.

    >>> DoubleSerializer()(1.5).hex()
    '3ff8000000000000'
    """

    def _encoder(self, context: Context) -> Callable[[float], bytes]:
        return _encode_double


class DoubleDeserializer(Deserializer[float]):
    """Reads IEEE 754 numbers of double precision."""

    def _decode(self, data: bytes, context: Context) -> float:
        return float(_unpack(_DOUBLE, data, "double"))


def _encode_int(value: int) -> bytes:
    return _encode_whole(_INT, value, "an int")


def _encode_long(value: int) -> bytes:
    return _encode_whole(_LONG, value, "a long")


def _encode_whole(layout: struct.Struct, value: int, name: str) -> bytes:
    try:
        return layout.pack(value)
    except struct.error:
        if isinstance(value, int):
            raise ValueError(f"{value} does not fit into {layout.size} bytes") from None
        raise TypeError(f"{name} is a whole number, not {value!r}") from None


def _encode_double(value: float) -> bytes:
    try:
        return _DOUBLE.pack(value)
    except struct.error:
        raise TypeError(f"a double is a number, not {value!r}") from None


def _unpack(layout: struct.Struct, data: bytes, name: str) -> int | float:
    if len(data) != layout.size:
        raise ValueError(f"a {name} has {layout.size} bytes, this has {len(data)}")
    number: int | float = layout.unpack(data)[0]
    return number
