"""HTTP/2, mostly without TLS and without asking first, as clients of streaming SQL speak it."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)
from tests.certificates import certificate_for_loopback
from tests.unit.http.running_app import HUNG_AFTER_S, RunningApp, app_of
from tests.waiting import wait_for

from headwater.http import body
from headwater.http.answers import Answer, Stream, answer
from headwater.http.connection import Http1Connection
from headwater.http.http2 import MAX_STREAMS, Http2Connection
from headwater.http.routes import Route
from headwater.http.tls import server_context

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from headwater.http.request import Request


async def echo(service: Any, request: Request) -> Answer:
    return answer([request.method, request.target, len(request.body)])


async def lines(service: Any, request: Request) -> Stream:
    async def chunks() -> AsyncIterator[bytes]:
        async for chunk in request.chunks():
            yield b"got " + chunk

    return Stream(chunks())


async def failing(service: Any, request: Request) -> Stream:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"first"
        raise ValueError("no second")

    return Stream(chunks())


ROUTES = (
    Route("GET", "/echo", echo, "", ""),
    Route("POST", "/echo", echo, "", ""),
    Route("POST", "/lines", lines, "", "", takes_stream=True),
    Route("GET", "/failing", failing, "", ""),
)


def test_many_requests_on_one_connection() -> None:
    async def ask(port: int) -> None:
        async with httpx.AsyncClient(
            http1=False, http2=True, base_url=f"http://127.0.0.1:{port}", timeout=HUNG_AFTER_S
        ) as client:
            answers = await asyncio.gather(*(client.get(f"/echo?n={n}") for n in range(200)))
            assert {each.http_version for each in answers} == {"HTTP/2"}
            assert [each.json() for each in answers] == [
                ["GET", f"/echo?n={n}", 0] for n in range(200)
            ]
            large = await client.post("/echo", content=b"x" * 1_000_000)  # many windows
            assert large.json() == ["POST", "/echo", 1_000_000]
            assert (await client.head("/echo")).content == b""
            assert (await client.get("/nothing")).status_code == 404
            assert (await client.post("/echo", content=b"x" * 5_000_000)).status_code == 413
            assert (await client.post("/echo", content=b"x" * 100_000)).status_code == 200

    with RunningApp(app_of(*ROUTES)) as running:
        asyncio.run(ask(running.port))
        assert running.ask("GET", "/echo")[0] == 200  # and HTTP/1.1 is there as before


def test_with_tls_it_is_negotiated(tmp_path: Path) -> None:
    files = certificate_for_loopback(tmp_path)
    context = server_context(files.certificate, files.key)
    with RunningApp(app_of(*ROUTES), tls=context) as running:
        for http2, version in ((True, "HTTP/2"), (False, "HTTP/1.1")):
            verify = ssl.create_default_context(cafile=files.certificate)
            with httpx.Client(http2=http2, verify=verify, timeout=HUNG_AFTER_S) as client:
                found = client.get(f"https://127.0.0.1:{running.port}/echo")
                assert (found.status_code, found.http_version) == (200, version)


class RawClient:
    """A client that does only what it is told to."""

    def __init__(self, port: int, *, apart: bool = False) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), HUNG_AFTER_S)
        self.h2 = H2Connection()
        self.h2.initiate_connection()
        if apart:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in self.h2.data_to_send():
                self.sock.sendall(bytes([byte]))
        self.flush()

    def flush(self) -> None:
        self.sock.sendall(self.h2.data_to_send())

    def begin(self, method: str, path: str) -> int:
        stream = self.h2.get_next_available_stream_id()
        names = ((":method", method), (":path", path), (":scheme", "http"), (":authority", "x"))
        self.h2.send_headers(stream, list(names), end_stream=method == "GET")
        self.flush()
        return stream

    def read_until(self, kind: type) -> list[Any]:
        """Take frames, without making room for more, until there is such an event."""
        seen: list[Any] = []
        while not any(isinstance(event, kind) for event in seen):
            data = self.sock.recv(65_536)
            if not data:
                break
            seen += self.h2.receive_data(data)
            self.flush()
        return seen


def test_a_body_is_answered_while_it_comes() -> None:
    with RunningApp(app_of(*ROUTES)) as running:
        client = RawClient(running.port)
        stream = client.begin("POST", "/lines")
        for part in (b"one", b"two"):
            client.h2.send_data(stream, part)
            client.flush()
            assert client.read_until(DataReceived)[-1].data == b"got " + part
        client.h2.end_stream(stream)
        client.flush()
        assert isinstance(client.read_until(StreamEnded)[-1], StreamEnded)
        client.sock.close()


def test_a_client_that_makes_no_room_is_not_fed_and_others_are() -> None:
    produced, closed = 0, threading.Event()

    async def flood(service: Any, request: Request) -> Stream:
        async def chunks() -> AsyncIterator[bytes]:
            nonlocal produced
            try:
                while True:
                    yield b"x" * 10_000
                    produced += 1
            finally:
                closed.set()

        return Stream(chunks())

    app = app_of(*ROUTES, Route("GET", "/flood", flood, "", ""))
    with RunningApp(app) as running:
        client = RawClient(running.port)
        flooding = client.begin("GET", "/flood")
        client.read_until(DataReceived)
        for _ in range(50):
            assert running.ask("GET", "/echo")[0] == 200
        assert produced <= 7  # what the window of 65,535 bytes takes
        client.h2.reset_stream(flooding)
        client.flush()
        assert closed.wait(HUNG_AFTER_S)
        client.sock.close()


def test_a_client_that_opens_and_resets_streams_gets_no_more_than_its_share() -> None:
    running_now, most = 0, 0
    go_on = asyncio.Event()

    async def slow(service: Any, request: Request) -> Answer:
        nonlocal running_now, most
        running_now += 1
        most = max(most, running_now)
        await go_on.wait()
        running_now -= 1
        return answer("done")

    app = app_of(*ROUTES, Route("GET", "/slow", slow, "", ""))
    with RunningApp(app) as running:
        client = RawClient(running.port)
        streams = [client.begin("GET", "/slow") for _ in range(MAX_STREAMS)]
        wait_for(lambda: running_now == MAX_STREAMS)
        for stream in streams:
            client.h2.reset_stream(stream)
        client.begin("GET", "/slow")  # of a hundred, none is open, and all are at work
        assert isinstance(client.read_until(StreamReset)[-1], StreamReset)
        assert running.ask("GET", "/echo")[0] == 200
        running.loop.call_soon_threadsafe(go_on.set)
        wait_for(lambda: running_now == 0)
        client.begin("GET", "/echo")
        client.read_until(StreamEnded)
        assert most <= MAX_STREAMS
        client.sock.close()


def test_a_preface_in_two_parts() -> None:
    with RunningApp(app_of(*ROUTES)) as running:
        client = RawClient(running.port, apart=True)
        client.begin("GET", "/echo")
        assert isinstance(client.read_until(StreamEnded)[-1], StreamEnded)
        client.sock.close()


def test_a_stream_that_fails_is_reset_and_the_connection_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with RunningApp(app_of(*ROUTES)) as running, httpx.Client(http1=False, http2=True) as client:
        url = f"http://127.0.0.1:{running.port}"
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(f"{url}/failing")
        assert client.get(f"{url}/echo").status_code == 200
    assert "no second" in caplog.text


def test_idle_connections_and_slow_bodies_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Http2Connection, "idle_within_s", 0.5)
    monkeypatch.setattr(Http1Connection, "head_within_s", 0.5)
    monkeypatch.setattr(body, "WHOLE_WITHIN_S", 0.5)
    with RunningApp(app_of(*ROUTES)) as running:
        half = socket.create_connection(("127.0.0.1", running.port), HUNG_AFTER_S)
        half.sendall(b"PRI * HTTP/2.0\r\n")
        assert half.recv(100).startswith(b"HTTP/1.1 408")
        half.close()
        idle = RawClient(running.port)
        assert any(isinstance(event, ConnectionTerminated) for event in idle.read_until(
            ConnectionTerminated
        ))  # fmt: skip
        idle.sock.close()
        slow = RawClient(running.port)
        slow.begin("POST", "/echo")
        head = next(
            event for event in slow.read_until(StreamEnded) if isinstance(event, ResponseReceived)
        )
        assert dict(head.headers)[b":status"] == b"408"
        slow.sock.close()


def test_stopping_answers_what_was_asked() -> None:
    asked, go_on = threading.Event(), threading.Event()

    async def slow(service: Any, request: Request) -> Answer:
        asked.set()
        await asyncio.to_thread(go_on.wait, HUNG_AFTER_S)
        return answer("done")

    found: list[str] = []
    with RunningApp(app_of(Route("GET", "/slow", slow, "", ""))) as running:

        def ask() -> None:
            with httpx.Client(http1=False, http2=True, timeout=HUNG_AFTER_S) as client:
                found.append(client.get(f"http://127.0.0.1:{running.port}/slow").json())

        asking = threading.Thread(target=ask)
        asking.start()
        assert asked.wait(HUNG_AFTER_S)
        stopping = asyncio.run_coroutine_threadsafe(running.server.stop(), running.loop)
        go_on.set()
        stopping.result(HUNG_AFTER_S)
        asking.join(HUNG_AFTER_S)
    assert found == ["done"]


@pytest.mark.parametrize(
    "garbage", [b"\x00" * 9, b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n"], ids=("0", "255", "HTTP/1.1")
)
def test_what_is_no_frame(garbage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Http2Connection, "idle_within_s", 0.5)  # a long frame may still come
    with RunningApp(app_of(*ROUTES)) as running:
        sock = socket.create_connection(("127.0.0.1", running.port), HUNG_AFTER_S)
        sock.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + garbage)
        try:
            while sock.recv(65_536):
                pass
        except ConnectionResetError:
            pass
        sock.close()
        assert json.loads(running.ask("GET", "/echo")[1]) == ["GET", "/echo", 0]
