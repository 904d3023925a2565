"""Schemas as JsonConverter writes them into its envelope, and back."""

from __future__ import annotations

import base64
import datetime
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Field, Schema, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MS = datetime.timedelta(milliseconds=1)
# Python's own 28 digits would round a decimal of a database.
_EXACT = Context(prec=120)


def as_json_schema(schema: Schema, *, numeric_decimals: bool = False) -> dict[str, Any]:
    """Return a schema as JSON has it.

    >>> as_json_schema(Schema(Type.INT32, optional=True))
    {'type': 'int32', 'optional': True}
    """
    found: dict[str, Any] = {"type": schema.type.value}
    match schema.type:
        case Type.ARRAY:
            assert schema.value is not None
            found["items"] = as_json_schema(schema.value, numeric_decimals=numeric_decimals)
        case Type.MAP:
            assert schema.key is not None
            assert schema.value is not None
            found["keys"] = as_json_schema(schema.key, numeric_decimals=numeric_decimals)
            found["values"] = as_json_schema(schema.value, numeric_decimals=numeric_decimals)
        case Type.STRUCT:
            found["fields"] = [
                {
                    **as_json_schema(each.schema, numeric_decimals=numeric_decimals),
                    "field": each.name,
                }
                for each in schema.fields
            ]
    found["optional"] = schema.optional
    named = {"name": schema.name, "version": schema.version, "doc": schema.doc}
    found |= {name: of for name, of in named.items() if of is not None}
    if schema.parameters:
        found["parameters"] = dict(schema.parameters)
    if schema.default is not None:
        found["default"] = json_value(schema.default, schema, numeric_decimals=numeric_decimals)
    return found


def from_json_schema(found: Any) -> Schema:
    """Return the schema that JSON describes; raises ValueError, which says what is wrong in it."""
    if not isinstance(found, dict) or not isinstance(found.get("type"), str):
        raise ValueError("Schema must contain 'type' field")
    try:
        type_ = Type(found["type"])
    except ValueError:
        raise ValueError(f"Unknown schema type: {found['type']}") from None
    parts: dict[str, Any] = {}
    match type_:
        case Type.ARRAY:
            if found.get("items") is None:
                raise ValueError("Array schema did not specify the element type")
            parts["value"] = from_json_schema(found["items"])
        case Type.MAP:
            for name, key in (("keys", "key"), ("values", "value")):
                if found.get(name) is None:
                    raise ValueError(f"Map schema did not specify the {key} type")
                parts[key] = from_json_schema(found[name])
        case Type.STRUCT:
            parts["fields"] = tuple(map(_field, _list(found.get("fields"))))
    schema = Schema(
        type_,
        found.get("optional") is True,
        name=_text(found.get("name")),
        version=found["version"] if isinstance(found.get("version"), int) else None,
        doc=_text(found.get("doc")),
        parameters={str(key): str(of) for key, of in (found.get("parameters") or {}).items()},
        **parts,
    )
    if found.get("default") is None:
        return schema
    from dataclasses import replace

    return replace(schema, default=python_value(found["default"], schema))


def json_value(value: object, schema: Schema, *, numeric_decimals: bool = False) -> Any:
    """Return a Python value of a schema's type, such as a default, as JSON has it."""
    match value:
        case Decimal():
            if numeric_decimals:
                return float(value) if schema.scale else int(value)
            return base64.b64encode(unscaled_bytes(value, schema.scale)).decode()
        case datetime.datetime():
            return (value - _EPOCH) // _MS
        case datetime.date():
            return (value - _EPOCH.date()).days
        case bytes():
            return base64.b64encode(value).decode()
        case dict() if schema.type is Type.STRUCT:
            return {
                each.name: json_value(value.get(each.name), each.schema) for each in schema.fields
            }
        case dict():
            return {key: _part(of, schema.value) for key, of in value.items()}
        case list() | tuple():
            return [_part(each, schema.value) for each in value]
    return value


def python_value(value: Any, schema: Schema) -> object:
    """Return the Python value of a schema's type that JSON describes."""
    match schema.logical:
        case connect.DECIMAL:
            if isinstance(value, str):
                return decimal_of(base64.b64decode(value), schema.scale)
            return Decimal(str(value))
        case connect.DATE:
            return _EPOCH.date() + datetime.timedelta(days=value)
        case connect.TIMESTAMP:
            return _EPOCH + value * _MS
    match schema.type:
        case Type.BYTES:
            return base64.b64decode(value)
        case Type.FLOAT32 | Type.FLOAT64:
            return float(value)
        case Type.ARRAY:
            return [python_value(each, schema.value) if schema.value else each for each in value]
        case Type.MAP if isinstance(value, dict):
            return {
                k: python_value(of, schema.value) if schema.value else of for k, of in value.items()
            }
        case Type.STRUCT:
            return _struct_value(value, schema)
    result: object = value
    return result


def unscaled_bytes(value: Decimal, scale: int) -> bytes:
    """Return a decimal's digits as the fewest bytes of a two's complement number."""
    unscaled = int(value.scaleb(scale, _EXACT).to_integral_value())
    return unscaled.to_bytes((unscaled + (unscaled < 0)).bit_length() // 8 + 1, "big", signed=True)


def decimal_of(data: bytes, scale: int) -> Decimal:
    """Return the decimal of such bytes.

    >>> decimal_of(unscaled_bytes(Decimal("-12.50"), 2), 2)
    Decimal('-12.50')
    """
    return Decimal(int.from_bytes(data, "big", signed=True)).scaleb(-scale, _EXACT)


def _struct_value(value: Mapping[str, Any], schema: Schema) -> dict[str, object]:
    return {
        each.name: None
        if value.get(each.name) is None
        else python_value(value[each.name], each.schema)
        for each in schema.fields
    }


def _python_part(value: Any, schema: Schema | None) -> object:
    return None if schema is None or value is None else python_value(value, schema)


def _part(value: object, schema: Schema | None) -> Any:
    return value if schema is None or value is None else json_value(value, schema)


def _field(found: Any) -> Field:
    if not isinstance(found, dict) or not isinstance(found.get("field"), str):
        raise ValueError("Struct schema's field name not specified properly")
    return Field(found["field"], from_json_schema(found))


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise ValueError('Struct schema\'s "fields" argument is not an array.')
    return found


def _text(found: Any) -> str | None:
    return found if isinstance(found, str) else None
