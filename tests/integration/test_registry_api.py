"""The REST interface as it is on the wire: codes, content types, modes, contexts, limits."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.registry_fixtures import record
from tests.registry_process import V1_JSON, RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def registry(bootstrap_servers: str) -> Iterator[RegistryProcess]:
    process = RegistryProcess(
        bootstrap_servers, ["--property", "max.request.bytes=3000000"]
    ).start()
    yield process
    process.stop()


def error(answer: Any) -> tuple[int, int]:
    assert set(answer.body) == {"error_code", "message"}, answer
    assert answer.body["message"]
    return answer.status, answer.body["error_code"]


def test_content_types(registry: RegistryProcess, topic: str) -> None:
    registry.register(topic, record("R", "a"))
    for accept, expected in (
        ("*/*", V1_JSON),
        ("*", V1_JSON),
        ("*/x", V1_JSON),
        ("application/json", "application/json"),
        ("application/vnd.schemaregistry+json", "application/vnd.schemaregistry+json"),
    ):
        answer = registry.request("GET", f"/subjects/{topic}/versions", headers={"Accept": accept})
        assert answer.headers["content-type"] == expected
    refused = registry.request("GET", "/subjects", headers={"Accept": "text/html"})
    assert error(refused) == (406, 406)
    wrong = registry.request("POST", f"/subjects/{topic}", b"x", {"Content-Type": "text/plain"})
    assert error(wrong) == (415, 415)
    for kind in ("application/json", "application/octet-stream", V1_JSON):
        sent = json.dumps({"schema": json.dumps(record("R", "a"))}).encode()
        again = registry.request(
            "POST", f"/subjects/{topic}/versions", sent, {"Content-Type": kind}
        )
        assert again.status == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/nothing", None, (404, 404)),
        ("PATCH", "/subjects", None, (405, 405)),
        ("GET", "/subjects/no-such-subject/versions", None, (404, 40401)),
        ("GET", "/subjects/no-such-subject/versions/1", None, (404, 40401)),
        ("GET", "/subjects/no-such-subject/versions/latest", None, (404, 40401)),
        ("GET", "/subjects/s/versions/x", None, (422, 42202)),
        ("GET", "/subjects/s/versions/0", None, (422, 42202)),
        ("GET", "/schemas/ids/999999", None, (404, 40403)),
        ("GET", "/schemas/ids/x", None, (404, 404)),
        ("GET", "/schemas/ids/999999/subjects", None, (404, 40403)),
        ("GET", "/schemas/ids/999999/versions", None, (404, 40403)),
        ("GET", "/schemas/ids/999999/schema", None, (404, 40403)),
        ("GET", "/schemas/guids/nonsense", None, (404, 40403)),
        ("GET", "/subjects?offset=x", None, (400, 400)),
        ("POST", "/subjects/s/versions", b"", (422, 422)),
        ("POST", "/subjects/s/versions", b"{", (400, 400)),
        ("POST", "/subjects/s/versions", {"schema": 5}, (422, 422)),
        ("POST", "/subjects/s/versions", {"schema": ""}, (422, 42201)),
        ("POST", "/subjects/s/versions", {}, (422, 42201)),
        ("POST", "/subjects/s/versions", {"schema": "x", "schemaType": "XML"}, (422, 42201)),
        ("POST", "/subjects/__GLOBAL/versions", {"schema": '"int"'}, (422, 42208)),
        ("POST", "/subjects/a%0Ab/versions", {"schema": '"int"'}, (422, 42208)),
        ("POST", "/subjects/s/versions", {"schema": '"int"', "id": 5}, (422, 42205)),
        ("POST", "/subjects/s/versions", {"schema": '"int"', "version": 5}, (422, 42201)),
        (
            "POST", "/subjects/s/versions",
            {"schema": '"int"', "ruleSet": {"domainRules": [{"name": "a"}]}}, (422, 42210),
        ),
        ("POST", "/compatibility/subjects/s/versions/3", {"schema": '"int"'}, (404, 40402)),
        ("POST", "/compatibility/subjects/s/versions/3x", {"schema": '"int"'}, (422, 42202)),
        ("POST", "/compatibility/subjects/s/versions", {"schema": "{"}, (422, 42201)),
        ("PUT", "/config", {"compatibility": "SIDEWAYS"}, (422, 42203)),
        ("PUT", "/config", {"compatibilityPolicy": "SIDEWAYS"}, (422, 42203)),
        ("PUT", "/config/s", {"defaultRuleSet": {"domainRules": [{}]}}, (422, 42210)),
        ("GET", "/config/no-such-subject", None, (404, 40408)),
        ("DELETE", "/config/no-such-subject", None, (404, 40401)),
        ("PUT", "/mode", {"mode": "SIDEWAYS"}, (422, 42204)),
        ("PUT", "/mode/s", {"mode": "FORWARD"}, (422, 42204)),
        ("GET", "/mode/no-such-subject", None, (404, 40409)),
        ("DELETE", "/mode/no-such-subject", None, (404, 40401)),
        ("DELETE", "/subjects/no-such-subject", None, (404, 40401)),
        ("DELETE", "/subjects/no-such-subject/versions/1", None, (404, 40401)),
        ("DELETE", "/subjects/:.:", None, (404, 40401)),
        ("DELETE", "/subjects/:.:?permanent=true", None, (404, 40401)),
        ("GET", "/contexts/a%3Ab/subjects", None, (400, 400)),
        # Half of a surrogate pair, which the message repeats.
        ("POST", "/subjects/s/versions", {"schema": json.dumps(record("\ud800"))}, (422, 42201)),
    ],
)  # fmt: skip
def test_errors(
    registry: RegistryProcess, method: str, path: str, body: Any, expected: tuple[int, int]
) -> None:
    assert error(registry.request(method, path, body)) == expected


def test_deletion_errors(registry: RegistryProcess, topic: str) -> None:
    registry.register(topic, record("R", "a"))
    path = f"/subjects/{topic}"
    assert error(registry.request("DELETE", f"{path}?permanent=true")) == (404, 40405)
    assert error(registry.request("DELETE", f"{path}/versions/1?permanent=true")) == (404, 40407)
    assert error(registry.request("DELETE", f"{path}/versions/2")) == (404, 40402)
    assert registry.request("DELETE", f"{path}/versions/latest").body == 1
    # Confluent's clients compare the texts, which lack a blank.
    for deleted, code, what in (
        (f"{path}/versions/1", 40406, f"Subject '{topic}' Version 1"),
        (path, 40404, f"Subject '{topic}'"),
    ):
        answer = registry.request("DELETE", deleted)
        assert error(answer) == (404, code)
        assert answer.body["message"] == (
            f"{what} was soft deleted.Set permanent=true to delete permanently"
        )
    assert registry.request("DELETE", f"{path}?permanent=true").body == [1]


def test_a_deletion_takes_settings_along(registry: RegistryProcess, topic: str) -> None:
    registry.register(topic, record("R", "a"))
    registry.request("PUT", f"/config/{topic}", {"compatibility": "FULL"})
    registry.request("DELETE", f"/subjects/{topic}")
    assert registry.get(f"/config/{topic}")["compatibilityLevel"] == "FULL"
    registry.request("DELETE", f"/subjects/{topic}?permanent=true")
    assert error(registry.request("GET", f"/config/{topic}")) == (404, 40408)


def test_strange_names(registry: RegistryProcess, topic: str) -> None:
    name = f"{topic}/ü:? &%x"
    encoded = f"{topic}%2F%C3%BC%3A%3F%20%26%25x"
    id_ = registry.register(encoded, record("R", "a"))
    assert name in registry.get("/subjects")
    assert registry.get(f"/subjects/{encoded}/versions/1")["subject"] == name
    assert registry.get(f"/schemas/ids/{id_}?subject={encoded}")["subject"] == name
    assert registry.request("DELETE", f"/subjects/{encoded}").body == [1]


def test_listing_and_paging(registry: RegistryProcess, topic: str) -> None:
    for number in range(5):
        registry.register(f"{topic}-{number}", record("Paged", "a"))
    path = f"/subjects?subjectPrefix={topic}"
    assert registry.get(path) == [f"{topic}-{number}" for number in range(5)]
    assert registry.get(f"{path}&offset=1&limit=2") == [f"{topic}-1", f"{topic}-2"]
    schemas = registry.get(f"/schemas?subjectPrefix={topic}&limit=3")
    assert [each["subject"] for each in schemas] == [f"{topic}-{number}" for number in range(3)]
    registry.register(f"{topic}-0", record("Paged"))
    latest = registry.get(f"/schemas?subjectPrefix={topic}-0&latestOnly=true")
    assert [each["version"] for each in latest] == [2]
    id_ = schemas[0]["id"]
    assert registry.get(f"/schemas/ids/{id_}/subjects?limit=2&offset=3") == [
        f"{topic}-3",
        f"{topic}-4",
    ]


def test_answers_change_when_things_do(registry: RegistryProcess, topic: str) -> None:
    """Answers are remembered, but never too long."""
    path = f"/subjects/{topic}/versions"
    for version in range(1, 6):
        registry.register(topic, record("R", *[f"f{n}" for n in range(5 - version)]))
        assert registry.get(path) == list(range(1, version + 1))
        assert registry.get(f"{path}/latest")["version"] == version


def test_texts_are_given_as_they_are(registry: RegistryProcess, topic: str) -> None:
    text = 'syntax = "proto3";\n\nmessage M {\n  string a = 1;\n}\n'
    id_ = registry.register(topic, text, "PROTOBUF")
    for path in (f"/schemas/ids/{id_}/schema", f"/subjects/{topic}/versions/1/schema"):
        assert registry.request("GET", path).raw.decode() == text
    serialized = registry.get(f"/schemas/ids/{id_}?format=serialized")["schema"]
    assert registry.try_register(f"{topic}-2", serialized, "PROTOBUF").status == 200


def test_modes_and_imports(registry: RegistryProcess, topic: str) -> None:
    context = f":.{topic}:"
    assert registry.request("PUT", f"/mode/{context}", {"mode": "import"}).body == {
        "mode": "IMPORT"
    }
    assert registry.get(f"/mode/{context}s?defaultToGlobal=true") == {"mode": "IMPORT"}
    plain = registry.try_register(f"{context}s", record("R", "a"))
    assert error(plain) == (422, 42205)
    registry.register(f"{context}s", record("R", "a"), id=77, version=5)
    assert registry.get(f"/subjects/{context}s/versions") == [5]
    assert registry.get(f"/schemas/ids/77?subject={context}")["schema"]
    # An id belongs to one schema, and an import does not look at compatibility.
    other = registry.try_register(f"{context}t", record("Other"), id=77, version=1)
    assert error(other) == (422, 42205)
    registry.register(f"{context}s", record("R", "b"), id=80, version=9)
    registry.request("PUT", f"/mode/{context}", {"mode": "READWRITE"})
    assert registry.register(f"{context}new", record("New")) == 81
    again = registry.request("PUT", f"/mode/{context}", {"mode": "IMPORT"})
    assert error(again) == (422, 42205)
    forced = registry.request("PUT", f"/mode/{context}?force=true", {"mode": "IMPORT"})
    assert forced.status == 200
    assert registry.request("DELETE", f"/mode/{context}").body == {"mode": "IMPORT"}


def test_forward_is_a_mode_of_everything(registry: RegistryProcess, topic: str) -> None:
    try:
        assert registry.request("PUT", "/mode", {"mode": "FORWARD"}).body == {"mode": "FORWARD"}
        assert registry.get("/mode") == {"mode": "FORWARD"}
        assert registry.get(f"/mode/{topic}?defaultToGlobal=true") == {"mode": "FORWARD"}
        assert error(registry.try_register(topic, record("F"))) == (422, 42205)
        assert registry.register(topic, record("F"), id=90_000, version=1) == 90_000
    finally:
        assert registry.request("DELETE", "/mode").body == {"mode": "FORWARD"}
    assert registry.register(f"{topic}-next", record("Next")) == 90_001


def test_importing_starts_from_nothing(registry: RegistryProcess, topic: str) -> None:
    context = f":.{topic}:"
    registry.register(f"{context}s", record("R", "a"))
    registry.request("DELETE", f"/subjects/{context}s")
    assert registry.request("PUT", f"/mode/{context}", {"mode": "IMPORT"}).status == 200
    assert registry.get(f"/subjects?subjectPrefix={context}&deleted=true") == []


def test_read_only_subjects(registry: RegistryProcess, topic: str) -> None:
    id_ = registry.register(topic, record("R", "a"))
    registry.request("PUT", f"/mode/{topic}", {"mode": "READONLY"})
    assert registry.register(topic, record("R", "a")) == id_  # nothing has to be written for it
    for method, path, body in (
        ("POST", f"/subjects/{topic}/versions", {"schema": '"int"'}),
        ("DELETE", f"/subjects/{topic}", None),
        ("DELETE", f"/subjects/{topic}/versions/1", None),
        ("PUT", f"/config/{topic}", {"compatibility": "NONE"}),
    ):
        assert error(registry.request(method, path, body)) == (422, 42205)


def test_modes_of_a_whole_context(registry: RegistryProcess, topic: str) -> None:
    context = f":.{topic}:"
    for name in ("a", "b"):
        registry.request("PUT", f"/mode/{context}{name}", {"mode": "READONLY"})
    assert registry.request("DELETE", f"/mode/{context}?recursive=true").status == 200
    assert error(registry.request("GET", f"/mode/{context}a")) == (404, 40409)


def test_contexts(registry: RegistryProcess, topic: str) -> None:
    prefix = f"/contexts/{topic}"
    registry.register(f":.{topic}:orders", record("R", "a"))
    assert registry.get(f"{prefix}/subjects") == [f":.{topic}:orders"]
    assert registry.get(f"{prefix}/subjects/orders/versions") == [1]
    assert registry.get(f"{prefix}/schemas/ids/1")["subject"] == f":.{topic}:orders"
    assert registry.get(f"{prefix}/schemas")[0]["id"] == 1
    put = registry.request("PUT", f"{prefix}/config", {"compatibility": "NONE"})
    assert put.body == {"compatibility": "NONE"}
    assert registry.get(f"/config/:.{topic}:") == {"compatibilityLevel": "NONE"}
    checked = registry.request(
        "POST", f"{prefix}/compatibility/subjects/orders/versions",
        {"schema": json.dumps(record("Other", "b"))},
    )  # fmt: skip
    assert checked.body == {"is_compatible": True}
    # A name without a context is looked for in all of them.
    assert registry.get("/subjects/orders/versions/1")["subject"] == f":.{topic}:orders"
    assert f".{topic}" in registry.get("/contexts")
    assert registry.get(f"/contexts?contextPrefix=.{topic}") == [f".{topic}"]
    assert error(registry.request("DELETE", prefix)) == (422, 42211)
    for query in ("", "?permanent=true"):
        registry.request("DELETE", f"{prefix}/subjects/orders{query}")
    assert registry.request("DELETE", prefix).status == 204
    assert f".{topic}" not in registry.get("/contexts")


def test_references_in_a_context(registry: RegistryProcess, topic: str) -> None:
    context = f":.{topic}:"
    registry.register(f"{context}item", record("Item", "a"))
    reference = {"name": "Item", "subject": "item", "version": -1}
    schema = {"type": "array", "items": "Item"}
    registry.register(f"{context}list", schema, references=[reference])
    path = f"/subjects/{context}list/versions/1"
    # The latest version is what it was then.
    assert registry.get(path)["references"] == [{**reference, "version": 1}]
    qualified = registry.get(f"{path}?referenceFormat=qualified")["references"]
    assert qualified == [{"name": "Item", "subject": f"{context}item", "version": 1}]
    assert registry.get(f"/subjects/{context}item/versions/1/referencedby") == [2]


def test_references_that_are_written_out(registry: RegistryProcess, topic: str) -> None:
    item = record("Item", "a")
    registry.register(f"{topic}-item", item)
    reference = [{"name": "Item", "subject": f"{topic}-item", "version": 1}]
    id_ = registry.register(topic, {"type": "array", "items": "Item"}, references=reference)
    assert registry.register(topic, {"type": "array", "items": item}) == id_


def test_normalizing_sorts_references(registry: RegistryProcess, topic: str) -> None:
    references = []
    for name in ("B", "A"):
        registry.register(f"{topic}-{name}", record(name, "x"))
        references.append({"name": name, "subject": f"{topic}-{name}", "version": 1})
    query = "?normalize=true"
    first = registry.try_register(topic, ["A", "B"], query=query, references=references)
    second = registry.try_register(topic, ["A", "B"], query=query, references=references[::-1])
    assert first.body["id"] == second.body["id"]
    assert [each["name"] for each in second.body["references"]] == ["A", "B"]
    plain = registry.try_register(topic, ["A", "B"], references=references)
    assert plain.body["version"] == 2


@pytest.mark.parametrize("type_", ["JSON", "PROTOBUF"])
def test_references_in_other_formats(registry: RegistryProcess, topic: str, type_: str) -> None:
    texts = {
        "JSON": ('{"type":"object"}', '{"$ref":"item"}'),
        "PROTOBUF": (
            'syntax = "proto3"; package p; message Item { string a = 1; }',
            'syntax = "proto3"; import "item"; message List { repeated p.Item items = 1; }',
        ),
    }
    item, using = texts[type_]
    registry.register(f"{topic}-item", item, type_)
    refused = registry.try_register(topic, using, type_)
    assert error(refused) == (422, 42201)
    reference = [{"name": "item", "subject": f"{topic}-item", "version": 1}]
    registry.register(topic, using, type_, references=reference)


def test_reserved_fields(registry: RegistryProcess, topic: str) -> None:
    registry.request("PUT", f"/config/{topic}", {"validateFields": True})
    reserved = {"properties": {"confluent:reserved": "secret"}}
    registry.register(topic, record("R", "a"), metadata=reserved)
    conflict = registry.try_register(topic, record("R", "secret"), metadata=reserved)
    assert conflict.status == 409
    assert "FIELD_CONFLICTS_WITH_RESERVED_FIELD" in conflict.body["message"]
    named = registry.try_register(f"{topic}-2", record("R", "a"))
    assert named.status == 200


def test_server_metadata(registry: RegistryProcess) -> None:
    scope = registry.get("/v1/metadata/id")["scope"]
    assert scope["clusters"]["schema-registry-cluster"] == "schema-registry"
    assert scope["clusters"]["kafka-cluster"]
    assert registry.get("/v1/metadata/version")["version"]
    assert registry.get("/") == {}


def test_metrics(registry: RegistryProcess, topic: str) -> None:
    registry.register(topic, record("R", "a"))
    text = registry.request("GET", "/metrics").raw.decode()
    assert "headwater_registry_leader 1.0" in text
    assert 'headwater_registry_schemas{deleted="false",type="AVRO"}' in text
    route = 'method="POST",route="/subjects/{subject}/versions",status="200"'
    assert f"headwater_registry_requests_total{{{route}}}" in text


def test_requests_that_are_too_large(registry: RegistryProcess) -> None:
    large = {"schema": "x" * 3_100_000}
    assert error(registry.request("POST", "/subjects/s/versions", large)) == (413, 413)
    with socket.create_connection(("127.0.0.1", registry.port)) as connection:
        connection.sendall(
            b"POST /subjects/s/versions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        answer = b""
        try:
            for _ in range(80):
                connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        except OSError:
            pass  # it was told already, and hung up
        while b"413" not in answer:
            received = connection.recv(65536)
            assert received
            answer += received
    assert registry.get("/") == {}


def test_rubbish_on_the_socket(registry: RegistryProcess) -> None:
    for rubbish in (b"\x00" * 100, b"GET\r\n\r\n", b"\xff\xfe / HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", registry.port)) as connection:
            connection.sendall(rubbish)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1000)
    for path in ("/subjects/%ff", "/subjects/%fe/versions", "/subjects?subjectPrefix=%ff"):
        answer = registry.request("GET", path)  # were they taken as text, they would be the same
        assert (answer.status, answer.body["error_code"]) == (400, 400)
    assert registry.get("/") == {}
    assert "Traceback" not in registry.text


def test_rules_come_back_as_they_were_sent(registry: RegistryProcess, topic: str) -> None:
    """They are kept for clients, which follow them; the registry itself does not."""
    rule = {
        "name": "encrypt",
        "doc": "what it is for",
        "kind": "TRANSFORM",
        "mode": "WRITEREAD",
        "type": "ENCRYPT",
        "tags": ["PII"],
        "params": {"encrypt.kek.name": "k"},
        "expr": "true",
        "onSuccess": "NONE,NONE",
        "onFailure": "ERROR,NONE",
        "disabled": True,
    }
    upgrade = {
        "name": "upgrade",
        "kind": "TRANSFORM",
        "mode": "UPGRADE",
        "type": "JSONATA",
        "expr": "$",
        "disabled": False,
    }
    rule_set = {"migrationRules": [upgrade], "domainRules": [rule]}
    id_ = registry.register(topic, record("Ruled", "a"), ruleSet=rule_set)
    for path in (
        f"/schemas/ids/{id_}",
        f"/subjects/{topic}/versions/latest",
        f"/subjects/{topic}/versions/1",
    ):
        assert registry.get(path)["ruleSet"] == rule_set
    body = {"schema": json.dumps(record("Ruled", "a")), "ruleSet": rule_set}
    found = registry.request("POST", f"/subjects/{topic}", body)
    assert found.body["ruleSet"] == rule_set
    # The same schema under other rules is another one.
    other = registry.register(topic, record("Ruled", "a"), ruleSet={"domainRules": [rule]})
    assert other != id_
    nameless = {"domainRules": [{"type": "CEL"}]}
    refused = registry.try_register(topic, record("Ruled", "a"), ruleSet=nameless)
    assert (refused.status, refused.body["error_code"]) == (422, 42210), refused
