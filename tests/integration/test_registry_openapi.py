"""The OpenAPI document against the server: every route is asked, every answer is as it says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from tests.integration.registry_fixtures import record
from tests.registry_process import RegistryProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.http_process import Response


SCHEMA = {"schema": json.dumps(record("R", "a"))}
NOTED = {
    "schema": json.dumps(record("R", "a")),
    "metadata": {"tags": {"R.a": ["PII"]}, "properties": {"owner": "ann"}, "sensitive": ["x"]},
    "ruleSet": {"domainRules": [{"name": "check", "kind": "CONDITION", "mode": "WRITE",
                                 "type": "CEL", "expr": "true", "params": {"a": "b"}}]},
}  # fmt: skip
USING = {
    "schema": '{"type":"array","items":"R"}',
    "references": [{"name": "R", "subject": "base", "version": 1}],
}
EVERYTHING = {
    "compatibility": "FULL", "normalize": True, "alias": "other", "compatibilityGroup": "g",
    "compatibilityPolicy": "STRICT", "validateFields": True, "defaultMetadata": NOTED["metadata"],
    "overrideRuleSet": NOTED["ruleSet"],
}  # fmt: skip

# In order: some need what others made. A route may be asked several times.
REQUESTS: list[tuple[str, str, str, Any, int]] = [
    ("GET", "/", "/", None, 200),
    ("POST", "/", "/", {}, 200),
    ("POST", "/subjects/{subject}/versions", "/subjects/base/versions", SCHEMA, 200),
    ("POST", "/subjects/{subject}/versions", "/subjects/noted/versions", NOTED, 200),
    ("POST", "/subjects/{subject}/versions", "/subjects/using/versions", USING, 200),
    ("POST", "/subjects/{subject}/versions", "/subjects/:.x:s/versions", SCHEMA, 200),
    ("POST", "/subjects/{subject}/versions", "/subjects/base/versions", {"schema": '"int"'}, 409),
    ("POST", "/subjects/{subject}/versions", "/subjects/base/versions", {"schema": "{"}, 422),
    ("POST", "/subjects/{subject}/versions", "/subjects/base/versions", b"{", 400),
    ("GET", "/subjects", "/subjects?deleted=true", None, 200),
    ("POST", "/subjects/{subject}", "/subjects/base", SCHEMA, 200),
    ("POST", "/subjects/{subject}", "/subjects/base", {"schema": '"long"'}, 404),
    ("GET", "/subjects/{subject}/metadata", "/subjects/noted/metadata?key=owner&value=ann", None,
     200),
    ("GET", "/subjects/{subject}/metadata", "/subjects/nobody/metadata", None, 404),
    ("GET", "/subjects/{subject}/versions", "/subjects/base/versions", None, 200),
    ("GET", "/subjects/{subject}/versions", "/subjects/nobody/versions", None, 404),
    ("GET", "/subjects/{subject}/versions/{version}", "/subjects/noted/versions/1", None, 200),
    ("GET", "/subjects/{subject}/versions/{version}", "/subjects/using/versions/1", None, 200),
    ("GET", "/subjects/{subject}/versions/{version}", "/subjects/base/versions/x", None, 422),
    ("GET", "/subjects/{subject}/versions/{version}/schema", "/subjects/base/versions/1/schema",
     None, 200),
    ("GET", "/subjects/{subject}/versions/{version}/referencedby",
     "/subjects/base/versions/1/referencedby", None, 200),
    ("GET", "/schemas", "/schemas?deleted=true", None, 200),
    ("GET", "/schemas/types", "/schemas/types", None, 200),
    ("GET", "/schemas/ids/{id}", "/schemas/ids/1?fetchMaxId=true&subject=base", None, 200),
    ("GET", "/schemas/ids/{id}", "/schemas/ids/99", None, 404),
    ("GET", "/schemas/ids/{id}/schema", "/schemas/ids/1/schema", None, 200),
    ("GET", "/schemas/ids/{id}/subjects", "/schemas/ids/1/subjects", None, 200),
    ("GET", "/schemas/ids/{id}/versions", "/schemas/ids/1/versions", None, 200),
    ("GET", "/schemas/guids/{guid}", "/schemas/guids/GUID", None, 200),
    ("GET", "/schemas/guids/{guid}", "/schemas/guids/nope", None, 404),
    ("GET", "/schemas/guids/{guid}/ids", "/schemas/guids/GUID/ids", None, 200),
    ("POST", "/compatibility/subjects/{subject}/versions",
     "/compatibility/subjects/base/versions?verbose=true", {"schema": '"int"'}, 200),
    ("POST", "/compatibility/subjects/{subject}/versions/{version}",
     "/compatibility/subjects/base/versions/1", SCHEMA, 200),
    ("POST", "/compatibility/subjects/{subject}/versions/{version}",
     "/compatibility/subjects/base/versions/9", SCHEMA, 404),
    ("GET", "/config", "/config", None, 200),
    ("PUT", "/config", "/config", {"compatibility": "BACKWARD"}, 200),
    ("PUT", "/config", "/config", {"compatibility": "X"}, 422),
    ("DELETE", "/config", "/config", None, 200),
    ("PUT", "/config/{subject}", "/config/all", EVERYTHING, 200),
    ("GET", "/config/{subject}", "/config/all", None, 200),
    ("GET", "/config/{subject}", "/config/none", None, 404),
    ("DELETE", "/config/{subject}", "/config/all", None, 200),
    ("GET", "/mode", "/mode", None, 200),
    ("PUT", "/mode", "/mode", {"mode": "READWRITE"}, 200),
    ("DELETE", "/mode", "/mode", None, 200),
    ("PUT", "/mode/{subject}", "/mode/base", {"mode": "READONLY"}, 200),
    ("GET", "/mode/{subject}", "/mode/base", None, 200),
    ("DELETE", "/mode/{subject}", "/mode/base", None, 200),
    ("DELETE", "/mode/{subject}", "/mode/base", None, 404),
    ("GET", "/contexts", "/contexts", None, 200),
    ("DELETE", "/contexts/{context}", "/contexts/x", None, 422),
    ("DELETE", "/contexts/{context}", "/contexts/unused", None, 204),
    ("GET", "/v1/metadata/id", "/v1/metadata/id", None, 200),
    ("GET", "/v1/metadata/version", "/v1/metadata/version", None, 200),
    ("GET", "/v1/metadata/deployment", "/v1/metadata/deployment", None, 200),
    ("DELETE", "/subjects/{subject}/versions/{version}", "/subjects/base/versions/1", None, 422),
    ("DELETE", "/subjects/{subject}/versions/{version}", "/subjects/noted/versions/1", None, 200),
    ("DELETE", "/subjects/{subject}", "/subjects/using", None, 200),
    ("DELETE", "/subjects/{subject}", "/subjects/nobody", None, 404),
]  # fmt: skip


@pytest.fixture(scope="module")
def registry(bootstrap_servers: str) -> Iterator[RegistryProcess]:
    process = RegistryProcess(bootstrap_servers).start()
    yield process
    process.stop()


def test_the_server_does_what_its_document_says(registry: RegistryProcess) -> None:
    document = registry.get("/openapi.json")
    asked = set()
    guid = ""
    for method, route, path, body, status in REQUESTS:
        answer = registry.request(method, path.replace("GUID", guid), body)
        assert answer.status == status, (method, path, answer)
        operation = document["paths"][route][method.lower()]
        check(document, operation, answer, (method, path))
        if isinstance(body, dict):
            sent = operation["requestBody"]["content"] if "requestBody" in operation else None
            if sent is not None and status == 200:
                validate(document, sent["application/json"]["schema"], body, (method, path))
        asked.add((method, route))
        if route == "/subjects/{subject}/versions" and not guid:
            guid = answer.body["guid"]
    documented = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }
    assert asked == documented


def check(document: Any, operation: Any, answer: Response, where: object) -> None:
    described = operation["responses"].get(str(answer.status))
    assert described is not None, f"{where}: {answer.status} is not documented"
    if "content" not in described:
        assert answer.raw == b"", where
        return
    kind = answer.headers["content-type"]
    assert kind in described["content"], where
    schema = described["content"][kind]["schema"]
    if schema["$ref"].endswith("/Text"):
        assert answer.raw, where
    else:
        validate(document, schema, answer.body, where)


def validate(document: Any, schema: Any, value: Any, where: object) -> None:
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema",
             "components": document["components"], **schema}  # fmt: skip
    errors = [error.message for error in jsonschema_rs.validator_for(whole).iter_errors(value)]
    assert not errors, (where, value, errors)


def test_query_parameters_are_documented(registry: RegistryProcess) -> None:
    document = registry.get("/openapi.json")
    names = {
        parameter["name"]
        for operations in document["paths"].values()
        for operation in operations.values()
        for parameter in operation["parameters"]
    }
    assert {"deleted", "permanent", "normalize", "verbose", "force", "defaultToGlobal"} <= names
