"""A JSON Schema for a type, where a program brings none of its own."""

from __future__ import annotations

from typing import Any

from headwater.plan.schemas.types import (
    BIGINT,
    BOOLEAN,
    INT,
    SMALLINT,
    TINYINT,
    Array,
    DataType,
    Map,
    Struct,
    is_numeric,
)


def json_schema(type_: DataType) -> dict[str, Any]:
    """Return the schema of what Spark's to_json writes for the type: nothing is required.

    >>> json_schema(Array(BIGINT))
    {'type': 'array', 'items': {'type': 'integer'}}
    """
    match type_:
        case Struct(fields):
            properties = {field.name: json_schema(field.type) for field in fields}
            return {"type": "object", "properties": properties}
        case Array(element):
            return {"type": "array", "items": json_schema(element)}
        case Map(_, value):
            return {"type": "object", "additionalProperties": json_schema(value)}
    if type_ in (TINYINT, SMALLINT, INT, BIGINT):
        return {"type": "integer"}
    if is_numeric(type_):
        return {"type": "number"}
    return {"type": "boolean" if type_ == BOOLEAN else "string"}
