"""The HTTP interface's parts: negotiation, routes, settings, documentation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest

from headwater.config import ConfigError
from headwater.http.answers import JSON
from headwater.http.errors import HttpError
from headwater.http.openapi import document
from headwater.http.request import Request
from headwater.http.routes import Router, split_path
from headwater.registry.config import RegistryConfig
from headwater.registry.errors import RegistryError
from headwater.registry.http.api import DEFAULT_JSON, INTERFACE, MEDIA, V1_JSON
from headwater.registry.http.contexts import enter_context
from headwater.registry.http.parameters import subject_of, version_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, V1_JSON),
        (b"", V1_JSON),
        (b"*/*", V1_JSON),
        (b"application/json", JSON),
        (b"application/*", V1_JSON),
        (b"application/vnd.schemaregistry+json", DEFAULT_JSON),
        (b"application/vnd.schemaregistry.v1+json, application/json; q=0.5", V1_JSON),
        (b"application/json, application/vnd.schemaregistry+json;q=0.1", JSON),
        (b"application/json;q=0, */*;q=0.1", V1_JSON),
        (b"text/html", None),
        (b"application/json;q=x", None),
    ],
)
def test_content_types_are_negotiated(accept: bytes | None, expected: str | None) -> None:
    assert MEDIA.negotiate(accept) == expected


def test_bodies_are_json_by_any_of_its_names() -> None:
    for kind in (None, b"", V1_JSON.encode(), b"application/json; charset=utf-8",
                 b"application/octet-stream"):  # fmt: skip
        assert MEDIA.takes(kind)
    assert not MEDIA.takes(b"text/xml")


@pytest.mark.parametrize(
    ("path", "rewritten", "query"),
    [
        ("/contexts/x/subjects/a/versions", ["subjects", ":.x:a", "versions"], {}),
        ("/contexts/.x/subjects/%3A.y%3Aa", ["subjects", ":.y:a"], {}),
        ("/contexts/:.x:/config", ["config", ":.x:"], {}),
        ("/contexts/x/mode/a", ["mode", ":.x:a"], {}),
        ("/contexts/./subjects/a", ["subjects", "a"], {}),
        ("/contexts/./config", ["config"], {}),
        ("/contexts/x/subjects", ["subjects"], {"subjectPrefix": [":.x:"]}),
        ("/contexts/x/schemas/ids/5", ["schemas", "ids", "5"], {"subject": [":.x:"]}),
        ("/contexts/x/compatibility/subjects/a/versions",
         ["compatibility", "subjects", ":.x:a", "versions"], {}),
        ("/contexts/x", ["contexts", "x"], {}),
        ("/subjects/contexts", ["subjects", "contexts"], {}),
    ],
)  # fmt: skip
def test_paths_in_a_context(path: str, rewritten: list[str], query: dict[str, list[str]]) -> None:
    request = Request("GET", split_path(path))
    enter_context(request)
    assert request.segments == rewritten
    assert request.query == query


def test_routes_are_found_or_refused() -> None:
    router = Router(INTERFACE.routes)
    request = Request("GET", split_path("/subjects/a%2Fb/versions/3"))
    assert router.find(request).path == "/subjects/{subject}/versions/{version}"
    assert (subject_of(request), version_of(request)) == ("a/b", 3)
    with pytest.raises(HttpError, match="405"):
        router.find(Request("PUT", ["subjects"]))
    with pytest.raises(HttpError, match="404"):
        router.find(Request("GET", ["nothing"]))


@pytest.mark.parametrize("text", ["0", "-2", "x", "", "2147483648", "1.5"])
def test_wrong_versions_are_refused(text: str) -> None:
    request = Request("GET", [], parameters={"version": text})
    with pytest.raises(RegistryError) as failure:
        version_of(request)
    assert failure.value.code == 42202


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 422), (b"  ", 422), (b"{", 400), (b"[]", 422), (b'{"schema":5}', 422),
     (b"\xff", 400), (b'{"unknown":' + b"[" * 100_000, 400)],
)  # fmt: skip
def test_wrong_bodies_are_refused(body: bytes, status: int) -> None:
    from headwater.registry.entities import RegisterRequest

    with pytest.raises(HttpError) as failure:
        Request("POST", [], body=body).decode(RegisterRequest)
    assert failure.value.status == status


def test_settings_have_confluents_names() -> None:
    settings = {
        "kafkastore.bootstrap.servers": "PLAINTEXT://a:1, SASL_SSL://b:2",
        "kafkastore.topic": "t",
        "kafkastore.timeout.ms": "500",
        "kafkastore.security.protocol": "SASL_SSL",
        "schema.compatibility.level": "full_transitive",
        "leader.eligibility": "False",
        "listeners": "http://0.0.0.0:8085,https://x:1",
    }
    config = RegistryConfig.from_settings(settings)
    assert config.bootstrap_servers == "a:1,b:2"
    assert (config.topic, config.timeout_s, config.compatibility_level) == (
        "t", 0.5, "FULL_TRANSITIVE",
    )  # fmt: skip
    assert not config.is_eligible
    assert (config.host, config.port) == ("0.0.0.0", 8085)
    assert config.client_settings()["security.protocol"] == "SASL_SSL"


@pytest.mark.parametrize(
    ("name", "value"),
    [("no.such.setting", "1"), ("kafkastore.timeout.ms", "0"), ("mode.mutability", "maybe"),
     ("schema.compatibility.level", "sideways"), ("listeners", "8081")],
)  # fmt: skip
def test_wrong_settings_are_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name.split(".")[0]):
        RegistryConfig.from_settings({name: value})


def test_tls_needs_both_of_its_files(tmp_path: Path) -> None:
    config = RegistryConfig(certificate_file=tmp_path)
    with pytest.raises(ConfigError, match="both"):
        config.check()


def test_every_route_is_documented() -> None:
    documented = json.loads(document(INTERFACE))
    paths = {
        (method.upper(), path)
        for path, operations in documented["paths"].items()
        for method in operations
    }
    assert paths == {(route.method, route.path) for route in INTERFACE.routes}
    names = [
        operation["operationId"]
        for operations in documented["paths"].values()
        for operation in operations.values()
    ]
    assert len(names) == len(set(names))
    used = set()

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if "$ref" in value:
                used.add(value["$ref"].removeprefix("#/components/schemas/"))
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(documented)
    assert used == set(documented["components"]["schemas"])
    for schema in documented["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema",
                                     **schema})  # fmt: skip
