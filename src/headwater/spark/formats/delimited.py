"""Columns in a line of text with delimiters between them, as native expressions.

Values are what ksqlDB's DELIMITED writes: nothing for null, quotes around what needs them, bytes
in base64, and times as the numbers that they are given as.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.schemas.types import BINARY, BOOLEAN, STRING, DataType, Struct

if TYPE_CHECKING:
    from pyspark.sql import Column

_CORRUPT = "_corrupt_record"


def parse_delimited(text: Column, type_: DataType, delimiter: str) -> tuple[Column, Column]:
    """Return the value of a line, and what is true where the line is none of that type."""
    types = _types(type_)
    schema = ", ".join((*(f"_{index} string" for index in range(len(types))), f"{_CORRUPT} string"))
    line = F.from_csv(text, schema, _options(delimiter) | {"mode": "PERMISSIVE"})
    parts = [line[f"_{index}"] for index in range(len(types))]
    values = [_read(part, each) for part, each in zip(parts, types, strict=True)]
    malformed = line[_CORRUPT].isNotNull()
    for part, value in zip(parts, values, strict=True):
        malformed |= part.isNotNull() & (F.trim(part) != "") & value.isNull()
    if not isinstance(type_, Struct):
        return values[0], malformed
    named = (each.alias(name) for each, name in zip(values, type_.names, strict=True))
    return F.when(text.isNotNull(), F.struct(*named)), malformed


def encode_delimited(value: Column, type_: DataType, delimiter: str) -> Column:
    """Return the line of a value; a null one stays null."""
    if isinstance(type_, Struct):
        values = [(value.getField(field.name), field.type) for field in type_.fields]
    else:
        values = [(value, type_)]
    parts = [
        _quoted(_written(each, part), delimiter, is_first=index == 0)
        for index, (each, part) in enumerate(values)
    ]
    return F.when(value.isNotNull(), F.concat_ws(delimiter, *parts))


def _quoted(text: Column, delimiter: str, *, is_first: bool) -> Column:
    """Return a text in quotes where it needs them, as Apache's library writes lines.

    That is also where a line could be taken for a comment: where its first letter is a sign.
    """
    needs = text.rlike(r'[\r\n"]') | F.contains(text, F.lit(delimiter))
    needs |= text.rlike(r"^[\x00-#]") | text.rlike(r"[\x00- ]$")
    if is_first:
        needs |= ~text.rlike("^[0-9A-Za-z]")
    doubled = F.concat(F.lit('"'), F.replace(text, F.lit('"'), F.lit('""')), F.lit('"'))
    return F.when(text.isNull(), F.lit("")).when(needs, doubled).otherwise(text)


def _types(type_: DataType) -> list[DataType]:
    return [field.type for field in type_.fields] if isinstance(type_, Struct) else [type_]


def _options(delimiter: str) -> dict[str, str]:
    # A quote within quotes is doubled, and blanks belong to the text.
    return {"sep": delimiter, "quote": '"', "escape": '"', "emptyValue": ""}


def _read(text: Column, type_: DataType) -> Column:
    if type_ == STRING:
        return F.nullif(text, F.lit(""))
    if type_ == BINARY:
        return F.try_to_binary(text, F.lit("base64"))
    if type_ == BOOLEAN:
        return F.when(text.isNotNull(), F.lower(F.trim(text)) == "true")
    return F.trim(text).try_cast(type_.ddl())


def _written(value: Column, type_: DataType) -> Column:
    return F.base64(value) if type_ == BINARY else value.cast("string")
