"""Rules of services: what they mean, what is wrong with a file of them, and who is asked."""

from __future__ import annotations

import contextlib
import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
from tests.docs_page import ROOT, blocks
from tests.unit.http.running_app import RunningApp, app_of

from headwater.connect.worker.http import rights as connect_rights
from headwater.connect.worker.http.api import INTERFACE as CONNECT
from headwater.http.errors import HttpError, StartError
from headwater.http.principals import Principal
from headwater.http.request import Request
from headwater.http.rights import Operation, ResourceType, Rights, administers
from headwater.logs.levels import set_level
from headwater.registry.http.api import INTERFACE as REGISTRY
from headwater.registry.http.rights import authorize

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.http.authentication import Credentials
    from headwater.http.routes import Route

ANN, EVE = Principal("ann"), Principal("eve")
SUBJECT, CONNECTOR = ResourceType.SUBJECT, ResourceType.CONNECTOR


def rule(**fields: str) -> dict[str, str]:
    return {
        "principal": "User:ann", "resourceType": "SUBJECT", "name": "orders", "operation": "READ",
        **fields,
    }  # fmt: skip


def rights_of(folder: Path, *rules: Any) -> Rights:
    path = folder / "rules.json"
    path.write_text(json.dumps(list(rules)))
    return Rights.from_file(path)


def test_rules_are_literal_prefixed_or_about_all_and_a_denial_wins(tmp_path: Path) -> None:
    rights = rights_of(
        tmp_path,
        rule(operation="write"),
        rule(name="staging-", patternType="PREFIXED", operation="ADMIN"),
        rule(name="staging-secret", permission="DENY", operation="WRITE"),
        rule(principal="User:*", name="*", operation="READ"),
        rule(principal="User:eve", name="staging-", patternType="PREFIXED", permission="DENY"),
    )

    def may(who: Principal, name: str) -> list[str]:
        return [each.name for each in Operation if rights.allow(who, each, SUBJECT, name)]

    assert may(ANN, "orders") == ["READ", "WRITE"]
    assert may(ANN, "orders-2") == ["READ"]
    assert may(ANN, "staging-1") == ["READ", "WRITE", "ADMIN"]
    assert may(ANN, "staging-secret") == ["READ"]
    assert may(EVE, "orders") == ["READ"]
    assert may(EVE, "staging-1") == []
    assert may(ANN, "*") == ["READ"]
    assert not rights.allow(ANN, Operation.READ, CONNECTOR, "orders")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"principal": "ann"}, "rule 2: principal is 'ann', and must be written as User:NAME"),
        ({"operation": "FLY"}, "operation is 'FLY', and must be one of READ, WRITE, ADMIN"),
        ({"resourceType": "TOPIC"}, "resourceType is 'TOPIC'"),
        ({"patternType": "MATCH"}, "patternType is 'MATCH'"),
        ({"name": ""}, "it has no name of a resource"),
        ({"host": "*"}, "unknown field 'host'"),
    ],
)
def test_a_wrong_rule_is_named(tmp_path: Path, fields: dict[str, str], complaint: str) -> None:
    with pytest.raises(StartError, match=complaint):
        rights_of(tmp_path, rule(), rule(**fields))


def test_a_file_that_holds_no_rules(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"authorization\.rules\.file: .*No such file"):
        Rights.from_file(tmp_path / "nowhere.json")
    for text, complaint in (("{", "is not JSON"), ("{}", "is no list of rules"), ("[1]", "rule 1")):
        (tmp_path / "rules.json").write_text(text)
        with pytest.raises(StartError, match=complaint):
            Rights.from_file(tmp_path / "rules.json")


def test_the_rules_of_the_page_are_rules(tmp_path: Path) -> None:
    (page,) = [each for each in blocks(ROOT / "docs/security.md", "json") if "SUBJECT" in each]
    rights = rights_of(tmp_path, *json.loads(page))
    assert rights.allow(ANN, Operation.WRITE, SUBJECT, "orders-value")
    assert rights.allow(ANN, Operation.ADMIN, CONNECTOR, "orders-sink")
    assert rights.allow(EVE, Operation.READ, ResourceType.STREAM, "ORDERS")
    assert not rights.allow(EVE, Operation.READ, SUBJECT, "orders-value")


