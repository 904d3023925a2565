"""What stands before the pages: log-in, sessions, other sites, and the policy for browsers."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, cast

import httpx
import pytest

from headwater.console.gate import Gate
from headwater.http.basic_auth import BasicAuth

if TYPE_CHECKING:
    from headwater.http.asgi import Message, Receive, Scope, Send

PAGE = b"<html><script>let a</script>&lt;script&gt;</html>"
FORM = {"content-type": "application/x-www-form-urlencoded"}


async def inner(scope: Scope, receive: Receive, send: Send) -> None:
    headers = dict(scope["headers"])
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    body = PAGE if scope["path"] != "/who" else headers.get(b"authorization", b"nobody")
    kind = b"text/html; charset=utf-8" if scope["path"] != "/who" else b"text/plain"
    length = str(len(body)).encode()
    head = [(b"content-type", kind), (b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})


def client(gate: Gate, host: str = "127.0.0.1:9021") -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(cast("Any", gate)), base_url=f"http://{host}"
    )


def with_users() -> Gate:
    return Gate(inner, BasicAuth({"ann": "secret"}))


def get(gate: Gate, path: str, host: str = "127.0.0.1:9021", **options: Any) -> httpx.Response:
    async def ask() -> httpx.Response:
        async with client(gate, host) as asking:
            return await asking.get(path, **options)

    return asyncio.run(ask())


def test_scripts_of_a_page_get_a_nonce_of_their_own() -> None:
    gate = Gate(inner, None)
    first, second = get(gate, "/"), get(gate, "/")
    (nonce,) = re.findall(r"'nonce-([\w-]+)'", first.headers["content-security-policy"])
    assert f'<script nonce="{nonce}">' in first.text
    assert "&lt;script&gt;" in first.text
    assert nonce not in second.text
    assert "unsafe-inline" not in first.headers["content-security-policy"].split("style-src")[0]
    assert first.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["127.0.0.1:9021", "localhost", "[::1]:9021", "console.plant"])
def test_names_that_are_known(host: str) -> None:
    assert get(Gate(inner, None, allowed_hosts=["console.plant"]), "/", host).status_code == 200


@pytest.mark.parametrize("host", ["rebound.example", "localhost.example:9021", "plant"])
def test_a_name_of_a_strangers_domain(host: str) -> None:
    answer = get(Gate(inner, None, allowed_hosts=["console.plant"]), "/", host)
    assert answer.status_code == 403
    assert "allowed.hosts" in answer.text


def test_a_page_of_another_site_may_not_act() -> None:
    gate = Gate(inner, None)

    async def post(origin: str | None) -> int:
        async with client(gate) as asking:
            headers = {} if origin is None else {"origin": origin}
            return (await asking.post("/_nicegui_ws/", headers=headers)).status_code

    assert asyncio.run(post("http://127.0.0.1:9021")) == 200
    assert asyncio.run(post(None)) == 200
    assert asyncio.run(post("http://evil.example")) == 403
    assert asyncio.run(post("null")) == 403


@pytest.mark.parametrize(
    ("origin", "expected"),
    [(b"http://127.0.0.1:9021", "websocket.accept"), (b"http://evil.example", "websocket.close")],
)
def test_websockets_of_another_site(origin: bytes, expected: str) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    scope = {
        "type": "websocket",
        "path": "/_nicegui_ws/socket.io",
        "headers": [(b"host", b"127.0.0.1:9021"), (b"origin", origin)],
    }
    asyncio.run(Gate(inner, None)(scope, receive, send))
    assert [each["type"] for each in sent] == [expected]


def test_strangers_are_sent_to_the_log_in() -> None:
    answer = get(with_users(), "/topics?q=a", headers={"accept": "text/html"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?to=%2Ftopics%3Fq%3Da"
    # Whoever is no browser hears from the application that a password is wanted.
    assert get(with_users(), "/who").text == "nobody"


def test_a_session_from_log_in_to_log_out() -> None:
    async def go() -> None:
        async with client(with_users()) as asking:
            page = await asking.get('/login?to=/"><script>')
            assert "&quot;&gt;&lt;script&gt;" in page.text
            wrong = await asking.post("/login", content="name=ann&password=x", headers=FORM)
            assert (wrong.status_code, "password is wrong" in wrong.text) == (401, True)
            form = "name=ann&password=secret&to=%2Ftopics"
            right = await asking.post("/login", content=form, headers=FORM)
            assert (right.status_code, right.headers["location"]) == (303, "/topics")
            cookie = right.headers["set-cookie"]
            assert "HttpOnly; SameSite=Strict" in cookie
            assert "secret" not in cookie
            assert (await asking.get("/who")).text.startswith("Basic ")
            await asking.post("/logout")
            assert (await asking.get("/who")).text == "nobody"

    asyncio.run(go())


@pytest.mark.parametrize("target", ["//evil.example", "http://evil.example", "/\\evil.example"])
def test_a_log_in_leads_nowhere_else(target: str) -> None:
    async def go() -> str:
        async with client(with_users()) as asking:
            data = {"name": "ann", "password": "secret", "to": target}
            return str((await asking.post("/login", data=data)).headers["location"])

    assert asyncio.run(go()) == "/"
