"""Transports: the plain one, and what the interface has to bear for one that encrypts."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.unit.broker.test_network_connection import connected, framed

from headwater.broker.network.transport import PlainTransport
from headwater.log.disk import OpenFile
from headwater.log.segments.segment import FileSlice

if TYPE_CHECKING:
    from pathlib import Path


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


class CrossedTransport:
    """Waits for the other direction before every second call of each kind."""

    authentication = None
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


def test_a_broker_without_tls_loads_nothing_of_it() -> None:
    program = (
        "import headwater.broker.run, sys;"
        "sys.exit(any(n.startswith(('cryptography', 'headwater.broker.tls')) for n in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
