"""Levels: who is compared with whom, and what is said about it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.registry.compatibility import MAX_REASONS, MAX_SHOWN, OldVersion, check
from headwater.registry.formats import FORMATS, ParsedSchema


def record(*fields: str, default: bool = False) -> ParsedSchema:
    made: list[dict[str, Any]] = [{"name": name, "type": "string"} for name in fields]
    for field in made if default else ():
        field["default"] = ""
    return FORMATS["AVRO"].parse(json.dumps({"type": "record", "name": "R", "fields": made}), {})


def old(version: int, *fields: str, default: bool = False) -> OldVersion:
    return OldVersion(version, "AVRO", record(*fields, default=default))


def compatible(level: str, schema: ParsedSchema, *older: OldVersion) -> bool:
    return not check(level, schema, "AVRO", older)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("NONE", True),
        ("BACKWARD", False),
        ("BACKWARD_TRANSITIVE", False),
        ("FORWARD", True),
        ("FORWARD_TRANSITIVE", True),
        ("FULL", False),
        ("FULL_TRANSITIVE", False),
    ],
)
def test_directions(level: str, expected: bool) -> None:
    assert compatible(level, record("a", "b"), old(1, "a")) == expected


def test_only_transitive_levels_look_further_back() -> None:
    history = (old(1, "a"), old(2, "a", "b", default=True))
    assert compatible("BACKWARD", record("a", "b"), *history)
    assert not compatible("BACKWARD_TRANSITIVE", record("a", "b"), *history)
    assert compatible("FORWARD_TRANSITIVE", record("a", "b"), *history)


def test_nothing_can_be_broken_at_first() -> None:
    assert compatible("FULL_TRANSITIVE", record("a"))


def test_both_directions_are_told_apart() -> None:
    messages = check("FULL", record("b"), "AVRO", [old(7, "a")])
    assert "the field a of the old schema has no default" in messages[0]
    assert "remedy:'Keep the field a" in messages[0]
    assert "the field b of the new schema has no default" in messages[1]
    assert "remedy:'Give b a default" in messages[1]
    assert messages[2] == "{oldSchemaVersion: 7}"


def test_messages_stay_readable() -> None:
    many = [f"field_{number}" for number in range(1000)]
    messages = check("BACKWARD", record(*many), "AVRO", [old(1)])
    assert messages[MAX_REASONS] == f"{{and {1000 - MAX_REASONS} more}}"
    messages = check("BACKWARD", record("x"), "AVRO", [old(1, *many)])
    assert len(messages[-1]) < MAX_SHOWN + 100
    assert messages[-1].endswith("...'}")