class Asked(Rights):
    """Notes what is asked, and refuses all."""

    def __init__(self) -> None:
        super().__init__(())
        self.asked: list[str] = []

    def allow(
        self, principal: Principal, operation: Operation, resource_type: ResourceType, name: str
    ) -> bool:
        self.asked.append(f"{operation.name} {resource_type.name} {name}")
        return False


def asked_by(route: Route, check: Any) -> list[str]:
    rights = Asked()
    given = {part[1:-1]: "x" for part in route.segments if part.startswith("{")}
    request = Request(route.method, [], parameters=given, rights=rights, body=b'{"name": "x"}')
    with contextlib.suppress(HttpError):
        check(route, request)
        assert not rights.asked, "a refusal goes unheeded"
    return rights.asked


def test_every_route_of_connect_asks() -> None:
    asked = {
        f"{route.method} {route.path}": asked_by(route, connect_rights.authorize)
        for route in CONNECT.routes
    }
    assert [route for route, rights in asked.items() if not rights] == [
        "GET /",
        "GET /connectors",  # a list of those that may be read
        "GET /connector-plugins",
        "GET /connector-plugins/{plugin}/config",
    ]
    one = "/connectors/{connector}"
    assert asked["POST /connectors"] == ["ADMIN CONNECTOR x"]
    assert asked[f"PUT {one}/config"] == asked[f"DELETE {one}"] == ["ADMIN CONNECTOR x"]
    assert asked[f"PUT {one}/pause"] == asked[f"POST {one}/restart"] == ["WRITE CONNECTOR x"]
    assert asked[f"DELETE {one}/offsets"] == ["ADMIN CONNECTOR x"]
    # What tries connections and reads what a configuration refers to, as a connector would.
    validate = "PUT /connector-plugins/{plugin}/config/validate"
    assert asked[validate] == ["ADMIN CONNECTOR x"]
    assert asked[f"GET {one}/status"] == ["READ CONNECTOR x"]


class ByHeader:
    """Takes everybody for who they say they are."""

    challenge = "Basic"

    def known(self, credentials: Credentials) -> Principal | None:
        return Principal((credentials.authorization or b"nobody").decode())

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        return self.known(credentials)


def test_levels_of_loggers_are_set_by_who_may_do_everything(tmp_path: Path) -> None:
    connectors = {"resourceType": "CONNECTOR", "operation": "ADMIN"}
    rights = rights_of(
        tmp_path,
        rule(principal="User:ann", name="*", **connectors),
        rule(principal="User:bob", name="a", patternType="PREFIXED", **connectors),
        rule(principal="User:eve", name="*", operation="ADMIN"),  # of subjects
    )
    app = app_of(authenticator=ByHeader(), rights=rights, administer=administers(CONNECTOR))
    path, body = "/admin/loggers/headwater.rights", b'{"level": "INFO"}'
    logging.getLogger("headwater.rights")
    with RunningApp(app) as running:
        for name, status in (("ann", 200), ("bob", 403), ("eve", 403)):
            who = {"Authorization": name}
            assert running.ask("PUT", path, body, who)[0] == status, name
            assert running.ask("GET", path, headers=who)[0] == 200
    set_level("headwater.rights", None)


def test_every_route_of_the_registry_asks() -> None:
    def check(route: Any, request: Request) -> None:
        request.body = b""
        authorize(None, route, request)  # type: ignore[arg-type]

    asked = {
        f"{route.method} {route.path}": asked_by(route, check)
        for route in REGISTRY.routes
        # These are known by their subjects, which takes a registry: see the integration tests.
        if not {"{id}", "{guid}"} & set(route.segments)
    }
    assert [route for route, rights in asked.items() if not rights] == [
        "GET /subjects",  # lists of those that may be read
        "GET /schemas",
        "GET /schemas/types",
        "GET /config",
        "GET /mode",
        "GET /",
        "POST /",
        "GET /contexts",
        "GET /v1/metadata/id",
        "GET /v1/metadata/version",
        "GET /v1/metadata/deployment",
    ]
    assert asked["POST /subjects/{subject}"] == ["READ SUBJECT x"]
    assert asked["POST /subjects/{subject}/versions"] == ["WRITE SUBJECT x"]
    assert asked["DELETE /subjects/{subject}"] == ["ADMIN SUBJECT x"]
    assert asked["PUT /config/{subject}"] == ["ADMIN SUBJECT x"]
    assert asked["PUT /mode"] == asked["DELETE /contexts/{context}"] == ["ADMIN SUBJECT *"]
