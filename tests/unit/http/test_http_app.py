"""The application behind its real server: routes, errors, principals, metrics, health, the rest."""

from __future__ import annotations

import base64
import json
import logging
from typing import TYPE_CHECKING, Any

from tests.unit.http.running_app import RunningApp, app_of

from headwater.http.access_log import AccessLog
from headwater.http.answer_cache import AnswerCache
from headwater.http.answers import Answer, answer
from headwater.http.basic_auth import BasicAuth
from headwater.http.errors import HttpError
from headwater.http.health import Health
from headwater.http.routes import Route

if TYPE_CHECKING:
    import pytest

    from headwater.http.asgi import Receive, Scope, Send
    from headwater.http.request import Request


def route(handler: Any, method: str = "GET", path: str = "/things/{name}", **more: Any) -> Route:
    return Route(method, path, handler, "A thing", "Thing", **more)


async def echo(service: Any, request: Request) -> Answer:
    if request.parameters.get("name") == "missing":
        raise HttpError(404, 40499, "There is no such thing")
    if request.parameters.get("name") == "odd":
        raise ValueError("odd")
    return answer([request.parameters, request.query, request.body.decode(), request.target])


def test_requests_reach_their_handlers() -> None:
    app = app_of(
        route(echo), route(echo, "POST"), route(echo, path="/{name}/parts"), max_request_bytes=10
    )
    with RunningApp(app) as running:
        status, body, headers = running.ask("GET", "/things/a%2Fb?q=1&q=2")
        assert status == 200
        assert json.loads(body) == [
            {"name": "a/b"}, {"q": ["1", "2"]}, "", "/things/a%2Fb?q=1&q=2",
        ]  # fmt: skip
        assert headers["content-type"] == "application/json"
        assert json.loads(running.ask("GET", "/x/parts")[1])[0] == {"name": "x"}
        assert json.loads(running.ask("POST", "/things/a", b"1234567890")[1])[2] == "1234567890"
        status, body, headers = running.ask("HEAD", "/things/a")
        assert (status, body) == (200, b"")
        assert int(headers["content-length"]) > 0
        for method, path, body_, status_ in (
            ("GET", "/nothing", None, 404),
            ("PUT", "/things/a", None, 405),
            ("POST", "/things/a", b"x" * 11, 413),
            ("GET", "/things/missing", None, 404),
            ("GET", "/things/odd", None, 500),
        ):
            status, body, _ = running.ask(method, path, body_)
            assert status == status_, path
            assert set(json.loads(body)) == {"error_code", "message"}
        assert running.ask("GET", "/things/a", headers={"Accept": "text/html"})[0] == 406
        assert running.ask("POST", "/things/a", b"x", {"Content-Type": "text/xml"})[0] == 415


def test_health_is_for_everybody_and_the_rest_for_principals() -> None:
    complaints: list[str] = []
    health = Health({"kafka": lambda: complaints[0] if complaints else None})

    async def who(service: Any, request: Request) -> Answer:
        return answer(str(request.principal))

    app = app_of(
        route(who), authenticator=BasicAuth({"ann": "x", "bob": "x"}), health=health,
        cache=AnswerCache(),
    )  # fmt: skip
    with RunningApp(app) as running:
        for name in ("ann", "bob", "ann", "bob"):  # the second time from the cache, each their own
            token = base64.b64encode(f"{name}:x".encode()).decode()
            asked = running.ask("GET", "/things/a", headers={"Authorization": f"Basic {token}"})
            assert json.loads(asked[1]) == f"User:{name}"
        status, _, headers = running.ask("GET", "/things/a")
        assert (status, headers["www-authenticate"]) == (401, 'Basic realm="headwater"')
        assert running.ask("GET", "/metrics")[0] == 401
        assert running.ask("GET", "/openapi.json")[0] == 401
        assert running.ask("GET", "/health")[:2] == (200, b'{"status":"UP"}')
        complaints.append("no answer since 10 s")
        status, body, _ = running.ask("GET", "/health")
        assert status == 503
        assert json.loads(body)["reasons"] == {"kafka": "no answer since 10 s"}


def test_answers_are_remembered_until_something_changes() -> None:
    calls: list[str] = []

    async def count(service: Any, request: Request) -> Answer:
        calls.append(request.target)
        return answer(len(calls))

    cache = AnswerCache()
    app = app_of(route(count), route(count, path="/now", changes=True), cache=cache)
    with RunningApp(app) as running:
        assert [running.ask("GET", "/things/a")[1] for _ in range(3)] == [b"1"] * 3
        assert running.ask("GET", "/things/a?x")[1] == b"2"
        cache.forget()
        assert running.ask("GET", "/things/a")[1] == b"3"
        assert [running.ask("GET", "/now")[1] for _ in range(2)] == [b"4", b"5"]


def test_an_answer_that_a_change_overtook_is_not_remembered() -> None:
    cache = AnswerCache()
    values = ["old"]

    async def slow(service: Any, request: Request) -> Answer:
        found = answer(values[-1])
        if values[-1] == "old":
            values.append("new")
            cache.forget()  # somebody writes while this answer is on its way
        return found

    with RunningApp(app_of(route(slow), cache=cache)) as running:
        assert [running.ask("GET", "/things/a")[1] for _ in range(2)] == [b'"old"', b'"new"']


def test_requests_are_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    app = app_of(route(echo), access_log=AccessLog())
    with caplog.at_level(logging.INFO, "headwater.access"), RunningApp(app) as running:
        running.ask("GET", "/things/a?x=1")
        running.ask("GET", "/things/missing")
        running.ask("GET", "/nothing")
        text = running.ask("GET", "/metrics")[1].decode()
    assert 'test_requests_total{method="GET",route="/things/{name}",status="200"} 1.0' in text
    assert 'test_requests_total{method="GET",route="/things/{name}",status="404"} 1.0' in text
    assert 'test_requests_total{method="other",route="other",status="404"} 1.0' in text
    assert 'test_request_seconds_count{method="GET",route="/things/{name}"} 2.0' in text
    lines = [record.getMessage() for record in caplog.records if record.name == "headwater.access"]
    assert 'User:ANONYMOUS "GET /things/a?x=1 HTTP/1.1" 200' in lines[0]


def test_another_application_gets_what_no_route_serves() -> None:
    told: list[str] = []

    async def pages(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            while "lifespan.shutdown" not in told:
                told.append((await receive())["type"])
                await send({"type": f"{told[-1]}.complete"})
            return
        who = str(scope["state"]["principal"]).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a page for " + who})

    with RunningApp(app_of(route(echo), rest=pages)) as running:
        page = running.ask("GET", "/index.html", headers={"Accept": "text/html"})
        assert page[:2] == (200, b"a page for User:ANONYMOUS")
        assert running.ask("GET", "/things/a")[0] == 200
        assert running.ask("PUT", "/things/a")[0] == 405
    assert told == ["lifespan.startup", "lifespan.shutdown"]
