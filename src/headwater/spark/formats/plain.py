"""Text, bytes and Kafka's numbers of four and eight bytes as native expressions.

Spark has no function for a number's bytes. Hexadecimal digits are the way there and back for a
long; a double takes the way through Avro, which writes it as the same eight bytes in reverse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it
from pyspark.sql.avro.functions import from_avro, to_avro

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column

NUMBER_SIZES = {"int": 4, "long": 8, "double": 8}
_NUMBER_SIZE = 8
_AVRO_DOUBLE = '"double"'


def decode_plain(kind: str, data: Column) -> Column:
    """Return the value of text, bytes or a number; the size is checked elsewhere."""
    return _DECODERS[kind](data)


def encode_plain(kind: str, value: Column) -> Column:
    """Return the bytes as Kafka's serialisers write them."""
    return _ENCODERS[kind](value)


def is_malformed_plain(kind: str, data: Column) -> Column | None:
    """Return what is true for bytes that are no value of this kind, if there are such bytes."""
    return F.length(data) != NUMBER_SIZES[kind] if kind in NUMBER_SIZES else None


def _int(data: Column) -> Column:
    # Four bytes are no negative number to Spark, whose own have eight.
    number = F.conv(F.hex(data), 16, 10).cast("bigint")
    return (number - F.when(number >= 1 << 31, F.lit(1 << 32)).otherwise(F.lit(0))).cast("int")


def _int_bytes(value: Column) -> Column:
    return _long_bytes(value).substr(5, 4)


def _long(data: Column) -> Column:
    return F.conv(F.hex(data), 16, -10).cast("bigint")


def _long_bytes(value: Column) -> Column:
    return F.unhex(F.lpad(F.hex(value.cast("bigint")), 2 * _NUMBER_SIZE, "0"))


def _double(data: Column) -> Column:
    return from_avro(_reversed(data), _AVRO_DOUBLE)


def _double_bytes(value: Column) -> Column:
    return _reversed(to_avro(value.cast("double"), _AVRO_DOUBLE))


def _reversed(data: Column) -> Column:
    return F.concat(*(data.substr(position, 1) for position in range(_NUMBER_SIZE, 0, -1)))


_DECODERS: dict[str, Callable[[Column], Column]] = {
    "bytes": lambda data: data,
    "string": lambda data: data.cast("string"),
    "int": _int,
    "long": _long,
    "double": _double,
}
_ENCODERS: dict[str, Callable[[Column], Column]] = {
    "bytes": lambda value: value.cast("binary"),
    "string": lambda value: value.cast("string").cast("binary"),
    "int": _int_bytes,
    "long": _long_bytes,
    "double": _double_bytes,
}
