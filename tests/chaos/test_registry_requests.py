"""Nonsense at every route: always an answer that blames the request, and never the server."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from tests.chaos.seeds import seeds
from tests.registry_process import RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.broker_process import BrokerProcess

pytestmark = pytest.mark.chaos

REQUESTS = 300
NAMES = ["t", "t", ":.x:t", ":.x:", ":.:", ":*:", "__GLOBAL", "..", "%00", "é", "a/b", " ", "-1"]
NUMBERS = ["1", "latest", "-1", "0", "x", str(2**40), "1"]
WORDS = [
    "type", "name", "fields", "items", "symbols", "size", "default", "aliases", "record", "enum",
    "fixed", "array", "map", "string", "int", "null", "logicalType", "decimal", "properties",
    "required", "additionalProperties", "$ref", "#", "#/a", "a", "allOf", "not", "const", "object",
    "references", "subject", "version", "", "\ud800", "é", "READONLY", "FULL", "AVRO",
]  # fmt: skip
QUERIES = [
    "", "", "?normalize=true", "?verbose=true", "?force=true", "?offset=-1&limit=x",
    "?format=resolved", "?deleted=true&permanent=true", "?key=a", "?defaultToGlobal=x",
]  # fmt: skip


@pytest.fixture(scope="module")
def registry(broker: BrokerProcess) -> Iterator[RegistryProcess]:
    process = RegistryProcess(broker.bootstrap_servers).start()
    yield process
    process.stop()  # which insists that no traceback was printed


@pytest.mark.parametrize("seed", seeds(2))
def test_no_request_is_the_servers_fault(registry: RegistryProcess, seed: int) -> None:
    chance = random.Random(seed)
    routes = [
        (method.upper(), path)
        for path, methods in registry.get("/openapi.json")["paths"].items()
        for method in methods
    ]
    for number in range(REQUESTS):
        method, path = chance.choice(routes)
        path = re.sub(r"\{(\w+)\}", lambda match: _part(chance, match[1]), path)
        body = json.dumps(_body(chance)).encode() if method in ("POST", "PUT") else None
        answer = registry.request(method, path + chance.choice(QUERIES), body)
        assert answer.status < 500, (seed, number, method, path, body, answer)
        if answer.status >= 400:
            assert answer.body["error_code"], answer
            assert answer.body["message"], answer
        if "/mode" in path and method != "GET":
            # Else a read-only registry would have the same answer for all that follows.
            registry.request("PUT", "/mode?force=true", {"mode": "READWRITE"})
            registry.request("DELETE", "/mode?recursive=true")
    registry.register(f"last-{seed}", {"type": "record", "name": "Last", "fields": []})


def _part(chance: random.Random, parameter: str) -> str:
    choices = NUMBERS if parameter in ("id", "version") else NAMES
    return quote(chance.choice(choices), safe=chance.choice(["", ":"]))


def _body(chance: random.Random) -> Any:
    if chance.random() < 0.1:
        return _value(chance, 0)
    some = {
        "schema": _schema(chance),
        "schemaType": chance.choice(["AVRO", "JSON", "PROTOBUF", _value(chance, 2)]),
        "references": chance.choice(
            [[{"name": "a", "subject": "t", "version": chance.choice([1, -1, 0, 2**40, "x"])}],
             _value(chance, 1)]
        ),
        "metadata": chance.choice([{"properties": {"a": "b"}}, _value(chance, 1)]),
        "ruleSet": _value(chance, 1),
        "id": chance.choice([1, -5, 2**40, "x", None]),
        "version": chance.choice([1, -5, 2**40, "x", None]),
        "compatibility": chance.choice(["FULL", "x", None, 5]),
        "mode": chance.choice(["READWRITE", "x", None, 5, "import"]),
    }  # fmt: skip
    return {
        name: value for name, value in some.items() if name == "schema" or chance.random() < 0.3
    }


def _schema(chance: random.Random) -> Any:
    fields = [
        {"name": chance.choice(WORDS), "type": _value(chance, 2)}
        for _ in range(chance.randint(0, 3))
    ]
    proto = chance.choice(
        ["string a = 1;", "repeated M m = 1;", "map<string, N> x = 2;", "oneof o {"]
    )
    return chance.choice(
        [
            json.dumps({"type": "record", "name": chance.choice(WORDS), "fields": fields}),
            json.dumps({"type": "object", "properties": {chance.choice(WORDS): _value(chance, 2)}}),
            f'syntax = "proto3"; message M {{ {proto} }}',
            json.dumps(_value(chance, 0)),
            _value(chance, 1),
        ]
    )


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.random()
    if depth > 3 or kind < 0.45:
        return chance.choice([None, True, 0, -1, 2**31, 2**63, 1e308, *chance.choices(WORDS, k=4)])
    if kind < 0.65:
        return [_value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    return {chance.choice(WORDS): _value(chance, depth + 1) for _ in range(chance.randint(0, 5))}
