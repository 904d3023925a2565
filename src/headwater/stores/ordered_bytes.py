"""Values as bytes that sort as the values do, one after the other, and can be read back.

Each begins with a tag; a text ends with a zero byte, and a zero byte in it is followed by 0xff. So
the bytes of a text without its end are those that all longer texts begin with, and what begins
with the bytes of some values has these as its first ones.
"""

from __future__ import annotations

import datetime as dt
import struct
from typing import Any

NULL = b"\x01"
_FALSE, _TRUE = b"\x02", b"\x03"
_INTEGER, _NUMBER, _TEXT, _BYTES, _TIME, _LIST = 4, 5, 6, 7, 8, 9
_TEXT_TAG, _BYTES_TAG = bytes((_TEXT,)), bytes((_BYTES,))
_END = b"\x00"
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)
_SIGN = 1 << 63
_TAGGED = struct.Struct(">BQ")
_DOUBLE = struct.Struct(">d")
_LONG = struct.Struct(">Q")


def encode_text(data: bytes) -> bytes:
    """Encode a text that is UTF-8 already."""
    return _TEXT_TAG + data.replace(b"\x00", b"\x00\xff") + _END


def encode_integer(value: int) -> bytes:
    """Encode a whole number of 64 bits; raises ValueError for a longer one."""
    return _tagged(_INTEGER, value)


def encode_time(micros: int) -> bytes:
    """Encode a time, or with any other unit a date."""
    return _tagged(_TIME, micros)


def encode_number(value: float) -> bytes:
    """Encode a floating-point number; -0.0 is 0.0."""
    (bits,) = _LONG.unpack(_DOUBLE.pack(value + 0.0))
    return _TAGGED.pack(_NUMBER, bits ^ (2**64 - 1) if bits & _SIGN else bits | _SIGN)


def encode(value: Any) -> bytes:
    """Encode any value that has an order; raises TypeError for others."""
    match value:
        case None:
            return NULL
        case bool():
            return _TRUE if value else _FALSE
        case int():
            return encode_integer(value)
        case float():
            return encode_number(value)
        case str():
            return encode_text(value.encode("utf-8", "surrogatepass"))
        case bytes():
            return _BYTES_TAG + value.replace(b"\x00", b"\x00\xff") + _END
        case dt.datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
            return encode_time((moment - _EPOCH) // _MICROSECOND)
        case dt.date():
            return encode_time(value.toordinal() - _EPOCH.toordinal())
        case list() | tuple():
            return bytes((_LIST,)) + b"".join(map(encode, value)) + _END
    raise TypeError(f"{type(value).__name__} has no order")


def decode(data: bytes, at: int) -> tuple[Any, int]:
    """Return the value that begins there, and where the next one does; times are microseconds."""
    tag = data[at]
    if tag in (_TEXT, _BYTES):
        end = data.index(0, at + 1)
        while data[end + 1 : end + 2] == b"\xff":
            end = data.index(0, end + 2)
        raw = data[at + 1 : end].replace(b"\x00\xff", b"\x00")
        return (raw.decode("utf-8", "surrogatepass") if tag == _TEXT else raw), end + 1
    if tag in (_INTEGER, _TIME, _NUMBER):
        _, bits = _TAGGED.unpack_from(data, at)
        if tag != _NUMBER:
            return bits - _SIGN, at + 9
        found = bits & ~_SIGN if bits & _SIGN else bits ^ (2**64 - 1)
        return _DOUBLE.unpack(_LONG.pack(found))[0], at + 9
    if tag == _LIST:
        parts, at = [], at + 1
        while data[at]:
            part, at = decode(data, at)
            parts.append(part)
        return parts, at + 1
    return {1: None, 2: False, 3: True}[tag], at + 1


def datetime_of(micros: int) -> dt.datetime:
    """Return a time that was read."""
    return _EPOCH + micros * _MICROSECOND


def date_of(days: int) -> dt.date:
    """Return a date that was read."""
    return dt.date.fromordinal(days + _EPOCH.toordinal())


def after_values(data: bytes) -> bytes:
    """Return the first bytes after all that begin with these values, each of them whole."""
    return data + b"\xff"  # no value begins so, and a text that goes on does


def after_text(data: bytes) -> bytes:
    """Return the first bytes after all that begin with these, of a text without its end."""
    rest = data.rstrip(b"\xff")
    return rest[:-1] + bytes((rest[-1] + 1,))


def _tagged(tag: int, value: int) -> bytes:
    try:
        return _TAGGED.pack(tag, value + _SIGN)
    except struct.error:
        raise ValueError(f"{value} is no number of 64 bits") from None
