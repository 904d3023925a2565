"""Schemas: as Spark's types, as JSON, as Avro, and of two one."""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal

import pytest

from headwater.connect.converters import json_schema_schemas
from headwater.connect.converters.avro_schemas import as_avro, from_avro
from headwater.connect.converters.json_schemas import as_json_schema, from_json_schema
from headwater.connect.data import schema as connect
from headwater.connect.data.merging import merged_schema
from headwater.connect.data.schema import Schema, Type, struct
from headwater.connect.data.spark_types import ddl, schema_of
from headwater.connect.data.sql_text import literal

EVERYTHING = Schema(
    Type.STRUCT,
    name="org.example.All",
    version=2,
    doc="all",
    fields=struct(
        {
            "a": Schema(Type.INT8, optional=True, default=5),
            "b": connect.decimal(2, 9),
            "c": replace(connect.date(), default=datetime.date(2020, 1, 2)),
            "d": connect.timestamp(optional=True),
            "e": connect.time(),
            "f": Schema(Type.ARRAY, value=Schema(Type.BYTES, optional=True)),
            "g": Schema(Type.MAP, key=Schema(Type.STRING), value=Schema(Type.BOOLEAN)),
            "h": struct({"i": Schema(Type.FLOAT64)}, name="Inner").as_optional(),
        }
    ).fields,
)


def test_as_json_and_back() -> None:
    assert from_json_schema(as_json_schema(EVERYTHING)) == EVERYTHING
    price = replace(connect.decimal(2), default=Decimal("1.50"))
    assert as_json_schema(price)["default"] == "AJY="
    assert from_json_schema(as_json_schema(price)) == price


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ({}, "must contain 'type'"),
        ({"type": "int"}, "Unknown schema type: int"),
        ({"type": "array"}, "element type"),
        ({"type": "map", "keys": {"type": "string"}}, "value type"),
        ({"type": "struct"}, "not an array"),
        ({"type": "struct", "fields": [{"type": "int8"}]}, "field name"),
    ],
)
def test_json_that_is_no_schema(found: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        from_json_schema(found)


def test_as_avro_and_back() -> None:
    assert from_avro(as_avro(EVERYTHING)) == EVERYTHING
    assert as_avro(connect.decimal(2))["precision"] == 64
    nameless = struct({"a": struct({}), "b": struct({"c": Schema(Type.INT8)})})
    assert from_avro(as_avro(nameless)) == nameless
    with pytest.raises(ValueError, match="a union of several types"):
        from_avro(["int", "string"])


def test_as_json_schema_and_back() -> None:
    found = json_schema_schemas.as_json_schema(EVERYTHING)
    assert json_schema_schemas.from_json_schema(found) == EVERYTHING
    others = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert json_schema_schemas.from_json_schema(others) == struct({"a": Schema(Type.INT64)})
    with pytest.raises(ValueError, match="several types"):
        json_schema_schemas.from_json_schema({"type": ["string", "integer"]})


def test_sparks_types() -> None:
    assert ddl(EVERYTHING) == (
        "struct<a:tinyint,b:decimal(9,2),c:date,d:timestamp,e:int,f:array<binary>,"
        "g:map<string,boolean>,h:struct<i:double>>"
    )
    found = schema_of(
        '{"type":"struct","fields":[{"name":"a","type":"decimal(9,2)","nullable":true,"metadata":{}}]}'
    )
    assert found == struct({"a": connect.decimal(2, 9, optional=True)})
    with pytest.raises(ValueError, match="interval"):
        schema_of('"interval"')


def test_one_schema_of_two() -> None:
    first = struct({"a": Schema(Type.INT32), "b": struct({"x": Schema(Type.INT32)})})
    second = struct({"b": struct({"y": Schema(Type.STRING)}), "c": Schema(Type.BOOLEAN)})
    merged = merged_schema(first, second)
    assert ddl(merged) == "struct<a:int,b:struct<x:int,y:string>,c:boolean>"
    assert [each.schema.optional for each in merged.fields] == [True, False, True]
    with pytest.raises(ValueError, match="field a: int and string"):
        merged_schema(first, struct({"a": Schema(Type.STRING)}))


def test_values_as_sql() -> None:
    assert literal("${x}'", Schema(Type.STRING)) == "'\\u0024{x}\\''"
    assert literal(b"\1", Schema(Type.BYTES)) == "X'01'"
    assert literal({"x": None}, struct({"x": Schema(Type.INT8)})) == (
        "named_struct('x', cast(null as tinyint))"
    )
