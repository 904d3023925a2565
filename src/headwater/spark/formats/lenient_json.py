"""JSON whose names may be in other capitals, and whose numbers may be texts.

So ksqlDB reads it, and takes a number with a point where a whole one is declared. Names are put
in order before the text is read. All numbers are read as the texts that they are written as, and
made numbers then: that takes longer, so it is only done where the strict way does not lead to a
value.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.schemas.types import (
    DOUBLE,
    INTEGERS,
    STRING,
    Array,
    DataType,
    Field,
    Map,
    Struct,
)
from headwater.spark.formats.json import parse_json

if TYPE_CHECKING:
    from pyspark.sql import Column


def parse_lenient_json(text: Column, type_: DataType) -> tuple[Column, Column]:
    """Return the value of a JSON text, and what is true where the text is none."""
    text = _in_capitals(text, type_)
    value, malformed = parse_json(text, type_)
    if not _has_numbers(type_):
        return value, malformed
    read, malformed_even_so = parse_json(text, _as_texts(type_))
    lenient = F.when(malformed, _numbers(read, type_)).otherwise(value)
    return lenient, malformed & malformed_even_so


def _in_capitals(text: Column, type_: DataType) -> Column:
    """Return a text with those names in capitals that are declared so."""
    shape = _shape(type_)
    if shape is None:
        return text
    return F.call_function("hw_json_names", text, F.lit(json.dumps(shape)))


def _shape(type_: DataType) -> dict[str, Any] | None:
    match type_:
        case Array(inner) | Map(_, inner):
            shape = _shape(inner)
            return None if shape is None else {"items": shape}
        case Struct(fields):
            return {"fields": {each.name: _shape(each.type) for each in fields}}
        case _:
            return None


def _has_numbers(type_: DataType) -> bool:
    return _as_texts(type_) != type_


def _as_texts(type_: DataType) -> DataType:
    match type_:
        case Array(element):
            return Array(_as_texts(element))
        case Map(key, value):
            return Map(key, _as_texts(value))
        case Struct(fields):
            return Struct(tuple(Field(each.name, _as_texts(each.type)) for each in fields))
        case _:
            return STRING if type_ in (*INTEGERS, DOUBLE) else type_


def _numbers(value: Column, type_: DataType) -> Column:
    if not _has_numbers(type_):
        return value
    match type_:
        case Array(element):
            return F.transform(value, lambda each: _numbers(each, element))
        case Map(_, item):
            return F.transform_values(value, lambda _, each: _numbers(each, item))
        case Struct(fields):
            parts = (
                _numbers(value.getField(each.name), each.type).alias(each.name) for each in fields
            )
            return F.when(value.isNotNull(), F.struct(*parts))
        case _ if type_ == DOUBLE:
            return value.try_cast("double")
        case _:
            return value.try_cast("decimal(38, 10)").try_cast(type_.ddl())
