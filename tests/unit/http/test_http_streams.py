"""Streams: answers that come chunk by chunk, bodies that do, and clients that leave half-way."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from typing import TYPE_CHECKING, Any

from tests.unit.http.running_app import HUNG_AFTER_S, RunningApp, app_of

from headwater.http.answers import (
    SERVER_SENT_EVENTS,
    Answer,
    Stream,
    answer,
    json_line,
    server_sent_event,
)
from headwater.http.body import Body
from headwater.http.routes import Route
from headwater.http.streaming import send_stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

    from headwater.http.request import Request


def route(handler: Any, method: str = "GET", **more: Any) -> Route:
    return Route(method, f"/{handler.__name__}", handler, "A stream", "Stream", **more)


async def alive(service: Any, request: Request) -> Answer:
    return answer("alive")


def test_lines_and_events() -> None:
    assert json_line({"a": 1}) == b'{"a":1}\n'
    assert server_sent_event({"a": 1}) == b'data: {"a":1}\n\n'
    assert server_sent_event("two\nlines", event="e", id_="7") == (
        b"event: e\nid: 7\ndata: two\ndata: lines\n\n"
    )


def test_chunks_arrive_one_by_one() -> None:
    go_on: list[asyncio.Event] = []

    async def lines(service: Any, request: Request) -> Stream:
        go_on.append(asyncio.Event())

        async def chunks() -> AsyncIterator[bytes]:
            yield json_line(1)
            await go_on[0].wait()  # until the client has read the first
            yield json_line(2)

        return Stream(chunks(), SERVER_SENT_EVENTS, 202)

    with RunningApp(app_of(route(lines))) as running:
        connection = running.connect()
        connection.request("GET", "/lines")
        response = connection.getresponse()
        assert response.status == 202
        assert response.headers["transfer-encoding"] == "chunked"
        assert response.headers["content-type"] == SERVER_SENT_EVENTS
        assert response.readline() == b"1\n"
        running.loop.call_soon_threadsafe(go_on[0].set)
        assert response.read() == b"2\n"
        connection.request("HEAD", "/lines")  # the connection goes on
        assert connection.getresponse().read() == b""
        connection.close()


def test_a_client_that_leaves_costs_only_its_own_request() -> None:
    closed = threading.Event()

    async def forever(service: Any, request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            try:
                yield b"first\n"
                await asyncio.Event().wait()  # nothing more ever comes
            finally:
                closed.set()

        return Stream(chunks())

    with RunningApp(app_of(route(forever), route(alive))) as running:
        staying, leaving = running.connect(), running.connect()
        for connection in (staying, leaving):
            connection.request("GET", "/forever")
            assert connection.getresponse().readline() == b"first\n"
        leaving.sock.shutdown(socket.SHUT_RDWR)
        leaving.close()
        assert closed.wait(HUNG_AFTER_S)
        assert running.ask("GET", "/alive")[1] == b'"alive"'
        staying.sock.shutdown(socket.SHUT_RDWR)
        staying.close()


def test_a_stream_that_was_never_begun_is_closed_as_well() -> None:
    closed: list[bool] = []

    async def chunks() -> AsyncIterator[bytes]:
        yield b"nobody asks for it"

    async def sending(message: Any) -> None:
        await asyncio.Event().wait()  # the answer's head, which nobody takes

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    stream = Stream(chunks(), on_close=lambda: closed.append(True))
    body = Body(receive, is_empty=True)
    asyncio.run(send_stream({"type": "http.response.start"}, stream, body, sending, None))
    assert closed == [True]


def test_a_client_that_does_not_read_is_not_fed() -> None:
    sent = 0

    async def flood(service: Any, request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            nonlocal sent
            while True:
                yield b"x" * 65_536
                sent += 1

        return Stream(chunks())

    with RunningApp(app_of(route(flood), route(alive))) as running:
        connection = running.connect()
        connection.request("GET", "/flood")
        connection.getresponse()
        before = -1
        while before != sent:  # until nothing moves any more
            before = sent
            for _ in range(20):
                assert running.ask("GET", "/alive")[0] == 200
        assert sent < 1_000  # what the sockets' buffers take
        connection.sock.shutdown(socket.SHUT_RDWR)
        connection.close()


def test_endless_streams_end_with_the_server() -> None:
    async def endless(service: Any, request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"first\n"
            await asyncio.Event().wait()

        return Stream(chunks(), is_endless=True)

    with RunningApp(app_of(route(endless))) as running:
        connection = running.connect()
        connection.request("GET", "/endless")
        response = connection.getresponse()
        assert response.readline() == b"first\n"
        asyncio.run_coroutine_threadsafe(running.server.stop(), running.loop).result(HUNG_AFTER_S)
        assert response.read() == b""  # a proper end
        connection.close()


def test_a_body_is_answered_while_it_comes() -> None:
    async def records(service: Any, request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            async for chunk in request.chunks():
                yield b"got " + chunk

        return Stream(chunks())

    with RunningApp(app_of(route(records, "POST", takes_stream=True))) as running:
        sock = socket.create_connection(("127.0.0.1", running.port), HUNG_AFTER_S)
        sock.sendall(b"POST /records HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        answers = sock.makefile("rb")
        sock.sendall(b"3\r\none\r\n")
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += answers.readline()
        assert answers.readline() == b"7\r\n"
        assert answers.readline() == b"got one\r\n"
        sock.sendall(b"3\r\ntwo\r\n")
        assert [answers.readline() for _ in range(2)] == [b"7\r\n", b"got two\r\n"]
        sock.sendall(b"0\r\n\r\n")
        assert answers.readline() == b"0\r\n"
        answers.close()
        sock.close()


def test_a_body_that_is_taken_as_a_stream_may_be_of_any_size() -> None:
    async def count(service: Any, request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            yield str(sum([len(chunk) async for chunk in request.chunks()])).encode()

        return Stream(chunks())

    with RunningApp(
        app_of(route(count, "POST", takes_stream=True), max_request_bytes=10)
    ) as running:
        assert running.ask("POST", "/count", b"a" * 100)[1] == b"100"


def test_a_client_that_leaves_in_the_middle_of_its_body(caplog: pytest.LogCaptureFixture) -> None:
    ended = threading.Event()

    async def records(service: Any, request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            try:
                async for chunk in request.chunks():
                    yield chunk
            finally:
                ended.set()

        return Stream(chunks())

    app = app_of(route(records, "POST", takes_stream=True), route(alive))
    with RunningApp(app) as running:
        sock = socket.create_connection(("127.0.0.1", running.port), HUNG_AFTER_S)
        sock.sendall(b"POST /records HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\none")
        assert sock.recv(100).startswith(b"HTTP/1.1 200")
        sock.close()
        assert ended.wait(HUNG_AFTER_S)
        assert running.ask("GET", "/alive")[0] == 200
    assert not caplog.records


def test_a_stream_that_fails_does_not_end_as_if_it_were_whole(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def failing(service: Any, request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            yield b"first\n"
            raise ValueError("no second")

        return Stream(chunks())

    with RunningApp(app_of(route(failing), route(alive))) as running:
        sock = socket.create_connection(("127.0.0.1", running.port), HUNG_AFTER_S)
        sock.sendall(b"GET /failing HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b""
        while more := sock.recv(65_536):
            received += more
        assert received.endswith(b"6\r\nfirst\n\r\n")  # and no last chunk
        sock.close()
        assert json.loads(running.ask("GET", "/alive")[1]) == "alive"
    assert "no second" in caplog.text
