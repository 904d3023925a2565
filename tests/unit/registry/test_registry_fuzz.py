"""Any text is a schema or is refused, and any two schemas can be compared."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import often

from headwater.registry.formats import FORMATS, InvalidSchemaError, ParsedSchema

WORDS = [
    "type", "name", "fields", "items", "values", "symbols", "size", "default", "aliases", "doc",
    "namespace", "order", "record", "enum", "fixed", "array", "map", "string", "int", "null",
    "logicalType", "decimal", "properties", "required", "additionalProperties", "$ref", "$id",
    "$schema", "#", "#/definitions/a", "definitions", "a", "b", "allOf", "anyOf", "oneOf", "not",
    "const", "object", "number", "patternProperties", "dependencies", "minimum", "multipleOf",
    "prefixItems", "unevaluatedProperties", "contains", "pattern", "(", "if", "then", "enum",
    "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-04/schema#",
]  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(WORDS)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)  # fmt: skip

SMALL = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(WORDS) | st.text(max_size=3)
)


# Close to what makes sense, so that most of it gets past the first check. The depth is limited:
# what branches without end is thrown away for its size, and only costs time.
def avro_like(depth: int) -> st.SearchStrategy[Any]:
    named = st.sampled_from(["int", "string", "null", "R", "E"])
    if depth == 0:
        return named
    inner = avro_like(depth - 1)
    field = st.fixed_dictionaries(
        {"name": st.sampled_from("ab"), "type": inner},
        optional={"default": SMALL, "aliases": SMALL, "order": SMALL},
    )
    return (
        named
        | st.lists(inner, max_size=3)
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries(
            {
                "type": st.sampled_from(["record", "enum", "fixed"]),
                "name": st.sampled_from(["R", "E", "x.R"]),
            },
            optional={
                "fields": st.lists(field, max_size=3),
                "symbols": st.lists(st.sampled_from("AB"), max_size=2),
                "size": SMALL,
                "aliases": SMALL,
                "default": SMALL,
                "namespace": SMALL,
            },
        )
    )


def json_like(depth: int) -> st.SearchStrategy[Any]:
    plain: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(["object", "string", "number", "array", ["null", "string"]]),
        "$ref": st.sampled_from(["#", "#/definitions/a", "#/properties/a"]),
        "enum": st.lists(SMALL, min_size=1, max_size=2),
        "const": SMALL,
        "default": SMALL,
        "multipleOf": st.sampled_from([1, 0.1, 3]),
        "minimum": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    }
    if depth == 0:
        return st.booleans() | st.fixed_dictionaries({}, optional=plain)
    inner = json_like(depth - 1)
    nested: dict[str, st.SearchStrategy[Any]] = {
        "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(st.sampled_from(["(", "^a"]), inner, max_size=2),
        "items": inner | st.lists(inner, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
        "definitions": st.fixed_dictionaries({"a": inner}),
        "dependencies": st.dictionaries(st.sampled_from("ab"), inner | st.just(["a"]), max_size=2),
    }
    # A few of these at a time: all of them together hide each other.
    return st.booleans() | st.tuples(
        st.fixed_dictionaries({}, optional=plain),
        st.lists(st.sampled_from(sorted(nested)), max_size=2, unique=True).flatmap(
            lambda names: st.fixed_dictionaries({name: nested[name] for name in names})
        ),
    ).map(lambda parts: {**parts[0], **parts[1]})


AVRO_LIKE = avro_like(3)
JSON_LIKE = json_like(2)


def parse(type_: str, value: Any) -> ParsedSchema | None:
    try:
        schema = FORMATS[type_].parse(json.dumps(value), {})
    except InvalidSchemaError:
        return None
    assert FORMATS[type_].parse(schema.text, {}).text == schema.text
    msgspec.json.encode(schema.text)  # it can be stored and sent
    return schema


@pytest.mark.parametrize("type_", ["AVRO", "JSON"])
@given(value=VALUES)
def test_any_json(type_: str, value: Any) -> None:
    parse(type_, value)


@settings(max_examples=often(80, in_soak=2000))
@given(AVRO_LIKE, AVRO_LIKE)
def test_avro(first: Any, second: Any) -> None:
    compare(parse("AVRO", first), parse("AVRO", second))


@settings(max_examples=often(80, in_soak=2000))
@given(JSON_LIKE, JSON_LIKE)
def test_json_schema(first: Any, second: Any) -> None:
    compare(parse("JSON", first), parse("JSON", second))


def compare(first: ParsedSchema | None, second: ParsedSchema | None) -> None:
    for schema in (first, second):
        if schema is not None:
            assert schema.check_reads(schema) == []
            schema.normalized()
    if first is not None and second is not None:
        for reason in first.check_reads(second):
            assert reason.describe(reader_is_new=True)


@pytest.mark.parametrize("type_", sorted(FORMATS))
@given(text=st.text(max_size=100))
def test_any_text(type_: str, text: str) -> None:
    try:
        FORMATS[type_].parse(text, {})
    except InvalidSchemaError:
        return
