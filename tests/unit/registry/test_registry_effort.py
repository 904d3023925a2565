"""Schemas that are made to keep the registry busy: short to write, and endless to compare."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.registry.compatibility import OldVersion, check
from headwater.registry.formats import FORMATS, InvalidSchemaError
from headwater.registry.formats.effort import MOST_DIFFERENCES

LEVELS = 30


def json_levels(leaf: str) -> str:
    """Each level refers to the next one twice: 2^30 places in four kilobytes."""
    definitions: dict[str, Any] = {
        f"l{level}": {
            "type": "object",
            "properties": {
                side: {"$ref": f"#/definitions/l{level + 1}"} for side in ("left", "right")
            },
        }
        for level in range(LEVELS)
    }
    definitions[f"l{LEVELS}"] = {"type": leaf}
    return json.dumps({"$ref": "#/definitions/l0", "definitions": definitions})


def avro_levels(leaf: str) -> str:
    type_: Any = {
        "type": "record", "name": f"L{LEVELS}", "fields": [{"name": "value", "type": leaf}],
    }  # fmt: skip
    for level in reversed(range(LEVELS)):
        fields = [{"name": "left", "type": type_}, {"name": "right", "type": f"L{level + 1}"}]
        type_ = {"type": "record", "name": f"L{level}", "fields": fields}
    return json.dumps(type_)


@pytest.mark.parametrize(
    ("type_", "make", "kind"),
    [("JSON", json_levels, "TYPE_CHANGED"), ("AVRO", avro_levels, "TYPE_MISMATCH")],
)
def test_what_is_used_in_many_places_is_compared_once(type_: str, make: Any, kind: str) -> None:
    format_ = FORMATS[type_]
    old, new = format_.parse(make("string"), {}), format_.parse(make("boolean"), {})
    reasons = new.check_reads(old)
    assert {reason.kind for reason in reasons} == {kind}
    assert 1 <= len(reasons) <= MOST_DIFFERENCES
    assert not new.check_reads(format_.parse(make("boolean"), {}))


def test_the_message_does_not_claim_to_know_how_many_there_are() -> None:
    format_ = FORMATS["JSON"]
    old, new = format_.parse(json_levels("string"), {}), format_.parse(json_levels("null"), {})
    messages = check("BACKWARD", new, "JSON", [OldVersion(1, "JSON", old)])
    assert f"{{and at least {MOST_DIFFERENCES - 50} more}}" in messages


def test_json_alternatives_that_would_all_be_compared_with_all_are_refused() -> None:
    def alternatives(first: int) -> str:
        each = [{"type": "string", "maxLength": first + number} for number in range(1_000)]
        return json.dumps({"oneOf": each})

    format_ = FORMATS["JSON"]
    old, new = format_.parse(alternatives(1), {}), format_.parse(alternatives(5_000), {})
    with pytest.raises(InvalidSchemaError, match="too much work"):
        old.check_reads(new)


def test_avro_unions_that_would_all_be_compared_with_all_are_refused() -> None:
    def union(leaf: str) -> str:
        return json.dumps(
            [
                {"type": "record", "name": f"R{number}", "fields": [{"name": "f", "type": leaf}]}
                for number in range(1_000)
            ]
        )

    format_ = FORMATS["AVRO"]
    old, new = format_.parse(union("int"), {}), format_.parse(union("string"), {})
    with pytest.raises(InvalidSchemaError, match="too much work"):
        new.check_reads(old)


def test_a_pattern_that_backtracks_for_ever_ends() -> None:
    def closed(properties: dict[str, Any]) -> str:
        return json.dumps(
            {
                "type": "object",
                "properties": properties,
                "patternProperties": {"^(a|aa)+(?=b)$": {"type": "string"}},
                "additionalProperties": False,
            }
        )

    format_ = FORMATS["JSON"]
    old = format_.parse(closed({"a" * 60: {"type": "string"}}), {})
    new = format_.parse(closed({}), {})
    assert [reason.kind for reason in new.check_reads(old)] == [
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    ]
