"""TLS under a connection: real OpenSSL at both ends of a socket pair, on a real event loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import ssl
from typing import TYPE_CHECKING

import pytest
from tests.certificates import DAY, Authority, Issued
from tests.unit.broker.test_network_connection import Peer, connected, framed
from tests.waiting import HUNG_AFTER_S

from headwater.broker.config import BrokerConfig
from headwater.broker.network.authentication_counts import AuthenticationCounts
from headwater.broker.tls.listener_tls import ListenerTls
from headwater.broker.tls.transport import TlsTransport
from headwater.log.disk import OpenFile
from headwater.log.segments.segment import FileSlice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

AUTHORITY = Authority()
OTHER = Authority("another")
BROKER = AUTHORITY.issue("CN=broker")


def listener_tls(**settings: str) -> ListenerTls:
    """TLS with a certificate in the settings; names as `client_auth` for `ssl.client.auth`."""
    given = {
        "keystore_key": BROKER.key,
        "keystore_certificate_chain": BROKER.certificate,
        "truststore_certificates": AUTHORITY.certificate,
        **settings,
    }
    config = BrokerConfig(
        {
            "listeners": "SSL://127.0.0.1:0",
            **{f"ssl.{name.replace('_', '.')}": value for name, value in given.items()},
        }
    )
    return ListenerTls("SSL", config, AuthenticationCounts(), names_principals=True)


def client_context(tmp_path: Path, shown: Issued | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=AUTHORITY.certificate)
    if shown is not None:
        context.load_cert_chain(shown.write(tmp_path / "client.pem"))
    return context


def talk(peer: Peer, work: Callable[[socket.socket], bytes]) -> asyncio.Future[bytes]:
    """Run the client's side, which blocks, in a thread."""
    sock = peer.sock.dup()
    sock.setblocking(True)
    return asyncio.get_running_loop().run_in_executor(None, work, sock)


