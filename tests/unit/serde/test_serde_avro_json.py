"""Avro's JSON encoding: what is typed becomes the bytes that it says, and comes back as typed."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from fastavro import json_writer, schemaless_writer
from hypothesis import given
from hypothesis import strategies as st

from headwater.serde.formats import avro_schema
from headwater.serde.formats.avro_json import AvroJsonCodec
from headwater.serde.schema import Schema


def codec(schema: Any) -> AvroJsonCodec:
    return AvroJsonCodec(avro_schema.load(Schema(json.dumps(schema)), None))


def there_and_back(schema: Any, value: Any) -> Any:
    both = codec(schema)
    data = both.encode(value)
    return both.decoder(None)(b"frame" + data, 5)


SENSOR = {
    "type": "record",
    "name": "Reading",
    "fields": [
        {"name": "sensor_id", "type": "string"},
        {"name": "datetime", "type": "long"},
        {"name": "value", "type": ["null", "long"]},
    ],
}
TREE = {
    "type": "record",
    "name": "Node",
    "namespace": "forest",
    "fields": [
        {"name": "name", "type": "string"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["OAK", "ASH"]}},
        {"name": "left", "type": ["null", "Node"], "default": None},
        {"name": "others", "type": {"type": "array", "items": ["Kind", "Node"]}, "default": []},
        {"name": "key", "type": {"type": "fixed", "name": "Key", "size": 2}, "default": "\0ÿ"},
        {"name": "tags", "type": {"type": "map", "values": ["long", "bytes"]}, "default": {}},
    ],
}


def test_what_the_documents_type() -> None:
    typed = '{"sensor_id":"mySensor","datetime":1234,"value":{"long":999}}'
    back = there_and_back(SENSOR, json.loads(typed))
    assert json.dumps(back, separators=(",", ":")) == typed


def test_branches_may_be_left_out() -> None:
    both = codec(SENSOR)
    named = both.encode({"sensor_id": "a", "datetime": 1, "value": {"long": 5}})
    assert both.encode({"sensor_id": "a", "datetime": 1, "value": 5}) == named
    assert both.encode({"sensor_id": "a", "datetime": 1, "value": None}) != named


def test_named_types_defaults_and_recursion() -> None:
    oak = {"name": "oak", "kind": "OAK"}
    value = {**oak, "left": {"forest.Node": oak}, "others": [{"forest.Kind": "ASH"}, "OAK", oak]}
    full: Any = {**oak, "left": None, "others": [], "key": "\0ÿ", "tags": {}}
    assert there_and_back(TREE, value) == {
        **full,
        "left": {"forest.Node": full},
        "others": [{"forest.Kind": "ASH"}, {"forest.Kind": "OAK"}, {"forest.Node": full}],
    }
    assert there_and_back(TREE, {**oak, "tags": {"a": {"bytes": "é"}, "b": "x", "c": 5}})[
        "tags"
    ] == {"a": {"bytes": "é"}, "b": {"bytes": "x"}, "c": {"long": 5}}


@pytest.mark.parametrize(
    ("union", "value", "branch"),
    [
        (["double", "long"], 5, "long"),
        (["double", "string"], 5, "double"),
        (["float", "double"], 0.5, "float"),
        (["int", "long"], 5, "int"),
        (["int", "long"], 2**40, "long"),
        (["boolean", "int"], True, "boolean"),
        (["string", "bytes"], "a", "string"),
        ([{"type": "map", "values": "long"}, "long"], {"a": 5}, "map"),
        ([{"type": "array", "items": "int"}, "int"], [5], "array"),
        ([{"type": "long", "logicalType": "timestamp-millis"}, "string"], 5, "long"),
    ],
)
def test_the_branch_that_fits(union: Any, value: Any, branch: str) -> None:
    assert there_and_back(union, value) == {branch: value}
    assert there_and_back(union, {branch: value}) == {branch: value}


def test_a_name_wins_over_a_map_that_looks_like_it() -> None:
    union = ["long", {"type": "map", "values": "long"}]
    assert there_and_back(union, {"long": 5}) == {"long": 5}
    assert there_and_back(union, {"map": {"long": 5}}) == {"map": {"long": 5}}


def test_logical_types_are_what_lies_below() -> None:
    schema = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
            {
                "name": "price",
                "type": {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
            },
        ],
    }
    value = {"at": 1234, "id": "no uuid", "price": "\x04Ò"}
    assert there_and_back(schema, value) == value


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have(number: str) -> None:
    assert there_and_back("double", number) == number
    assert codec("double").encode(number) == encoded("double", float(number))


def test_bytes_alone() -> None:
    assert codec("bytes").encode("a\xff") == b"a\xff"
    assert there_and_back("bytes", "a\xff") == "a\xff"


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        (SENSOR, {"sensor_id": "a"}, "datetime: the field is missing, without a default"),
        (SENSOR, {"sensor_id": "a", "datetime": 1, "x": 1}, "Reading has no field 'x'; its fields"),
        (SENSOR, {"sensor_id": 1, "datetime": 1}, "sensor_id: wanted is a text, not 1"),
        (
            SENSOR,
            {"sensor_id": "a", "datetime": 1, "value": "x"},
            r'value: wanted is null or {"long": ...}, not \'x\'',
        ),
        (
            SENSOR,
            {"sensor_id": "a", "datetime": 1, "value": {"long": "x"}},
            "value.long: wanted is a whole number of 64 bits",
        ),
        (SENSOR, 5, "wanted is an object for the record Reading, not 5"),
        (TREE, {"name": "a", "kind": "ELM"}, "kind: wanted is one of OAK, ASH, not 'ELM'"),
        (TREE, {"name": "a", "kind": "OAK", "key": "a"}, "key: wanted is a text of 2 characters"),
        (TREE, {"name": "a", "kind": "OAK", "left": {"name": 5}}, "left.name: wanted is a text"),
        (TREE, {"name": "a", "kind": "OAK", "others": [1]}, r"others\[0\]: wanted is {"),
        (TREE, {"name": "a", "kind": "OAK", "others": 1}, "others: wanted is a list, not 1"),
        (TREE, {"name": "a", "kind": "OAK", "tags": 1}, "tags: wanted is an object, not 1"),
        ("int", 2**31, "wanted is a whole number of 32 bits, not 2147483648"),
        ("int", True, "wanted is a whole number of 32 bits, not True"),
        ("float", 1e300, "wanted is a number of single precision"),
        ("boolean", 1, "wanted is true or false, not 1"),
        ("null", 1, "wanted is null, not 1"),
        ("bytes", "☕", "wanted is a text with a character"),
        ("string", "x" * 50 + "\n", None),
        ("long", "x" * 200, "xx...$"),
    ],
)
def test_what_does_not_fit(schema: Any, value: Any, reason: str | None) -> None:
    if reason is None:
        assert there_and_back(schema, value) == value
        return
    with pytest.raises(ValueError, match=reason):
        codec(schema).encode(value)


VALUES = st.fixed_dictionaries(
    {
        "text": st.text(),
        "number": st.integers(-(2**63), 2**63 - 1),
        "real": st.floats(allow_nan=False, allow_infinity=False),
        "maybe": st.none() | st.text() | st.booleans(),
        "list": st.lists(st.integers(-(2**31), 2**31 - 1)),
        "map": st.dictionaries(st.text(min_size=1), st.binary()),
    }
)
ALL = {
    "type": "record",
    "name": "All",
    "fields": [
        {"name": "text", "type": "string"},
        {"name": "number", "type": "long"},
        {"name": "real", "type": "double"},
        {"name": "maybe", "type": ["null", "string", "boolean"]},
        {"name": "list", "type": {"type": "array", "items": "int"}},
        {"name": "map", "type": {"type": "map", "values": "bytes"}},
    ],
}


@given(VALUES)
def test_as_fastavro_writes_both(value: dict[str, Any]) -> None:
    text = io.StringIO()
    json_writer(text, ALL, [value])
    typed = json.loads(text.getvalue())
    assert codec(ALL).encode(typed) == encoded(ALL, value)
    assert there_and_back(ALL, typed) == typed


def encoded(schema: Any, value: Any) -> bytes:
    buffer = io.BytesIO()
    schemaless_writer(buffer, schema, value)
    return buffer.getvalue()
