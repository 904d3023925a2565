"""Connect's schemas as JSON Schema, with Confluent's marks for what it has not, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headwater.connect.converters.json_schemas import json_value, python_value
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Field, Schema, Type

_KINDS = {
    Type.INT8: "integer",
    Type.INT16: "integer",
    Type.INT32: "integer",
    Type.INT64: "integer",
    Type.FLOAT32: "number",
    Type.FLOAT64: "number",
    Type.BOOLEAN: "boolean",
    Type.STRING: "string",
    Type.BYTES: "string",
}
_MARKED = {
    Type.INT8: "int8",
    Type.INT16: "int16",
    Type.INT32: "int32",
    Type.INT64: "int64",
    Type.FLOAT32: "float32",
    Type.FLOAT64: "float64",
    Type.BYTES: "bytes",
}
_BY_MARK = {mark: type_ for type_, mark in _MARKED.items()}
_BY_KIND = {
    "integer": Type.INT64,
    "number": Type.FLOAT64,
    "boolean": Type.BOOLEAN,
    "string": Type.STRING,
}


def as_json_schema(schema: Schema, *, numeric_decimals: bool = False) -> dict[str, Any]:
    """Return the JSON Schema that Confluent's JsonSchemaConverter registers.

    >>> as_json_schema(Schema(Type.BOOLEAN, optional=True))
    {'oneOf': [{'type': 'null'}, {'type': 'boolean'}]}
    """
    found = _required(schema, numeric_decimals=numeric_decimals)
    if schema.default is not None:
        found["default"] = json_value(schema.default, schema, numeric_decimals=numeric_decimals)
    return {"oneOf": [{"type": "null"}, found]} if schema.optional else found


def from_json_schema(found: Any, *, optional: bool = False) -> Schema:
    """Return Connect's schema of a JSON Schema; raises ValueError for one that it has none for."""
    choices = found.get("oneOf") or found.get("anyOf")
    if choices is not None:
        others = [each for each in choices if each != {"type": "null"}]
        if len(others) != 1:
            raise ValueError("several types to choose from have no schema of Connect's: oneOf")
        return from_json_schema(others[0], optional=len(others) < len(choices))
    kind = found.get("type")
    if isinstance(kind, list):
        others = [each for each in kind if each != "null"]
        if len(others) != 1:
            raise ValueError(f"several types to choose from have no schema of Connect's: {kind}")
        return from_json_schema({**found, "type": others[0]}, optional="null" in kind)
    schema = replace(
        _unmarked(found, kind),
        optional=optional,
        name=found.get("title"),
        version=found.get("connect.version"),
        doc=found.get("description"),
        parameters=dict(found.get("connect.parameters", {})),
    )
    default = found.get("default")
    return schema if default is None else replace(schema, default=python_value(default, schema))


def _required(schema: Schema, *, numeric_decimals: bool) -> dict[str, Any]:
    found: dict[str, Any]
    match schema.type:
        case Type.STRUCT:
            properties = {}
            for index, field in enumerate(schema.fields):
                of = as_json_schema(field.schema, numeric_decimals=numeric_decimals)
                properties[field.name] = {**of, "connect.index": index}
            found = {"type": "object", "properties": properties}
        case Type.ARRAY:
            assert schema.value is not None
            items = as_json_schema(schema.value, numeric_decimals=numeric_decimals)
            found = {"type": "array", "items": items}
        case Type.MAP:
            assert schema.key is not None
            assert schema.value is not None
            if schema.key.type is not Type.STRING:
                raise ValueError("a map whose keys are not text has no JSON Schema here")
            values = as_json_schema(schema.value, numeric_decimals=numeric_decimals)
            found = {"type": "object", "connect.type": "map", "additionalProperties": values}
        case _:
            found = {"type": _KINDS[schema.type]}
            if schema.logical == connect.DECIMAL and numeric_decimals:
                found["type"] = "number"
            if schema.type in _MARKED:
                found["connect.type"] = _MARKED[schema.type]
    marks = {
        "title": schema.name,
        "connect.version": schema.version,
        "description": schema.doc,
        "connect.parameters": dict(schema.parameters) or None,
    }
    return found | {name: of for name, of in marks.items() if of is not None}


def _unmarked(found: dict[str, Any], kind: Any) -> Schema:
    mark = found.get("connect.type")
    if mark in _BY_MARK:
        return Schema(_BY_MARK[mark])
    if kind in _BY_KIND:
        return Schema(_BY_KIND[kind])
    if kind == "array":
        return Schema(Type.ARRAY, value=from_json_schema(found.get("items", {})))
    if kind == "object" and (mark == "map" or "properties" not in found):
        values = found.get("additionalProperties")
        if not isinstance(values, dict):
            raise ValueError("an object without properties has no schema of Connect's")
        key = Schema(Type.STRING)
        return Schema(Type.MAP, key=key, value=from_json_schema(values))
    if kind == "object":
        return Schema(Type.STRUCT, fields=_fields(found))
    raise ValueError(f"JSON Schema's {kind or sorted(found)} has no schema of Connect's")


def _fields(found: dict[str, Any]) -> tuple[Field, ...]:
    needed = set(found.get("required", ()))
    properties = sorted(
        found["properties"].items(), key=lambda each: int(each[1].get("connect.index", 0))
    )
    fields = []
    for name, of in properties:
        schema = from_json_schema(of)
        is_ours = "connect.index" in of
        fields.append(Field(name, schema if is_ours or name in needed else schema.as_optional()))
    return tuple(fields)
