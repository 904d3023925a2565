"""Writes names, texts and values as Spark SQL."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import TYPE_CHECKING

from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.spark_types import ddl
from headwater.plan.schemas.types import backticked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def text(value: str) -> str:
    r"""Return a text as Spark SQL reads it.

    >>> print(text("it's a \\d"))
    'it\'s a \\d'
    """
    # Spark puts the value of a variable, or nothing, in place of ${name} before it reads the SQL.
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\u0024{")
    return f"'{escaped.replace(chr(10), chr(92) + 'n').replace(chr(13), chr(92) + 'r')}'"


def field_of(struct: str, name: str) -> str:
    """Return a field of a struct or of a column."""
    return f"{struct}.{backticked(name)}"


def struct_of(fields: Iterable[tuple[str, str]]) -> str:
    """Return a struct of fields' names and expressions.

    >>> struct_of([("a", "1"), ("b", "key")])
    "named_struct('a', 1, 'b', key)"
    """
    return f"named_struct({', '.join(f'{text(name)}, {of}' for name, of in fields)})"


def unless_null(value: str, then: str) -> str:
    """Return what holds where there is a value; else it is null too."""
    return f"if({value} is null, null, {then})"


def matches(value: str, regex: str) -> str:
    """Return whether a Java regular expression matches all of a text."""
    whole = rf"\A(?:{regex})\z"
    return f"{value} rlike {text(whole)}"


def literal(value: object, schema: Schema) -> str:
    """Return a Python value of a schema's type as Spark SQL, such as a field's default.

    >>> literal(5, Schema(Type.INT8)), literal("x", Schema(Type.STRING))
    ("cast('5' as tinyint)", "'x'")
    """
    if value is None:
        return f"cast(null as {ddl(schema)})"
    match value:
        case dict():
            return _object(value, schema)
        case list() | tuple():
            assert schema.value is not None  # an array's schema
            items = ", ".join(literal(each, schema.value) for each in value)
            return f"cast(array({items}) as {ddl(schema)})"
        case bytes() | bytearray():
            return f"X'{value.hex()}'"
        case bool():
            return "true" if value else "false"
        case str():
            return text(value)
        case float() if math.isnan(value) or math.isinf(value):
            return f"cast({text(str(value))} as {ddl(schema)})"
        case Decimal() | int() | float():
            return f"cast({text(str(value))} as {ddl(schema)})"
        case datetime.datetime() | datetime.date():
            return f"cast({text(value.isoformat())} as {ddl(schema)})"
    raise TypeError(f"a {type(value).__name__} is no value of Connect's: {value!r}")


def _object(value: Mapping[str, object], schema: Schema) -> str:
    if schema.type is Type.STRUCT:
        return struct_of(
            (each.name, literal(value.get(each.name), each.schema)) for each in schema.fields
        )
    assert schema.key is not None  # a map's schema
    assert schema.value is not None
    parts = (
        part
        for name, of in value.items()
        for part in (literal(name, schema.key), literal(of, schema.value))
    )
    return f"cast(map({', '.join(parts)}) as {ddl(schema)})"
