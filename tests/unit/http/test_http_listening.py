"""Where a service listens, and what it says when it cannot."""

from __future__ import annotations

import asyncio
import socket
import urllib.request

import pytest
from tests.unit.http.running_app import app_of

from headwater.http.background import serve_in_background
from headwater.http.listening import ListenError, listen, url_of
from headwater.http.server import Server


def test_a_port_in_use_is_named() -> None:
    with listen("127.0.0.1", 0) as listening:
        listening.listen()
        port = listening.getsockname()[1]
        with pytest.raises(ListenError, match=f"port {port} is in use"):
            listen("127.0.0.1", port)


def test_a_port_that_somebody_else_takes_between_bind_and_listen_is_named() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with listen("127.0.0.1", port) as second:  # both are bound, and nobody listens yet
            first.listen()
            with pytest.raises(ListenError, match=f"port {port} is in use"):
                asyncio.run(Server(app_of(), second).start())


def test_connections_send_at_once() -> None:
    """An answer is two writes, and the second would wait for the client's delayed ACK, 40 ms."""

    async def is_set() -> int:
        accepted: asyncio.Future[asyncio.StreamWriter] = asyncio.Future()
        with listen("127.0.0.1", 0) as listening:
            server = await asyncio.start_server(
                lambda _, writer: accepted.set_result(writer), sock=listening
            )
            _, client = await asyncio.open_connection(*listening.getsockname())
            connection = (await accepted).get_extra_info("socket")
            found = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            for writer in (client, await accepted):
                writer.close()
            server.close()
        return int(found)

    assert asyncio.run(is_set()) == 1


@pytest.mark.parametrize(
    ("host", "complaint"), [("192.0.2.1", "192.0.2.1 is no address of this machine"),
                            ("no.such.host.invalid", "no.such.host.invalid is no address")],
)  # fmt: skip
def test_an_address_of_another_machine_is_named(host: str, complaint: str) -> None:
    with pytest.raises(ListenError, match=complaint):
        listen(host, 0)


def test_urls() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert url_of(listening, "http", "127.0.0.1") == f"http://127.0.0.1:{port}"
        assert url_of(listening, "https", "::1") == f"https://[::1]:{port}"
        assert "0.0.0.0" not in url_of(listening, "http", "0.0.0.0")


def test_a_server_beside_a_program_without_an_event_loop() -> None:
    port = serve_in_background(app_of(), "127.0.0.1", 0, "test")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as found:
        assert b"test_requests" in found.read()
    with pytest.raises(ListenError, match=f"port {port} is in use"):
        serve_in_background(app_of(), "127.0.0.1", port, "test")
