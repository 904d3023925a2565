"""Types that Connect's words in a JSON Schema say, where JSON's own say less."""

from __future__ import annotations

from typing import Any

from headwater.sql.types.sql_type import (
    DATE,
    DOUBLE,
    INTEGER,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)

_DATA = "org.apache.kafka.connect.data."
_TIMES = {f"{_DATA}Date": DATE, f"{_DATA}Time": TIME, f"{_DATA}Timestamp": TIMESTAMP}
_MOST_DIGITS = 38
_NUMBERS = {"int8": INTEGER, "int16": INTEGER, "int32": INTEGER, "float32": DOUBLE}


def with_connect_words(found: SqlType, schema: Any) -> SqlType:
    """Return the type of a schema with `connect.type`, and what `title` and parameters add."""
    schema = _without_null(schema)
    if not isinstance(schema, dict):
        return found
    match found:
        case Array(element):
            return Array(with_connect_words(element, schema.get("items")))
        case Map(key, value):
            return Map(key, with_connect_words(value, schema.get("additionalProperties")))
        case Struct(fields):
            parts = schema.get("properties", {})
            return Struct(
                tuple((name, with_connect_words(type_, parts.get(name))) for name, type_ in fields)
            )
    title, word = str(schema.get("title")), str(schema.get("connect.type"))
    if title == f"{_DATA}Decimal":
        return _decimal(schema.get("connect.parameters", {})) or found
    return _TIMES.get(title) or _NUMBERS.get(word) or found


def _decimal(given: dict[str, Any]) -> Decimal | None:
    """Return the type that Connect's parameters say; None where they say none."""
    try:
        precision = int(given.get("connect.decimal.precision", _MOST_DIGITS))
        scale = int(given.get("scale", 0))
    except (AttributeError, TypeError, ValueError):
        return None
    # Where there is no precision, ksqlDB takes 64 digits, which Spark does not have.
    return Decimal(min(precision, _MOST_DIGITS), scale)


def _without_null(schema: Any) -> Any:
    choices = schema.get("oneOf") if isinstance(schema, dict) else None
    if not isinstance(choices, list):
        return schema
    others = [choice for choice in choices if choice != {"type": "null"}]
    return others[0] if len(others) == 1 else schema
