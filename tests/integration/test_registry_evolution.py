"""How schemas may change: every row of the table, in all levels, for all formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.registry_process import RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Iterator


LEVELS = (
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL",
    "FULL_TRANSITIVE",
)  # fmt: skip


class Row(NamedTuple):
    """A change, and whether each side can still read the other one's data."""

    change: str
    old: Any
    new: Any
    backward: str | None  # the reason against it, if there is one
    forward: str | None


def record(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "Reading", "fields": list(fields)}


ID = {"name": "id", "type": "string"}
UNIT = {"name": "unit", "type": "string"}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}


def kind(*symbols: str) -> dict[str, Any]:
    return {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": list(symbols)}}


MISSING_DEFAULT = "READER_FIELD_MISSING_DEFAULT_VALUE"

AVRO = [
    Row("add a mandatory field", record(ID), record(ID, UNIT), MISSING_DEFAULT, None),
    Row("add an optional field", record(ID), record(ID, NOTE), None, None),
    Row("remove an optional field", record(ID, NOTE), record(ID), None, None),
    Row("remove a mandatory field", record(ID, UNIT), record(ID), None, MISSING_DEFAULT),
    Row("rename a field", record(ID), record({**ID, "name": "key"}), MISSING_DEFAULT,
        MISSING_DEFAULT),
    Row("rename a field, with an alias", record(ID), record({**ID, "name": "key",
        "aliases": ["id"]}), None, MISSING_DEFAULT),
    Row("change a type", record(ID), record({**ID, "type": "int"}), "TYPE_MISMATCH",
        "TYPE_MISMATCH"),
    Row("widen a type", record({**ID, "type": "int"}), record({**ID, "type": "long"}), None,
        "TYPE_MISMATCH"),
    Row("add to an enum", record(kind("A")), record(kind("A", "B")), None,
        "MISSING_ENUM_SYMBOLS"),
    Row("remove from an enum", record(kind("A", "B")), record(kind("A")),
        "MISSING_ENUM_SYMBOLS", None),
]  # fmt: skip


def closed(*required: str, **properties: Any) -> dict[str, Any]:
    return {**opened(*required, **properties), "additionalProperties": False}


def opened(*required: str, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


TEXT = {"type": "string"}
REQUIRED_ADDED = "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
REMOVED = "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
REQUIRED_ADDED_OPEN = "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
OPTIONAL_ADDED_OPEN = "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"

JSON = [
    Row("closed: add a mandatory field", closed("id", id=TEXT),
        closed("id", "unit", id=TEXT, unit=TEXT), REQUIRED_ADDED, REMOVED),
    Row("closed: add an optional field", closed("id", id=TEXT),
        closed("id", id=TEXT, note=TEXT), None, REMOVED),
    Row("closed: remove an optional field", closed("id", id=TEXT, note=TEXT),
        closed("id", id=TEXT), REMOVED, None),
    Row("closed: remove a mandatory field", closed("id", "unit", id=TEXT, unit=TEXT),
        closed("id", id=TEXT), REMOVED, REQUIRED_ADDED),
    Row("closed: rename a field", closed("id", id=TEXT), closed("key", key=TEXT), REMOVED, REMOVED),
    Row("open: add a mandatory field", opened("id", id=TEXT),
        opened("id", "unit", id=TEXT, unit=TEXT), REQUIRED_ADDED_OPEN, None),
    Row("open: add an optional field", opened("id", id=TEXT),
        opened("id", id=TEXT, note=TEXT), OPTIONAL_ADDED_OPEN, None),
    Row("open: remove an optional field", opened("id", id=TEXT, note=TEXT),
        opened("id", id=TEXT), None, OPTIONAL_ADDED_OPEN),
    Row("open: remove a mandatory field", opened("id", "unit", id=TEXT, unit=TEXT),
        opened("id", id=TEXT), None, REQUIRED_ADDED_OPEN),
    Row("open: rename a field", opened("id", id=TEXT), opened("key", key=TEXT),
        REQUIRED_ADDED_OPEN, REQUIRED_ADDED_OPEN),
    Row("partly open: add a field that fits", {**opened(), "additionalProperties": TEXT},
        {**opened(note=TEXT), "additionalProperties": TEXT}, None, None),
    Row("partly open: add a field that does not fit", {**opened(), "additionalProperties": TEXT},
        {**opened(n={"type": "integer"}), "additionalProperties": TEXT},
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"),
    Row("change a type", closed(id=TEXT), closed(id={"type": "integer"}), "TYPE_CHANGED",
        "TYPE_CHANGED"),
    Row("add to an enum", closed(kind={"enum": ["A"]}), closed(kind={"enum": ["A", "B"]}), None,
        "ENUM_ARRAY_NARROWED"),
    Row("remove from an enum", closed(kind={"enum": ["A", "B"]}), closed(kind={"enum": ["A"]}),
        "ENUM_ARRAY_NARROWED", None),
]  # fmt: skip


def message(body: str, enum: str = "") -> str:
    return f'syntax = "proto2"; message Reading {{ {body} }} {enum}'


REQUIRED_ID = "required string id = 1;"

PROTOBUF = [
    Row("add a mandatory field", message(REQUIRED_ID),
        message(f"{REQUIRED_ID} required string unit = 2;"), "REQUIRED_FIELD_ADDED",
        "REQUIRED_FIELD_REMOVED"),
    Row("add an optional field", message(REQUIRED_ID),
        message(f"{REQUIRED_ID} optional string note = 2;"), None, None),
    Row("remove an optional field", message(f"{REQUIRED_ID} optional string note = 2;"),
        message(REQUIRED_ID), None, None),
    Row("remove a mandatory field", message(f"{REQUIRED_ID} required string unit = 2;"),
        message(REQUIRED_ID), "REQUIRED_FIELD_REMOVED", "REQUIRED_FIELD_ADDED"),
    Row("rename a field", message(REQUIRED_ID), message("required string key = 1;"), None, None),
    Row("change a type", message(REQUIRED_ID), message("required int32 id = 1;"),
        "FIELD_SCALAR_KIND_CHANGED", "FIELD_SCALAR_KIND_CHANGED"),
    Row("change a type to one that is encoded alike", message("required int32 id = 1;"),
        message("required int64 id = 1;"), None, None),
    Row("add to an enum", message("optional K k = 1;", "enum K { A = 0; }"),
        message("optional K k = 1;", "enum K { A = 0; B = 1; }"), None, None),
    Row("remove from an enum", message("optional K k = 1;", "enum K { A = 0; B = 1; }"),
        message("optional K k = 1;", "enum K { A = 0; }"), None, None),
    Row("move fields into a oneof", message("optional string a = 1; optional string b = 2;"),
        message("oneof o { string a = 1; string b = 2; }"), "MULTIPLE_FIELDS_MOVED_TO_ONEOF",
        None),
    Row("remove a field from a oneof", message("oneof o { string a = 1; string b = 2; }"),
        message("oneof o { string a = 1; }"), "ONEOF_FIELD_REMOVED", None),
    Row("change the package", f"package a; {message(REQUIRED_ID)[19:]}",
        f"package b; {message(REQUIRED_ID)[19:]}", "PACKAGE_CHANGED", "PACKAGE_CHANGED"),
]  # fmt: skip

ROWS = [
    *[("AVRO", row) for row in AVRO],
    *[("JSON", row) for row in JSON],
    *[("PROTOBUF", row) for row in PROTOBUF],
]


@pytest.fixture(scope="module")
def registry(bootstrap_servers: str) -> Iterator[RegistryProcess]:
    process = RegistryProcess(bootstrap_servers).start()
    yield process
    process.stop()


def reason(row: Row, level: str) -> str | None:
    """The first reason that a level has against a change."""
    if level == "NONE":
        return None
    if level.startswith("BACKWARD"):
        return row.backward
    return row.forward if level.startswith("FORWARD") else row.forward or row.backward


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("type_", "row"), ROWS, ids=[f"{type_}: {row.change}" for type_, row in ROWS]
)
def test_the_table(registry: RegistryProcess, topic: str, level: str, type_: str, row: Row) -> None:
    registry.register(topic, row.old, type_)
    put = registry.request("PUT", f"/config/{topic}", {"compatibility": level})
    assert put.body == {"compatibility": level}
    expected = reason(row, level)
    checked = registry.request(
        "POST", f"/compatibility/subjects/{topic}/versions/latest?verbose=true", body(row, type_)
    )
    assert checked.body["is_compatible"] == (expected is None), checked.body
    answer = registry.try_register(topic, row.new, type_)
    if expected is None:
        assert answer.status == 200, answer
        assert registry.get(f"/subjects/{topic}/versions") == [1, 2]
        return
    assert (answer.status, answer.body["error_code"]) == (409, 409)
    message = answer.body["message"]
    assert expected in message
    assert "remedy:'" in message
    assert "path:'" in message
    assert checked.body["messages"][0] in message
    assert registry.get(f"/subjects/{topic}/versions") == [1]


def body(row: Row, type_: str) -> dict[str, Any]:
    import json

    text = row.new if isinstance(row.new, str) else json.dumps(row.new)
    return {"schema": text, "schemaType": type_}


THREE_VERSIONS = {
    # Each follows the one before it, and the third cannot follow the first.
    "AVRO": (
        record(ID, UNIT),
        record(ID, {**UNIT, "default": "C"}),
        record(ID),
        "FORWARD",
    ),
    "JSON": (
        closed(id=TEXT, a=TEXT),
        closed(id=TEXT, a={}),
        closed(id=TEXT, a={"type": "integer"}),
        "FORWARD",
    ),
    "PROTOBUF": (
        message("oneof o { string a = 1; string b = 2; }"),
        message(""),
        message("oneof o { string a = 1; }"),
        "BACKWARD",
    ),
}


@pytest.mark.parametrize("type_", THREE_VERSIONS)
def test_transitive_levels_look_at_all_versions(
    registry: RegistryProcess, topic: str, type_: str
) -> None:
    first, second, third, level = THREE_VERSIONS[type_]
    registry.request("PUT", f"/config/{topic}", {"compatibility": "NONE"})
    registry.register(topic, first, type_)
    registry.register(topic, second, type_)
    registry.request("PUT", f"/config/{topic}", {"compatibility": f"{level}_TRANSITIVE"})
    refused = registry.try_register(topic, third, type_)
    assert refused.status == 409, refused
    assert "{oldSchemaVersion: 1}" in refused.body["message"]
    registry.request("PUT", f"/config/{topic}", {"compatibility": level})
    registry.register(topic, third, type_)


def test_a_subject_keeps_its_type(registry: RegistryProcess, topic: str) -> None:
    registry.register(topic, record(ID))
    refused = registry.try_register(topic, closed(id=TEXT), "JSON")
    assert refused.status == 409
    assert "SCHEMA_TYPE_CHANGED" in refused.body["message"]


def test_lenient_policy(registry: RegistryProcess, topic: str) -> None:
    registry.register(topic, opened(id=TEXT), "JSON")
    assert registry.try_register(topic, opened(id=TEXT, a=TEXT), "JSON").status == 409
    registry.request("PUT", f"/config/{topic}", {"compatibilityPolicy": "LENIENT"})
    registry.register(topic, opened(id=TEXT, a=TEXT), "JSON")


def test_groups_are_compared_among_themselves(registry: RegistryProcess, topic: str) -> None:
    registry.request("PUT", f"/config/{topic}", {"compatibilityGroup": "major"})
    one, two = ({"properties": {"major": number}} for number in "12")
    registry.register(topic, record(ID), metadata=one)
    refused = registry.try_register(topic, record(ID, UNIT), metadata=one)
    assert refused.status == 409
    registry.register(topic, record(ID, UNIT), metadata=two)


def test_force_skips_the_check(registry: RegistryProcess, topic: str) -> None:
    registry.register(topic, record(ID))
    assert registry.try_register(topic, record(UNIT), query="?force=true").status == 200
