"""Transports: the plain one, and what the interface has to bear when TLS comes."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from typing import TYPE_CHECKING, TypeVar

import pytest
from tests.certificates import certificate_for_loopback
from tests.unit.broker.test_broker_connection import connected, framed

from headwater.broker.transport import PlainTransport
from headwater.log.disk import OpenFile
from headwater.log.segment import FileSlice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")


def test_plain_receives_sends_and_says_when_to_wait(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(bytes(range(100)))
    ours, theirs = socket.socketpair()
    with ours, theirs, path.open("rb") as file:
        ours.setblocking(False)
        transport = PlainTransport(ours)
        assert (transport.fd, transport.is_established) == (ours.fileno(), True)
        buffer = bytearray(10)
        with pytest.raises(BlockingIOError):
            transport.receive_into(buffer)
        theirs.send(b"hello")
        assert transport.receive_into(buffer) == 5
        assert transport.send(b"abc", 0) == 3
        assert transport.send_file(file.fileno(), 10, 20) == 20
        assert theirs.recv(100) == b"abc" + bytes(range(10, 30))
        assert transport.send(bytes(50_000_000), 0) < 50_000_000
        with pytest.raises(BlockingIOError):
            transport.send(bytes(50_000_000), 0)
        assert not transport.is_crossed
        transport.close()
        assert ours.fileno() == -1


class TlsTransport:
    """Just enough of TLS to try the interface with the real thing."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        self._socket = context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        self.fd = self._socket.fileno()
        self.is_established = False
        self.is_crossed = False

    @property
    def has_pending(self) -> bool:
        return self._socket.pending() > 0

    def handshake(self) -> None:
        self._try(self._socket.do_handshake)
        self.is_established = True

    def receive_into(self, buffer: bytearray | memoryview) -> int:
        return self._try(lambda: self._socket.recv_into(buffer))

    def send(self, data: bytes | memoryview, _flags: int) -> int:
        return self._try(lambda: self._socket.send(data), waits_to_write=True)

    def send_file(self, fd: int, position: int, length: int) -> int:
        return self.send(os.pread(fd, min(length, 16384), position), 0)

    def close(self) -> None:
        self._socket.close()

    def _try(self, call: Callable[[], T], *, waits_to_write: bool = False) -> T:
        try:
            return call()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as wait:
            wants_to_write = isinstance(wait, ssl.SSLWantWriteError)
            self.is_crossed = wants_to_write is not waits_to_write
            raise BlockingIOError from wait


def test_frames_and_file_regions_go_through_tls(tmp_path: Path) -> None:
    made = certificate_for_loopback(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made.certificate, made.key)
    client = ssl.create_default_context(cafile=made.certificate)
    path = tmp_path / "segment"
    content = os.urandom(1_000_000)
    path.write_bytes(content)
    frames = [b"small", os.urandom(700_000), b"x" * 20_000, b"last"]
    answer = framed(b"head" + content[1000:901_000])

    def talk(sock: socket.socket) -> bytes:
        sock.setblocking(True)
        with client.wrap_socket(sock, server_hostname="127.0.0.1") as wrapped:
            # All in one go: records hold several frames, and frames take several records.
            wrapped.sendall(b"".join(map(framed, frames)))
            received = bytearray()
            while len(received) < len(frames) * len(answer):
                received += wrapped.recv(65536)
            return bytes(received)

    async def run() -> None:
        async with connected(open_transport=lambda sock: TlsTransport(sock, server)) as peer:
            talking = asyncio.get_running_loop().run_in_executor(None, talk, peer.sock.dup())
            await peer.until_frames(len(frames))
            assert peer.frames == frames
            file = OpenFile(str(path))
            for reply in peer.replies:
                reply.send(b"head", [FileSlice(file, 1000, 900_000)])
            assert await talking == answer * len(frames)

    asyncio.run(run())


def test_a_handshake_that_fails_closes_the_connection(tmp_path: Path) -> None:
    made = certificate_for_loopback(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made.certificate, made.key)

    async def run() -> None:
        async with connected(open_transport=lambda sock: TlsTransport(sock, server)) as peer:
            await peer.send(framed(b"plain text to a port that speaks TLS"))
            await asyncio.wait_for(peer.is_closed.wait(), 10)
            assert peer.frames == []

    asyncio.run(run())


class CrossedTransport:
    """Waits for the other direction before every second call of each kind."""

    has_pending = False

    def __init__(self, sock: socket.socket) -> None:
        self._plain = PlainTransport(sock)
        self._tried: set[str] = set()
        self.fd = self._plain.fd
        self.is_established = False
        self.is_crossed = False

    def handshake(self) -> None:
        self._cross("handshake")
        self.is_established = True

    def receive_into(self, buffer: bytearray | memoryview) -> int:
        self._cross("receive")
        return self._plain.receive_into(buffer)

    def send(self, data: bytes | memoryview, flags: int) -> int:
        self._cross("send")
        return self._plain.send(data, flags)

    def send_file(self, fd: int, position: int, length: int) -> int:
        self._cross("send_file")
        return self._plain.send_file(fd, position, length)

    def close(self) -> None:
        self._plain.close()

    def _cross(self, call: str) -> None:
        self.is_crossed = call not in self._tried
        self._tried ^= {call}
        if self.is_crossed:
            raise BlockingIOError


def test_reads_may_wait_to_write_and_writes_to_read(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(b"from a file")

    async def run() -> None:
        async with connected(open_transport=CrossedTransport) as peer:
            file = OpenFile(str(path))
            for number in range(5):
                await peer.send(framed(b"request"))
                await peer.until_frames(2 * number + 1)
                peer.replies[-1].send(b"", [b"answer ", FileSlice(file, 0, 11)])
                # The answer waits for its client to say something, and then again.
                await peer.send(framed(b"more"))
                await peer.until_frames(2 * number + 2)
                peer.replies[-1].send(b"", b"ok")
                await peer.send(b"\x00")
                await peer.send(b"\x00\x00\x01.")
                await peer.until_frames(2 * number + 3)
                peer.frames.pop()
                peer.replies.pop().skip()
                expected = framed(b"answer from a file") + framed(b"ok")
                assert await peer.receive(len(expected)) == expected

    asyncio.run(run())
