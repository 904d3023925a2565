"""JSON Schemas: read in all drafts, compared by their content models."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import often

from headwater.registry.formats import InvalidSchemaError
from headwater.registry.formats.json_schema import JsonSchemaFormat
from headwater.registry.formats.json_schema_kinds import COMPATIBLE, Kind, explain
from headwater.registry.formats.json_text import MAX_DEPTH

JSON = JsonSchemaFormat()
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"


def changes(old: Any, new: Any, *, lenient: bool = False) -> list[tuple[str, str]]:
    """What the newer schema no longer accepts."""
    older, newer = (JSON.parse(json.dumps(each), {}) for each in (old, new))
    return [(each.kind, each.path) for each in newer.check_reads(older, lenient=lenient)]


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def opened(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


STRING = {"type": "string"}
NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (STRING, STRING, []),
        (STRING, NUMBER, [("TYPE_CHANGED", "#/")]),
        ({"type": "integer"}, NUMBER, []),
        (NUMBER, {"type": "integer"}, [("TYPE_NARROWED", "#/")]),
        (STRING, {}, []),
        (STRING, True, []),
        ({}, STRING, [("TYPE_CHANGED", "#/")]),
        (False, STRING, []),
        (True, False, [("TYPE_CHANGED", "#/")]),
        (STRING, {**STRING, "maxLength": 5}, [("MAX_LENGTH_ADDED", "#/maxLength")]),
        ({**STRING, "maxLength": 5}, {**STRING, "maxLength": 4},
         [("MAX_LENGTH_DECREASED", "#/maxLength")]),
        ({**STRING, "maxLength": 5}, {**STRING, "maxLength": 6}, []),
        ({**STRING, "maxLength": 5}, STRING, []),
        (STRING, {**STRING, "pattern": "a"}, [("PATTERN_ADDED", "#/pattern")]),
        ({**STRING, "pattern": "b"}, {**STRING, "pattern": "a"},
         [("PATTERN_CHANGED", "#/pattern")]),
        (NUMBER, {**NUMBER, "minimum": 1}, [("MINIMUM_ADDED", "#/minimum")]),
        ({**NUMBER, "minimum": 1}, {**NUMBER, "minimum": 2}, [("MINIMUM_INCREASED", "#/minimum")]),
        ({**NUMBER, "multipleOf": 2}, {**NUMBER, "multipleOf": 4},
         [("MULTIPLE_OF_EXPANDED", "#/multipleOf")]),
        ({**NUMBER, "multipleOf": 4}, {**NUMBER, "multipleOf": 2}, []),
        ({**NUMBER, "multipleOf": 2}, {**NUMBER, "multipleOf": 3},
         [("MULTIPLE_OF_CHANGED", "#/multipleOf")]),
        ({"enum": [1, 2]}, {"enum": [2, 1.0, 3]}, []),
        ({"enum": [1, 2]}, {"enum": [1]}, [("ENUM_ARRAY_NARROWED", "#/enum")]),
        ({"enum": [1, 2]}, {"enum": [1, 3]}, [("ENUM_ARRAY_CHANGED", "#/enum")]),
        ({"const": 1}, {"const": 2}, [("ENUM_ARRAY_CHANGED", "#/const")]),
        ({"const": 1}, {"const": 1.0}, []),
        ({"not": STRING}, {"not": {"type": ["string", "null"]}}, [("NOT_TYPE_EXTENDED", "#/not")]),
        ({"not": {"type": ["string", "null"]}}, {"not": STRING}, []),
    ],
)  # fmt: skip
def test_values(old: Any, new: Any, expected: list[tuple[str, str]]) -> None:
    assert changes(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (closed(), closed(a=STRING), []),
        (closed(a=STRING), closed(), [("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
                                       "#/properties/a")]),
        (closed(a=False), closed(), []),
        (opened(), opened(a=STRING), [("OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
                                       "#/properties/a")]),
        (opened(), opened(a={}), []),
        (opened(a=STRING), opened(), []),
        (closed(), {**closed(a=STRING), "required": ["a"]},
         [("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", "#/properties/a")]),
        (closed(), {**closed(a={**STRING, "default": ""}), "required": ["a"]}, []),
        (opened(), {**opened(a=STRING), "required": ["a"]},
         [("REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "#/properties/a")]),
        (closed(a=STRING), {**closed(a=STRING), "required": ["a"]},
         [("REQUIRED_ATTRIBUTE_ADDED", "#/required/a")]),
        ({**closed(a=STRING), "required": ["a"]}, closed(a=STRING), []),
        (opened(a=STRING), closed(a=STRING),
         [("ADDITIONAL_PROPERTIES_REMOVED", "#/additionalProperties")]),
        (closed(a=STRING), opened(a=STRING), []),
        (opened(), {**opened(), "additionalProperties": STRING},
         [("ADDITIONAL_PROPERTIES_NARROWED", "#/additionalProperties")]),
        # Open in part: what is added or removed has to fit what is allowed anyway.
        ({**opened(a=STRING), "additionalProperties": STRING},
         {**opened(), "additionalProperties": STRING}, []),
        ({**opened(a=NUMBER), "additionalProperties": STRING},
         {**opened(), "additionalProperties": STRING},
         [("TYPE_CHANGED", "#/properties/a"),
          ("PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/properties/a")]),
        ({**opened(), "additionalProperties": STRING},
         {**opened(a=NUMBER), "additionalProperties": STRING},
         [("TYPE_CHANGED", "#/properties/a"),
          ("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/properties/a")]),
        ({**closed(), "patternProperties": {"^s_": STRING}},
         {**closed(s_a=STRING), "patternProperties": {"^s_": STRING}}, []),
        ({**closed(s_a=NUMBER), "patternProperties": {"^s_": STRING}},
         {**closed(), "patternProperties": {"^s_": STRING}},
         [("TYPE_CHANGED", "#/properties/s_a"),
          ("PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/properties/s_a")]),
        (opened(), {**opened(), "dependencies": {"a": ["b"]}},
         [("DEPENDENCY_ARRAY_ADDED", "#/dependencies/a")]),
        (opened(), {**opened(), "maxProperties": 2}, [("MAX_PROPERTIES_ADDED", "#/maxProperties")]),
        (opened(a=opened(b=STRING)), opened(a=opened(b=NUMBER)),
         [("TYPE_CHANGED", "#/properties/a/properties/b")]),
    ],
)  # fmt: skip
def test_objects(old: Any, new: Any, expected: list[tuple[str, str]]) -> None:
    assert changes(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"type": "array", "items": STRING}, {"type": "array", "items": NUMBER},
         [("TYPE_CHANGED", "#/items")]),
        ({"type": "array"}, {"type": "array", "items": STRING}, [("SCHEMA_ADDED", "#/items")]),
        ({"type": "array", "items": STRING}, {"type": "array"}, []),
        ({"type": "array", "items": [STRING]}, {"type": "array", "items": [STRING, NUMBER]},
         [("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", "#/items/1")]),
        ({"type": "array", "items": [STRING], "additionalItems": False},
         {"type": "array", "items": [STRING, NUMBER], "additionalItems": False}, []),
        ({"type": "array", "items": [STRING, NUMBER], "additionalItems": False},
         {"type": "array", "items": [STRING], "additionalItems": False},
         [("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", "#/items/1")]),
        ({"type": "array"}, {"type": "array", "uniqueItems": True},
         [("UNIQUE_ITEMS_ADDED", "#/uniqueItems")]),
        ({"type": "array", "minItems": 1}, {"type": "array", "minItems": 2},
         [("MIN_ITEMS_INCREASED", "#/minItems")]),
        # The same in the words of 2020-12.
        ({"$schema": DRAFT_2020, "type": "array", "prefixItems": [STRING], "items": False},
         {"$schema": DRAFT_2020, "type": "array", "prefixItems": [STRING, NUMBER], "items": False},
         []),
        ({"$schema": DRAFT_2020, "type": "array", "prefixItems": [STRING], "items": NUMBER},
         {"$schema": DRAFT_2020, "type": "array", "prefixItems": [STRING, STRING], "items": NUMBER},
         [("TYPE_CHANGED", "#/items/1"),
          ("ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "#/items/1")]),
    ],
)  # fmt: skip
def test_arrays(old: Any, new: Any, expected: list[tuple[str, str]]) -> None:
    assert changes(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (STRING, {"anyOf": [STRING, NUMBER]}, []),
        (STRING, {"type": ["string", "null"]}, []),
        ({"type": ["string", "null"]}, STRING, [("TYPE_CHANGED", "#/")]),
        (STRING, {"oneOf": [NUMBER, {"type": "null"}]}, [("TYPE_CHANGED", "#/")]),
        ({"oneOf": [STRING]}, STRING, []),
        ({"allOf": [STRING, {"maxLength": 3}]}, STRING, []),
        ({"oneOf": [STRING, NUMBER]}, {"oneOf": [NUMBER, STRING]}, []),
        ({"oneOf": [STRING, NUMBER]}, {"oneOf": [STRING]}, [("SUM_TYPE_NARROWED", "#/")]),
        ({"oneOf": [STRING, NUMBER]}, {"anyOf": [STRING, NUMBER]}, []),
        ({"anyOf": [STRING, NUMBER]}, {"oneOf": [STRING, NUMBER]},
         [("COMBINED_TYPE_CHANGED", "#/")]),
        ({"allOf": [STRING]}, {"allOf": [STRING, {"maxLength": 3}]},
         [("PRODUCT_TYPE_EXTENDED", "#/")]),
        ({"oneOf": [STRING, NUMBER]}, {"oneOf": [STRING, {"type": "null"}]},
         [("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "#/")]),
    ],
)  # fmt: skip
def test_combinations(old: Any, new: Any, expected: list[tuple[str, str]]) -> None:
    assert changes(old, new) == expected


def test_unevaluated_properties_close_an_object_too() -> None:
    base = {"$schema": DRAFT_2020, "type": "object", "unevaluatedProperties": False}
    added = {**base, "properties": {"a": STRING}}
    assert changes(base, added) == []
    assert changes(added, base) == [
        ("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", "#/properties/a")
    ]


def test_lenient_policy_takes_unknown_properties_for_absent_ones() -> None:
    assert changes(opened(), opened(a=STRING), lenient=True) == []
    assert changes(closed(a=STRING), closed(), lenient=True) == []
    assert changes(opened(), {**opened(a=STRING), "required": ["a"]}, lenient=True) != []


def test_references_are_followed() -> None:
    old = {"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/b"},
                                                      "b": STRING}}  # fmt: skip
    assert changes(old, STRING) == []
    assert changes(old, NUMBER) == [("TYPE_CHANGED", "#/")]
    item = json.dumps({"$id": "http://x/item.json", "type": "object", "properties": {"n": STRING}})
    new_item = json.dumps({"type": "object", "properties": {"n": NUMBER}})
    order = '{"type":"object","properties":{"item":{"$ref":"item.json"}}}'
    older = JSON.parse(order, {"item.json": item})
    newer = JSON.parse(order, {"item.json": new_item})
    assert [each.path for each in newer.check_reads(older)] == ["#/properties/item/properties/n"]


@pytest.mark.parametrize(
    "reference",
    ["#/definitions/x", "#x", "#/$defs/x", "item.json", "./item.json", "item.json#/definitions/x",
     "http://json-schema.org/draft-07/schema#"],
)  # fmt: skip
def test_references_of_all_kinds_are_found(reference: str) -> None:
    document = {"$ref": reference, "definitions": {"x": {"$id": "#x"}}}
    JSON.parse(json.dumps(document), {"item.json": '{"definitions":{"x":{}}}'})


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        ("#/definitions/y", "points at nothing"),
        ("#y", "no anchor 'y'"),
        ("other.json", "never fetched"),
        ("http://example.com/schema.json", "never fetched"),
    ],
)
def test_references_to_nothing_are_refused(reference: str, complaint: str) -> None:
    with pytest.raises(InvalidSchemaError, match=complaint):
        JSON.parse(json.dumps({"properties": {"a": {"$ref": reference}}}), {})


def test_recursive_schemas_compare() -> None:
    def tree(value: Any) -> Any:
        return {
            "$ref": "#/definitions/node",
            "definitions": {
                "node": closed(value=value, children={"type": "array",
                                                      "items": {"$ref": "#/definitions/node"}})
            },
        }  # fmt: skip

    assert changes(tree(STRING), tree(STRING)) == []
    assert changes(tree(STRING), tree(NUMBER)) == [
        ("TYPE_CHANGED", "#/properties/value"),
        ("TYPE_CHANGED", "#/properties/children/items/properties/value"),
    ]
    assert changes({"$ref": "#"}, STRING) == []  # accepts nothing that could be refused now


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not JSON"),
        ("5", "an object, true or false"),
        ("[]", "an object, true or false"),
        ('{"type":"strin"}', "type"),
        ('{"type":5}', "type"),
        ('{"properties":[]}', "properties"),
        ('{"required":"a"}', "required"),
        ('{"minLength":-1}', "minLength"),
        ('{"items":5}', "items"),
        ('{"additionalProperties":"x"}', "additionalProperties"),
        ('{"allOf":[]}', "allOf"),
        ('{"not":' * 500 + "true" + "}" * 500, "nests deeper"),
    ],
)
def test_invalid_schemas_are_explained(text: str, complaint: str) -> None:
    with pytest.raises(InvalidSchemaError, match=complaint):
        JSON.parse(text, {})


@pytest.mark.parametrize(
    ("start", "end", "depth"),
    [
        ('{"not":', "}", 1),
        ('{"properties":{"a":', "}}", 2),
        ('{"anyOf":[', "]}", 2),
        ('{"items":', "}", 1),
    ],
)
def test_the_deepest_schemas_that_are_allowed(start: str, end: str, depth: int) -> None:
    levels = (MAX_DEPTH - 1) // depth
    schema = JSON.parse(start * levels + "true" + end * levels, {})
    assert schema.check_reads(schema) == []


def test_texts_keep_their_order_and_numbers() -> None:
    text = '{"type": "number", "minimum": 1.10, "multipleOf": 1e3, "description": "\\u00e9"}'
    schema = JSON.parse(text, {})
    assert schema.text == '{"type":"number","minimum":1.10,"multipleOf":1E+3,"description":"é"}'
    assert schema.normalized() == (
        '{"description":"é","minimum":1.10,"multipleOf":1E+3,"type":"number"}'
    )


def test_draft_4_and_its_exclusive_limits() -> None:
    schema = {"$schema": DRAFT_4, "type": "number", "minimum": 1, "exclusiveMinimum": True}
    assert changes(schema, schema) == []
    with pytest.raises(InvalidSchemaError):
        JSON.parse(json.dumps({"type": "number", "minimum": 1, "exclusiveMinimum": True}), {})


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in COMPATIBLE])
def test_every_incompatible_change_has_words_and_a_remedy(kind: Kind) -> None:
    reason = explain(kind, "#/a")
    assert "{reader}" in reason.message or "one schema" in reason.message
    for is_new in (True, False):
        text = reason.describe(reader_is_new=is_new)
        assert kind.name in text
        assert "#/a" in text
        assert "remedy:'" in text
        assert "{reader}" not in text


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> Any:
    schema: dict[str, Any]
    kinds = ["string", "number", "boolean", "enum"] + (
        ["object", "object", "anyOf"] if depth else []
    )
    kind = draw(st.sampled_from(kinds))
    if kind == "enum":
        return {"enum": draw(st.lists(st.sampled_from(["a", "b", 1]), min_size=1, unique=True))}
    if kind == "anyOf":
        return {"anyOf": draw(st.lists(schemas(depth - 1), min_size=1, max_size=3))}
    if kind == "object":
        names = draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True))
        schema = {"type": "object"}
        schema["properties"] = {name: draw(schemas(depth - 1)) for name in names}
        if draw(st.booleans()):
            schema["required"] = names[:1]
        schema |= draw(st.sampled_from([{}, {"additionalProperties": False}]))
        return schema
    schema = {"type": kind}
    if kind == "string" and draw(st.booleans()):
        schema["maxLength"] = draw(st.integers(0, 2))
    if kind == "number" and draw(st.booleans()):
        schema["minimum"] = draw(st.integers(0, 2))
    return schema


VALUES = st.recursive(
    st.sampled_from(["", "a", "b", "abc", 0, 1, 2.5, True, None]),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=often(150, in_soak=5000))
@given(schemas(), schemas(), st.lists(VALUES, max_size=8))
def test_what_is_called_compatible_accepts_what_was_accepted(
    old: Any, new: Any, values: list[Any]
) -> None:
    """The promise itself, asked of a validator that knows nothing of our rules."""
    if changes(old, new):
        return
    before, after = jsonschema_rs.validator_for(old), jsonschema_rs.validator_for(new)
    for value in values:
        if before.is_valid(value):
            # A default stands for what is missing, which a validator does not know.
            assert after.is_valid(value), (old, new, value)
