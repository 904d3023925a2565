"""JSON as native expressions, for structs and for values that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.schemas.types import Array, DataType, Map, Struct, quoted

if TYPE_CHECKING:
    from pyspark.sql import Column

_CORRUPT = "_corrupt_record"
_VALUE = "v"


def decode_json(text: Column, type_: DataType) -> Column:
    """Return the value of a JSON text; a text that is none fails the query."""
    if isinstance(type_, Struct | Array | Map):
        return F.from_json(text, _schema(type_), {"mode": "FAILFAST"})
    return F.from_json(_wrapped(text), _schema(_around(type_)), {"mode": "FAILFAST"})[_VALUE]


def parse_json(text: Column, type_: DataType) -> tuple[Column, Column]:
    """Return the value of a JSON text, and what is true where the text is none."""
    if isinstance(type_, Struct):
        wide, source = f"{_schema(type_)},{_CORRUPT} string", text
    else:
        wide, source = f"{_schema(_around(type_))},{_CORRUPT} string", _wrapped(text)
    # With any option, Spark does not split this into one parser for each field that is used.
    parsed = F.from_json(source, wide, {"mode": "PERMISSIVE"})
    if isinstance(type_, Struct):
        fields = [parsed.getField(field.name).alias(field.name) for field in type_.fields]
        value = F.when(parsed.isNotNull(), F.struct(*fields))
    else:
        value = parsed[_VALUE]
    return value, parsed[_CORRUPT].isNotNull() | (parsed.isNull() & is_blank(text))


def is_blank(text: Column) -> Column:
    """Return what is true where there is no JSON at all, which Spark reads as a null."""
    return F.trim(text) == ""


def encode_json(value: Column, type_: DataType) -> Column:
    """Return the value as JSON text; null fields are left out, as Spark does."""
    if isinstance(type_, Struct | Array | Map):
        return F.to_json(value)
    # {"v":1} without what is around the value; nothing is left where the value is null.
    text = F.to_json(F.struct(value.alias(_VALUE)))
    return F.when(value.isNotNull(), text.substr(F.lit(6), F.length(text) - 6))


def _schema(type_: DataType) -> str:
    if isinstance(type_, Struct):
        return ",".join(f"{quoted(field.name)} {field.type.ddl()}" for field in type_.fields)
    return type_.ddl()


def _around(type_: DataType) -> Struct:
    return Struct.of(**{_VALUE: type_})


def _wrapped(text: Column) -> Column:
    return F.concat(F.lit(f'{{"{_VALUE}":'), text, F.lit("}"))
