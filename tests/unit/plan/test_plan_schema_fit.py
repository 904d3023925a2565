"""Declared types beside those of registered schemas."""

from __future__ import annotations

import pytest

from headwater.plan.schemas.ddl import parse_ddl
from headwater.plan.schemas.schema_fit import contradiction


@pytest.mark.parametrize(
    ("kind", "declared", "registered"),
    [
        ("avro", "struct<b:bigint>", "struct<a:string,b:bigint>"),
        ("avro", "struct<b:bigint not null>", "struct<b:bigint>"),
        ("protobuf", "array<struct<b:double>>", "array<struct<a:string,b:float>>"),
        ("avro", "map<string,bigint>", "map<string,int>"),
        ("jsonschema", "struct<a:int,new:string>", "struct<a:bigint>"),
        ("jsonschema", "struct<a:timestamp,b:array<double>>", "struct<a:string,b:void>"),
        ("jsonschema", "map<string,string>", "struct<a:bigint>"),
        ("jsonschema", "decimal(10,2)", "double"),
    ],
)
def test_what_can_be_read(kind: str, declared: str, registered: str) -> None:
    assert contradiction(parse_ddl(declared), parse_ddl(registered), kind) is None


@pytest.mark.parametrize(
    ("kind", "declared", "registered", "reason"),
    [
        ("avro", "string", "bigint", "it is bigint there, and not string"),
        ("avro", "struct<a:struct<c:int>>", "struct<a:struct<b:int>>", "a.c is not there"),
        ("avro", "array<int>", "array<bigint>", "[] is bigint there, and not int"),
        ("avro", "timestamp", "bigint", "it is bigint there, and not timestamp"),
        ("jsonschema", "struct<a:array<boolean>>", "struct<a:array<string>>", "a[] is string"),
        ("jsonschema", "bigint", "double", "it is double there, and not bigint"),
        ("jsonschema", "struct<a:string>", "array<string>", "it is array<string> there"),
        ("jsonschema", "map<string,int>", "boolean", "it is boolean there"),
    ],
)
def test_what_cannot(kind: str, declared: str, registered: str, reason: str) -> None:
    found = contradiction(parse_ddl(declared), parse_ddl(registered), kind)
    assert found is not None
    assert found.startswith(reason)
