"""Clients that send too little, too slowly or too much are told so and let go."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.http.running_app import HUNG_AFTER_S, RunningApp, app_of
from tests.waiting import wait_for

from headwater.http import body
from headwater.http.answers import Answer, Stream, answer
from headwater.http.connection import MAX_HEAD_BYTES, Http1Connection
from headwater.http.routes import Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from headwater.http.request import Request


async def size(service: Any, request: Request) -> Answer:
    return answer(len(request.body))


async def echo(service: Any, request: Request) -> Stream:
    async def chunks() -> AsyncIterator[bytes]:
        async for chunk in request.chunks():
            yield chunk

    return Stream(chunks())


ROUTES = (
    Route("POST", "/size", size, "", ""),
    Route("GET", "/size", size, "", ""),
    Route("POST", "/echo", echo, "", "", takes_stream=True),
)


@pytest.fixture(scope="module")
def running() -> Iterator[RunningApp]:
    """A server that waits for half a minute, which no test here takes to send what it sends."""
    with RunningApp(app_of(*ROUTES)) as app:
        yield app


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningApp]:
    """A server that waits for half a second."""
    monkeypatch.setattr(Http1Connection, "head_within_s", 0.5)
    monkeypatch.setattr(body, "WHOLE_WITHIN_S", 0.5)
    with RunningApp(app_of(*ROUTES)) as app:
        yield app


def connect(running: RunningApp, *sent: bytes) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", running.port), HUNG_AFTER_S)
    for part in sent:
        sock.sendall(part)
    return sock


def everything(sock: socket.socket) -> bytes:
    received = b""
    try:
        while more := sock.recv(65_536):
            received += more
    except ConnectionResetError:
        pass
    sock.close()
    return received


def test_connections_without_a_request_are_closed(impatient: RunningApp) -> None:
    silent = [connect(impatient) for _ in range(50)]
    assert {everything(sock) for sock in silent} == {b""}


def test_half_a_head_is_a_408(impatient: RunningApp) -> None:
    halves = [connect(impatient, b"GET /size HTTP/1.1\r\nHo") for _ in range(50)]
    for sock in halves:
        assert everything(sock).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_a_byte_now_and_then_buys_no_time(impatient: RunningApp) -> None:
    sock = connect(impatient, b"GET /size HTTP/1.1\r\nX: ")

    def drip() -> bool:
        try:
            sock.sendall(b"x")
        except OSError:
            return True
        return False

    wait_for(drip, "a connection that drips is closed")
    sock.close()


def test_half_a_head_after_a_request(
    impatient: RunningApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Half a second is short for a busy machine to send the half in.
    monkeypatch.setattr(Http1Connection, "head_within_s", 3)
    sock = connect(impatient, b"GET /size HTTP/1.1\r\nHost: x\r\n\r\n")
    received = b""
    while not received.endswith(b"\r\n\r\n0"):
        received += sock.recv(65_536)
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    sock.sendall(b"GET /si")
    assert everything(sock).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_half_a_body_is_a_408_and_the_end(impatient: RunningApp) -> None:
    head = b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
    for sock in [connect(impatient, head, b"abc") for _ in range(20)]:
        received = everything(sock)
        assert received.startswith(b"HTTP/1.1 408 ")
        assert b'"error_code":408' in received


def test_a_body_that_nobody_wants_is_not_waited_for(impatient: RunningApp) -> None:
    head = b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
    sock = connect(impatient, head, b"abc")

    def drip() -> bool:
        try:
            sock.sendall(b"x")
        except OSError:
            return True
        return False

    wait_for(drip, "a connection that drips is closed")
    sock.close()


def test_a_stream_may_take_its_time(impatient: RunningApp) -> None:
    sock = connect(
        impatient,
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n",
    )
    silent = connect(impatient)
    assert everything(silent) == b""  # so much time went by
    silent = connect(impatient)
    assert everything(silent) == b""
    sock.sendall(b"3\r\ntwo\r\n0\r\n\r\n")
    received = b""
    while not received.endswith(b"0\r\n\r\n"):
        received += sock.recv(65_536)
    assert b"one" in received
    assert b"two" in received
    sock.close()


def test_a_head_without_end_is_refused(running: RunningApp) -> None:
    for start in (b"GET /size HTTP/1.1\r\nX: ", b"GET /size?"):
        sock = connect(running)
        try:
            sock.sendall(start + b"x" * (MAX_HEAD_BYTES + 100_000))
        except OSError:
            pass
        else:
            received = everything(sock)
            assert received.startswith(b"HTTP/1.1 431 ") or not received
        sock.close()


@pytest.mark.parametrize(
    "request_line", [b"nonsense", b"GET", b"GET /\xff HTTP/1.1", b"GET / HTTP/9", b"\x00" * 10]
)
def test_what_is_no_request(running: RunningApp, request_line: bytes) -> None:
    sock = connect(running, request_line + b"\r\nHost: x\r\n\r\n")
    assert everything(sock).startswith(b"HTTP/1.1 400 Bad Request\r\n")


@pytest.mark.parametrize("path", ["/%ff", "/%fe", "/size/%c3", "/size?a=%ff"])
def test_names_that_are_not_utf8_are_refused(running: RunningApp, path: str) -> None:
    status, said, _ = running.ask("GET", path)
    assert status == 400
    assert b"utf-8" in said


def test_an_offer_to_upgrade_is_left_alone(running: RunningApp) -> None:
    """Java's client offers HTTP/2 with its first request on a connection, and goes on with 1.1."""
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    sock = connect(running)
    answers = sock.makefile("rb")
    for head, sent in (
        (b"GET /size HTTP/1.1\r\nHost: x\r\n" + offer, b""),
        (b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n" + offer, b"abc"),
        (b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n", b"abcd"),
    ):
        sock.sendall(head + b"\r\n" + sent)
        assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
        while answers.readline() != b"\r\n":
            pass
        assert answers.read(1) == str(len(sent)).encode()
    answers.close()
    sock.close()
