"""Keys with a window after them, in the bytes of Kafka Streams, as native expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.spark.formats.plain import decode_plain, encode_plain

if TYPE_CHECKING:
    from pyspark.sql import Column

    from headwater.plan.formats import Format

_LONG = 8


def key_bytes(data: Column, format_: Format) -> Column:
    """Return the bytes of the key, without those of the window."""
    return data.substr(F.lit(1), F.length(data) - _size(format_))


def with_window(key: Column, data: Column, format_: Format) -> Column:
    """Return a decoded key with the window that stands after it in the bytes."""
    start = _number(data, _LONG).alias("window_start")
    fields = [key.alias("key"), start]
    if format_.window == "session":
        fields.append(_number(data, 2 * _LONG).alias("window_end"))
    return F.when(key.isNotNull(), F.struct(*fields))


def window_bytes(value: Column, format_: Format) -> Column:
    """Return what stands after the key: a session's end, and the start."""
    start = encode_plain("long", value.getField("window_start"))
    if format_.window != "session":
        return start
    return F.concat(encode_plain("long", value.getField("window_end")), start)


def is_too_short(data: Column, format_: Format) -> Column:
    """Return what is true of bytes that have no place for a window."""
    return F.length(data) < _size(format_)


def _size(format_: Format) -> int:
    return 2 * _LONG if format_.window == "session" else _LONG


def _number(data: Column, from_end: int) -> Column:
    return decode_plain("long", data.substr(F.length(data) - (from_end - 1), F.lit(_LONG)))
