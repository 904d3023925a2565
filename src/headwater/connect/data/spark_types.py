"""Connect's schemas as Spark's types, and back.

A TIME is an INT, the milliseconds of the day, as it is inside Connect's own schema: the type that
every data source of Spark can read and write. Names of schemas, versions and defaults are
Connect's alone: they go beside the DataFrame, in its Shape.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Field, Schema, Type
from headwater.plan.schemas import types as plan

if TYPE_CHECKING:
    from headwater.plan.schemas.types import DataType

_MOST_DIGITS = 38


def ddl(schema: Schema | None) -> str:
    """Return a schema's type as Spark SQL writes it; without a schema it is a variant.

    >>> ddl(connect.struct({"id": Schema(Type.INT64), "price": connect.decimal(2, 9)}))
    'struct<id:bigint,price:decimal(9,2)>'
    """
    return "variant" if schema is None else plan_type(schema).ddl()


def plan_type(schema: Schema) -> DataType:
    """Return a schema's type as plans have it."""
    match schema.logical:
        case connect.DECIMAL:
            precision = int(schema.parameters.get(connect.PRECISION, _MOST_DIGITS))
            return plan.Decimal(max(1, min(precision, _MOST_DIGITS)), schema.scale)
        case connect.DATE:
            return plan.DATE
        case connect.TIMESTAMP:
            return plan.TIMESTAMP
    match schema.type:
        case Type.STRUCT:
            return plan.Struct(
                tuple(plan.Field(each.name, plan_type(each.schema)) for each in schema.fields)
            )
        case Type.ARRAY:
            return plan.Array(_part(schema.value))
        case Type.MAP:
            return plan.Map(_part(schema.key), _part(schema.value))
    return _PRIMITIVES[schema.type]


def schema_of(spark_type_json: str) -> Schema:
    """Return the schema for a Spark type, given as `DataType.json()`; a field may be null if so.

    >>> schema_of('"long"').type, schema_of('"decimal(9,2)"').scale
    (<Type.INT64: 'int64'>, 2)
    """
    return _read(json.loads(spark_type_json))


def schema_of_plan(type_: DataType) -> Schema:
    """Return the schema for a type as plans have it; all fields may be null.

    >>> schema_of_plan(plan.Array(plan.BIGINT)).value.type
    <Type.INT64: 'int64'>
    """
    match type_:
        case plan.Struct(fields):
            named = (Field(each.name, schema_of_plan(each.type)) for each in fields)
            return Schema(Type.STRUCT, optional=True, fields=tuple(named))
        case plan.Array(element):
            return Schema(Type.ARRAY, optional=True, value=schema_of_plan(element))
        case plan.Map(key, value):
            of = schema_of_plan(value)
            return Schema(Type.MAP, optional=True, key=Schema(schema_of_plan(key).type), value=of)
        case plan.Decimal(precision, scale):
            return connect.decimal(scale, precision, optional=True)
    return _read(_SPARK_NAMES.get(type_.ddl(), type_.ddl()), optional=True)


def _part(schema: Schema | None) -> DataType:
    if schema is None:
        raise ValueError("a map's or an array's schema says what is in it: one has no such part")
    return plan_type(schema)


def _read(found: Any, *, optional: bool = False) -> Schema:
    if isinstance(found, dict):
        return _nested(found, optional=optional)
    if found.startswith("decimal"):
        digits = found.removeprefix("decimal").strip("()") or "10,0"
        precision, scale = map(int, digits.split(","))
        return connect.decimal(scale, precision, optional=optional)
    if found.startswith(("varchar", "char")):
        found = "string"
    if found in _LOGICAL:
        return _LOGICAL[found](optional=optional)
    if found not in _BY_SPARK_NAME:
        raise ValueError(
            f"Spark's type {found} has no counterpart among Connect's: cast it, to text for example"
        )
    return Schema(_BY_SPARK_NAME[found], optional)


def _nested(found: dict[str, Any], *, optional: bool) -> Schema:
    match found["type"]:
        case "struct":
            fields = (
                Field(each["name"], _read(each["type"], optional=each["nullable"]))
                for each in found["fields"]
            )
            return Schema(Type.STRUCT, optional, fields=tuple(fields))
        case "array":
            items = _read(found["elementType"], optional=found["containsNull"])
            return Schema(Type.ARRAY, optional, value=items)
        case "map":
            value = _read(found["valueType"], optional=found["valueContainsNull"])
            return Schema(Type.MAP, optional, key=_read(found["keyType"]), value=value)
    raise ValueError(f"Spark's type {found['type']} has no counterpart among Connect's")


_PRIMITIVES = {
    Type.INT8: plan.TINYINT,
    Type.INT16: plan.SMALLINT,
    Type.INT32: plan.INT,
    Type.INT64: plan.BIGINT,
    Type.FLOAT32: plan.FLOAT,
    Type.FLOAT64: plan.DOUBLE,
    Type.BOOLEAN: plan.BOOLEAN,
    Type.STRING: plan.STRING,
    Type.BYTES: plan.BINARY,
}
_BY_SPARK_NAME = {
    "byte": Type.INT8,
    "short": Type.INT16,
    "integer": Type.INT32,
    "long": Type.INT64,
    "float": Type.FLOAT32,
    "double": Type.FLOAT64,
    "boolean": Type.BOOLEAN,
    "string": Type.STRING,
    "binary": Type.BYTES,
    "void": Type.STRING,
}
_LOGICAL = {
    "date": connect.date,
    "timestamp": connect.timestamp,
    "timestamp_ntz": connect.timestamp,
}
_SPARK_NAMES = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}