def test_frames_and_file_regions_go_through(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    content = os.urandom(1_000_000)
    path.write_bytes(content)
    frames = [b"small", os.urandom(700_000), b"x" * 20_000, b"last"]
    body = b"head" + content[1000:901_000] + b"then some" + content[:5] + b"end" * 40_000
    answer = framed(body)
    client = client_context(tmp_path)

    def work(sock: socket.socket) -> bytes:
        with client.wrap_socket(sock, server_hostname="localhost") as wrapped:
            # All in one go: records hold several frames, and frames take several records.
            wrapped.sendall(b"".join(map(framed, frames)))
            received = bytearray()
            while len(received) < len(frames) * len(answer):
                received += wrapped.recv(65536)
            return bytes(received)

    async def run() -> None:
        async with connected(open_transport=listener_tls().open_transport) as peer:
            # So small that every write has to wait.
            peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            talking = talk(peer, work)
            await peer.until_frames(len(frames))
            assert peer.frames == frames
            file = OpenFile(str(path))
            for reply in peer.replies:
                reply.send(
                    b"head",
                    [FileSlice(file, 1000, 900_000), b"then some", FileSlice(file, 0, 5),
                     b"end" * 40_000],
                )  # fmt: skip
            assert await talking == answer * len(frames)

    asyncio.run(run())


@contextlib.contextmanager
def two_ends(tmp_path: Path) -> Iterator[tuple[TlsTransport, ssl.SSLSocket]]:
    """Give the broker's end and a client's, after their handshake."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    client = client_context(tmp_path).wrap_socket(
        theirs, server_hostname="localhost", do_handshake_on_connect=False
    )
    transport = listener_tls().open_transport(ours)
    assert isinstance(transport, TlsTransport)
    with client:
        while not transport.is_established:
            with contextlib.suppress(ssl.SSLWantReadError):
                client.do_handshake()
            with contextlib.suppress(BlockingIOError):
                transport.handshake()
        yield transport, client
        transport.close()


def test_a_goodbye_right_behind_a_request_is_heard(tmp_path: Path) -> None:
    buffer = bytearray(100)
    with two_ends(tmp_path) as (transport, client):
        client.sendall(b"a request")
        with pytest.raises(ssl.SSLWantReadError):
            client.unwrap()
        assert transport.receive_into(buffer) == len(b"a request")
        # The socket announces nothing any more.
        assert transport.has_pending
        assert transport.receive_into(buffer) == 0


def test_what_came_before_a_broken_record_is_handed_on(tmp_path: Path) -> None:
    buffer = bytearray(100)
    with two_ends(tmp_path) as (transport, client):
        client.sendall(b"a request")
        os.write(client.fileno(), b"\x17\x03\x03" + (50).to_bytes(2) + os.urandom(50))
        assert transport.receive_into(buffer) == len(b"a request")
        assert transport.has_pending
        for _ in range(2):
            with pytest.raises(ssl.SSLError):
                transport.receive_into(buffer)


def test_a_torn_segment_closes_the_connection(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(b"short")
    client = client_context(tmp_path)

    def work(sock: socket.socket) -> bytes:
        with client.wrap_socket(sock, server_hostname="localhost") as wrapped:
            wrapped.sendall(framed(b"request"))
            while wrapped.recv(100):
                pass
            return b""

    async def run() -> None:
        async with connected(open_transport=listener_tls().open_transport) as peer:
            talking = talk(peer, work)
            await peer.until_frames(1)
            peer.replies[0].send(b"head", [FileSlice(OpenFile(str(path)), 100, 50)])
            await asyncio.wait_for(peer.is_closed.wait(), HUNG_AFTER_S)
            await talking

    asyncio.run(run())


def session_after(tls: ListenerTls, client: ssl.SSLContext) -> str:
    """Connect, send a frame, and return how the broker calls the client, or why it closed."""

    def work(sock: socket.socket) -> bytes:
        try:
            with client.wrap_socket(sock, server_hostname="localhost") as wrapped:
                wrapped.sendall(framed(b"request"))
                wrapped.recv(1)
        except OSError:
            return b"refused"
        return b""

    async def run() -> str:
        async with connected(open_transport=tls.open_transport) as peer:
            talking = talk(peer, work)
            arrived = asyncio.create_task(peer.until_frames(1))
            closed = asyncio.create_task(peer.is_closed.wait())
            await asyncio.wait((arrived, closed), return_when=asyncio.FIRST_COMPLETED)
            text = str(peer.connection.session)
            arrived.cancel()
            closed.cancel()
            peer.connection.close()
            await talking
            return text

    return asyncio.run(run())


def test_a_certificate_names_the_principal(tmp_path: Path) -> None:
    ann = client_context(tmp_path, AUTHORITY.issue("CN=Ann,O=plant"))
    nobody = client_context(tmp_path)
    rules = {"principal_mapping_rules": "RULE:^CN=([A-Za-z]+),.*$/$1/L"}
    assert "(User:ann)" in session_after(listener_tls(client_auth="required", **rules), ann)
    assert "(User:CN=Ann,O=plant)" in session_after(listener_tls(client_auth="requested"), ann)
    assert "User:" not in session_after(listener_tls(client_auth="requested"), nobody)
    assert "User:" not in session_after(listener_tls(client_auth="none"), ann)


def test_who_is_not_let_in_is_told_apart_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old_versions = client_context(tmp_path)
    old_versions.maximum_version = ssl.TLSVersion.TLSv1_2
    suspicious = ssl.create_default_context()
    required = {"client_auth": "required"}
    cases = [
        (required, client_context(tmp_path), "showed no certificate"),
        (required, client_context(tmp_path, OTHER.issue("CN=x")), "certificate was refused"),
        (required, client_context(tmp_path, AUTHORITY.issue("CN=x", ends=-DAY / 2)), "expired"),
        ({"enabled_protocols": "TLSv1.3"}, old_versions, "older than those served"),
        ({}, suspicious, "it refused: unknown ca"),
        (
            {**required, "principal_mapping_rules": "RULE:^CN=y$/y/"},
            client_context(tmp_path, AUTHORITY.issue("CN=x")),
            "no rule of ssl.principal.mapping.rules fits the name in its certificate, CN=x",
        ),
    ]
    for settings, client, reason in cases:
        tls = listener_tls(**settings)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            session_after(tls, client)
        assert reason in caplog.text
        assert tls._counts.failed == 1


def test_plain_text_to_a_tls_port_is_called_that(caplog: pytest.LogCaptureFixture) -> None:
    tls = listener_tls()

    async def run() -> None:
        for said in (framed(b"plain"), b"GET / HTTP/1.1\r\n\r\n"):
            async with connected(open_transport=tls.open_transport) as peer:
                await peer.send(said)
                await asyncio.wait_for(peer.is_closed.wait(), HUNG_AFTER_S)
                assert peer.frames == []

    asyncio.run(run())
    assert "it speaks plain text, and this listener speaks TLS" in caplog.text
    assert tls._counts.failed == 2


def test_tls_to_a_plain_port_is_called_that(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = client_context(tmp_path)

    def work(sock: socket.socket) -> bytes:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            client.wrap_socket(sock, server_hostname="localhost")
        return b""

    async def run() -> None:
        async with connected() as peer:
            talking = talk(peer, work)
            await asyncio.wait_for(peer.is_closed.wait(), HUNG_AFTER_S)
            peer.sock.close()
            await talking

    asyncio.run(run())
    assert "it speaks TLS, and the listener PLAINTEXT speaks plain text" in caplog.text


def test_a_handshake_may_come_in_single_bytes_or_end_anywhere(tmp_path: Path) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        client_context(tmp_path).wrap_bio(incoming, outgoing, False, "localhost").do_handshake()
    hello = outgoing.read()
    tls = listener_tls()

    async def run() -> None:
        for end in (1, 5, 6, len(hello) - 1, len(hello)):
            async with connected(open_transport=tls.open_transport) as peer:
                for at in range(0, end, 50):
                    await peer.send(hello[at : min(end, at + 50)])
                    await asyncio.sleep(0)
                peer.sock.shutdown(socket.SHUT_WR)
                await asyncio.wait_for(peer.is_closed.wait(), HUNG_AFTER_S)
        async with connected(open_transport=tls.open_transport) as peer:
            # A whole record, or OpenSSL would wait for the rest of it, with a message of no kind.
            await peer.send(b"\x16\x03\x01" + (500).to_bytes(2) + b"\xff" + os.urandom(499))
            await asyncio.wait_for(peer.is_closed.wait(), HUNG_AFTER_S)

    asyncio.run(run())


def test_nothing_is_made_for_a_client_that_says_nothing() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.setblocking(False)
        transport = listener_tls().open_transport(ours)
        assert isinstance(transport, TlsTransport)
        with pytest.raises(BlockingIOError):
            transport.handshake()
        assert transport._records is None
        transport.close()
        assert ours.fileno() == -1
