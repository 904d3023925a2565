"""Types: read from DDL, dataclasses, Avro; written so that they can be read again."""

import datetime
import enum
from dataclasses import dataclass
from decimal import Decimal as Number

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.plan.errors import PlanError
from headwater.plan.schemas.dataclass_types import from_annotation, from_dataclass
from headwater.plan.schemas.ddl import parse_ddl
from headwater.plan.schemas.registry_types import from_avro, schema_type
from headwater.plan.schemas.types import (
    BIGINT,
    DOUBLE,
    PRIMITIVES,
    STRING,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    TypeTextError,
    as_nullable,
)
from headwater.serde import Schema, SchemaRegistryClient

primitives = st.sampled_from(sorted(PRIMITIVES.values(), key=lambda type_: type_.name))
decimals = st.integers(1, 38).flatmap(
    lambda precision: st.builds(Decimal, st.just(precision), st.integers(0, precision))
)


def _structs(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[Struct]:
    names = st.text(min_size=1, max_size=5).filter(lambda name: name == name.lower())
    fields = st.builds(Field, names, inner, st.booleans())
    unique = st.lists(fields, min_size=1, max_size=4, unique_by=lambda field: field.name.lower())
    return st.builds(Struct, unique.map(tuple))


data_types = st.recursive(
    primitives | decimals,
    lambda inner: st.builds(Array, inner) | st.builds(Map, inner, inner) | _structs(inner),
    max_leaves=8,
)


@given(data_types)
def test_ddl_is_read_back(type_: DataType) -> None:
    assert parse_ddl(type_.ddl()) == type_


@given(_structs(data_types))
def test_a_list_of_fields_is_a_struct(struct: Struct) -> None:
    assert parse_ddl(", ".join(field.ddl() for field in struct.fields)) == struct


@given(data_types)
def test_nullability_is_set_aside_once_and_for_all(type_: DataType) -> None:
    assert as_nullable(as_nullable(type_)) == as_nullable(type_)


def test_spellings() -> None:
    assert parse_ddl("id STRING, value DOUBLE NOT NULL") == Struct(
        (Field("id", STRING), Field("value", DOUBLE, nullable=False))
    )
    assert parse_ddl("a long, b array< map<string , int> >") == Struct.of(
        a=BIGINT, b=Array(Map(STRING, PRIMITIVES["int"]))
    )
    assert parse_ddl("decimal") == Decimal(10, 0)
    assert parse_ddl("varchar(20)") == STRING


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a name"),
        ("id strin", "there is no type 'strin'"),
        ("id string,", "expected a name"),
        ("array<string", "expected '>'"),
        ("id string; drop", "cannot read the type"),
        ("a int, A int", "appears twice"),
        ("decimal(40,2)", "38 digits"),
        ("a int not", "expected NULL"),
    ],
)
def test_wrong_text_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(TypeTextError, match=reason.replace("(", r"\(")):
        parse_ddl(text)


class _State(enum.StrEnum):
    RUNNING = "running"


@dataclass
class _Inner:
    x: int | None


@dataclass
class _Everything:
    flag: bool
    amount: Number
    at: datetime.datetime
    day: datetime.date
    names: list[str]
    counts: dict[str, int]
    inner: _Inner
    inners: list[_Inner]
    state: _State
    data: bytes = b""


def test_dataclasses() -> None:
    assert from_dataclass(_Everything).ddl() == (
        "struct<flag:boolean,amount:decimal(38,18),at:timestamp,day:date,names:array<string>,"
        "counts:map<string,bigint>,inner:struct<x:bigint>,inners:array<struct<x:bigint>>,"
        "state:string,data:binary>"
    )


@dataclass
class _Wrong:
    thing: complex


def test_a_type_without_a_counterpart_is_refused_with_the_field() -> None:
    with pytest.raises(TypeTextError, match=r"_Wrong.thing: complex has no type in Spark"):
        from_dataclass(_Wrong)
    with pytest.raises(TypeTextError, match="no dataclass"):
        from_dataclass(int)
    with pytest.raises(TypeTextError):
        from_annotation(int | str)


def test_avro() -> None:
    schema = """{"type": "record", "name": "Reading", "fields": [
        {"name": "id", "type": "string"},
        {"name": "value", "type": ["null", "double"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "either", "type": ["int", "string"]}]}"""
    found = from_avro(Schema(schema))
    assert found.type.ddl() == (
        "struct<id:string,value:double,at:timestamp,either:struct<member0:int,member1:string>>"
    )
    assert found.text == schema


@dataclass
class _Dangling:
    thing: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


def test_an_annotation_that_is_not_there_at_run_time_is_refused() -> None:
    with pytest.raises(TypeTextError, match="'Nowhere', which is not there"):
        from_dataclass(_Dangling)


def test_schemas_of_all_kinds_have_types() -> None:
    registry = SchemaRegistryClient("http://127.0.0.1:9")  # nothing is referred to, nobody is asked
    schemas = (
        Schema('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "string"}]}'),
        Schema('{"type": "object", "properties": {"a": {"type": "string"}}}', "JSON"),
        Schema('syntax = "proto3"; message R { string a = 1; }', "PROTOBUF"),
    )
    for schema in schemas:
        found = schema_type(schema, registry).type
        assert isinstance(found, Struct)
        assert [(field.name, field.type) for field in found.fields] == [("a", STRING)]
    with pytest.raises(PlanError, match="cannot be read"):
        schema_type(Schema("{"), registry)
