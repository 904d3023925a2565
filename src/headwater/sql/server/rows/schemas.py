"""Schemas that follow from columns, for topics that have none in the registry yet."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.serde import Schema
from headwater.sql.errors import SqlError
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMESPACE = "io.confluent.ksql.avro_schemas"
_ROOT = "KsqlDataSourceSchema"

_AVRO: Mapping[SqlType, Any] = {
    BOOLEAN: "boolean",
    INTEGER: "int",
    BIGINT: "long",
    DOUBLE: "double",
    STRING: "string",
    BYTES: "bytes",
    DATE: {"type": "int", "logicalType": "date"},
    TIME: {"type": "int", "logicalType": "time-millis"},
    TIMESTAMP: {"type": "long", "logicalType": "timestamp-millis"},
}
_JSON: Mapping[SqlType, Any] = {
    BOOLEAN: "boolean",
    INTEGER: "integer",
    BIGINT: "integer",
    DOUBLE: "number",
    STRING: "string",
    BYTES: "string",
    DATE: "integer",
    TIME: "integer",
    TIMESTAMP: "integer",
}


def avro_schema(type_: SqlType) -> Schema:
    """Return the Avro schema that ksqlDB gives to columns: each of them may be null."""
    made = _avro(type_, _ROOT)
    if isinstance(type_, Struct):
        made["namespace"] = _NAMESPACE
    return Schema(json.dumps(made), "AVRO")


def json_schema(type_: SqlType) -> Schema:
    """Return the JSON Schema that ksqlDB gives to columns: each of them may be null."""
    return Schema(json.dumps(_json(type_)), "JSON")


def _avro(type_: SqlType, path: str) -> Any:
    match type_:
        case Struct(fields):
            return {
                "type": "record",
                "name": path,
                "fields": [
                    {
                        "name": name,
                        "type": ["null", _avro(part, f"{path}_{name}")],
                        "default": None,
                    }
                    for name, part in fields
                ],
            }
        case Array(element):
            return {"type": "array", "items": ["null", _avro(element, f"{path}_item")]}
        case Map(key, value):
            if key != STRING:
                raise SqlError(f"a map in Avro has texts as keys, not {key}")
            return {"type": "map", "values": ["null", _avro(value, f"{path}_value")]}
        case Decimal(precision, scale):
            return {
                "type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale,
            }  # fmt: skip
        case _:
            return _AVRO[type_]


def _json(type_: SqlType) -> dict[str, Any]:
    match type_:
        case Struct(fields):
            properties = {name: {"oneOf": [{"type": "null"}, _json(part)]} for name, part in fields}
            return {"type": "object", "properties": properties}
        case Array(element):
            items = {"oneOf": [{"type": "null"}, _json(element)]}
            return {"type": "array", "items": items}
        case Map(_, value):
            return {"type": "object", "additionalProperties": _json(value)}
        case Decimal():
            return {"type": "number"}
        case _:
            return {"type": _JSON[type_]}
