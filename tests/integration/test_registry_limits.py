"""Schemas at and beyond all limits: a clear refusal, never a 500, and nothing half-registered."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.registry_fixtures import record
from tests.registry_process import RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def registry(bootstrap_servers: str) -> Iterator[RegistryProcess]:
    process = RegistryProcess(bootstrap_servers).start()
    process.register("first", record("R", "a"))  # it leads now
    yield process
    process.stop()


def position(registry: RegistryProcess) -> int:
    """How far the topic goes, as far as the registry, its only writer, has read it."""
    text = registry.request("GET", "/metrics").raw.decode()
    found = re.search(r"^headwater_registry_log_position ([0-9.e+]+)$", text, re.MULTILINE)
    assert found is not None
    return int(float(found[1]))


def nested(start: str, end: str, levels: int, core: str) -> str:
    return start * levels + core + end * levels


INVALID = {
    "AVRO": [
        "", "{", "null", "5", '"nope"', "[]x", '{"type":"record"}', "\ud800", "\x00",
        '{"type":"record","name":"R","fields":[{"name":"a","type":"R2"}]}',
        '{"type":"fixed","name":"F","size":99999999999999}',
        nested('{"type":"array","items":', "}", 1_000, '"int"'),
        nested('{"type":"array","items":', "}", 20_000, '"int"'),
        nested("[", "]", 100_000, ""),
    ],
    "JSON": [
        "", "{", "5", "[]", '"x"', '{"type":"nope"}', '{"$ref":"#/nowhere"}', "\x00",
        '{"$ref":"http://127.0.0.1:1/x.json"}', '{"properties":{"a":5}}', '{"pattern":5}',
        '{"multipleOf":0}', '{"enum":"a"}', '{"minimum":1e99999999}',
        nested('{"not":', "}", 1_000, "true"),
        nested('{"not":', "}", 20_000, "true"),
        nested('{"items":[', "]}", 20_000, "true"),
    ],
    "PROTOBUF": [
        "nope", "message M {", 'syntax = "proto9";', "\x00", "message M { X x = 1; }",
        "message M { int32 a = 1; int32 b = 1; }",
        'import "nothing.proto"; message M { N n = 1; }',
        "message M { int32 a = 999999999; }", "/*", "message M { string s = 1 [default = 5]; }",
        nested("message M { ", "}", 1_000, ""),
        nested("message M { ", "}", 20_000, ""),
        "option a = " + nested("{b:", "}", 20_000, "1") + ";",
    ],
}  # fmt: skip
CASES = [(type_, text) for type_, texts in INVALID.items() for text in texts]


@pytest.mark.parametrize(
    ("type_", "text"), CASES, ids=[f"{type_}-{number}" for number, (type_, _) in enumerate(CASES)]
)
def test_invalid_schemas(registry: RegistryProcess, topic: str, type_: str, text: str) -> None:
    if not text and type_ == "PROTOBUF":
        return
    # A leader that takes its first write leaves a mark of its own in the topic.
    assert registry.try_register(f"{topic}-valid", '"string"', "AVRO").status == 200
    before = position(registry)
    answer = registry.try_register(topic, text, type_)
    assert 400 <= answer.status < 500, answer
    assert answer.body["error_code"] in (42201, 400, 422), answer.body
    assert answer.body["message"]
    checked = registry.request(
        "POST", f"/compatibility/subjects/{topic}/versions?verbose=true",
        {"schema": text, "schemaType": type_},
    )  # fmt: skip
    assert checked.status < 500
    looked_up = registry.request(
        "POST", f"/subjects/{topic}", {"schema": text, "schemaType": type_}
    )
    assert looked_up.status < 500
    assert topic not in registry.get("/subjects?deleted=true")
    assert position(registry) == before


def wide_avro(size: int) -> str:
    fields: list[dict[str, Any]] = []
    length = 0
    while length < size:
        fields.append({"name": f"field_{len(fields):07}", "type": ["null", "string"],
                       "default": None})  # fmt: skip
        length += len(json.dumps(fields[-1])) + 2
    return json.dumps({"type": "record", "name": "Wide", "fields": fields})


def wide_json(size: int) -> str:
    properties = {f"property_{number:07}": {"type": "string"} for number in range(size // 45)}
    return json.dumps({"type": "object", "properties": properties})


def wide_protobuf(size: int) -> str:
    fields = " ".join(
        f"string field_{number:07} = {number};"
        for number in range(1, size // 36)
        if not 19_000 <= number <= 19_999  # reserved by Protobuf itself
    )
    return f'syntax = "proto3"; message Wide {{ {fields} }}'


WIDE = {"AVRO": wide_avro, "JSON": wide_json, "PROTOBUF": wide_protobuf}


@pytest.mark.parametrize("type_", WIDE)
def test_large_schemas_are_kept(registry: RegistryProcess, topic: str, type_: str) -> None:
    text = WIDE[type_](400_000)
    id_ = registry.register(topic, text, type_)
    assert len(registry.get(f"/schemas/ids/{id_}")["schema"]) > 300_000
    assert registry.register(topic, text, type_) == id_
    checked = registry.request(
        "POST", f"/compatibility/subjects/{topic}/versions/latest",
        {"schema": text, "schemaType": type_},
    )  # fmt: skip
    assert checked.body == {"is_compatible": True}


@pytest.mark.parametrize("type_", WIDE)
def test_a_megabyte_is_too_much_for_a_record(
    registry: RegistryProcess, topic: str, type_: str
) -> None:
    before = position(registry)
    answer = registry.try_register(topic, WIDE[type_](1_300_000), type_)
    assert (answer.status, answer.body["error_code"]) == (422, 42209), answer
    assert "max.message.bytes" in answer.body["message"]
    assert topic not in registry.get("/subjects?deleted=true")
    assert position(registry) == before
    registry.register(topic, record("R", "a"))  # and everything goes on


def test_recursive_schemas(registry: RegistryProcess, topic: str) -> None:
    node = {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "next", "type": ["null", "Node"], "default": None}],
    }
    registry.register(topic, node)
    more = {**node, "fields": [*node["fields"], {"name": "v", "type": "int", "default": 0}]}
    registry.register(topic, more)
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    registry.register(f"{topic}-json", tree, "JSON")
    registry.register(f"{topic}-json", {**tree, "title": "Tree"}, "JSON")
    message = 'syntax = "proto3"; message M { repeated M children = 1; %s }'
    registry.register(f"{topic}-proto", message % "", "PROTOBUF")
    registry.register(f"{topic}-proto", message % "string s = 2;", "PROTOBUF")


def test_references_in_a_circle_are_impossible(registry: RegistryProcess, topic: str) -> None:
    """What is referred to has to be there first, so that the circle can only be tried."""
    registry.register(f"{topic}-a", record("A", "x"))
    circle = [{"name": "A", "subject": f"{topic}-a", "version": 2}]
    answer = registry.try_register(f"{topic}-a", record("A", "x", "y"), references=circle)
    assert answer.body["error_code"] == 42201


def test_many_references(registry: RegistryProcess, topic: str) -> None:
    """A diamond of references is resolved once each, however many ways lead to it."""
    previous: list[dict[str, Any]] = []
    for level in range(12):
        fields = [
            {"name": f"f{number}", "type": each["name"]} for number, each in enumerate(previous)
        ]
        current = []
        for side in "lr":
            name = f"N{level}{side}"
            schema = {"type": "record", "name": name, "fields": fields}
            registry.register(f"{topic}-{name}", schema, references=previous)
            current.append({"name": name, "subject": f"{topic}-{name}", "version": 1})
        previous = current
    whole = registry.get(f"/subjects/{topic}-N11l/versions/1?format=resolved")["schema"]
    assert whole.count('"name":"N0l"') == 1


def test_what_is_too_much_work_to_compare_is_refused(registry: RegistryProcess) -> None:
    def union(field: str) -> list[dict[str, Any]]:
        return [record(f"R{number}", field) for number in range(1_000)]

    registry.register("bomb", union("a"))
    before = position(registry)
    refused = registry.try_register("bomb", union("b"))
    assert refused.status == 422
    assert refused.body["error_code"] == 42201
    assert "too much work" in refused.body["message"]
    assert position(registry) == before
