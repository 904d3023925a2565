"""TLS in large pieces: records that are cut, run together, broken or followed by more."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import ssl
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import often
from tests.unit.broker.test_network_connection import connected, framed
from tests.unit.broker.test_tls_transport import AUTHORITY, BROKER, listener_tls, talk
from tests.waiting import HUNG_AFTER_S

from headwater.broker.network.transport import MORE_FOLLOWS
from headwater.broker.tls.transport import TlsTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.broker.tls.listener_tls import ListenerTls


@cache
def shared_tls() -> ListenerTls:
    return listener_tls()


class Client:
    """A client whose records a test holds in its hands, and the broker's end for it."""

    def __init__(
        self, tls: ListenerTls | None = None, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3
    ) -> None:
        ours, self.sock = socket.socketpair()
        ours.setblocking(False)
        self.sock.setblocking(False)
        context = ssl.create_default_context(cadata=AUTHORITY.certificate)
        context.maximum_version = version
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="localhost")
        self.transport = (tls or shared_tls()).open_transport(ours)

    def shake_hands(self) -> None:
        while not self.transport.is_established:
            with suppress(ssl.SSLWantReadError):
                self.tls.do_handshake()
            self.sock.send(self._outgoing.read())
            with suppress(BlockingIOError):
                self.transport.handshake()
            self.hear()

    def hear(self) -> int:
        """Take what the broker has sent, and return how much it was."""
        size = 0
        with suppress(BlockingIOError):
            while data := self.sock.recv(65536):
                size += self._incoming.write(data)
        return size

    def records(self, *pieces: bytes) -> bytes:
        """Encrypt, a record for each piece."""
        for piece in pieces:
            self.tls.write(piece)
        return self._outgoing.read()

    def goodbye(self) -> bytes:
        with suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        return self._outgoing.read()

    def read(self) -> bytes:
        """Decrypt all that has come."""
        self.hear()
        found = bytearray()
        with suppress(ssl.SSLWantReadError):
            while data := self.tls.read(65536):
                found += data
        return bytes(found)

    def has_more(self) -> bool:
        """Whether the broker has received more than it has taken."""
        return self.transport.has_pending

    def received(self, size: int = 100_000) -> bytes:
        """Have the broker receive once."""
        buffer = bytearray(size)
        return bytes(buffer[: self.transport.receive_into(buffer)])


@contextmanager
def a_client(
    tls: ListenerTls | None = None, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3
) -> Iterator[Client]:
    client = Client(tls, version)
    try:
        with client.sock:
            client.shake_hands()
            yield client
    finally:
        client.transport.close()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@settings(max_examples=often(25, in_soak=500), deadline=None)
@given(
    sizes=st.lists(st.integers(1, 16_384), min_size=1, max_size=20),
    cuts=st.lists(st.integers(1, 40_000), max_size=12),
    buffers=st.lists(st.integers(1, 70_000), min_size=1, max_size=5),
)
def test_records_may_be_cut_anywhere_and_read_in_any_pieces(
    version: ssl.TLSVersion, sizes: list[int], cuts: list[int], buffers: list[int]
) -> None:
    pieces = [random.Random(size).randbytes(size) for size in sizes]
    received = bytearray()
    with a_client(version=version) as client:
        stream = client.records(*pieces) + client.goodbye()
        position = number = 0
        for cut in [*cuts, len(stream)]:
            rest = stream[position : position + cut]
            while rest:
                with suppress(BlockingIOError):
                    rest = rest[client.sock.send(rest) :]
                with suppress(BlockingIOError):
                    while data := client.received(buffers[number % len(buffers)]):
                        received += data
                        number += 1
            position += cut
        assert received == b"".join(pieces)
        assert client.received() == b""


def test_many_records_come_with_one_read_and_what_is_over_is_pending() -> None:
    pieces = [os.urandom(100) for _ in range(500)]
    everything = b"".join(pieces)
    with a_client() as client:
        client.sock.send(client.records(*pieces))
        assert client.received(1000) == everything[:1000]
        assert client.has_more()
        with pytest.raises(BlockingIOError):
            client.sock.recv(1)
        # Sending does not touch what was received already.
        assert client.transport.send(b"meanwhile", 0) == len(b"meanwhile")
        assert client.read() == b"meanwhile"
        assert client.received() == everything[1000:]
        assert not client.has_more()
        with pytest.raises(BlockingIOError):
            client.received()
        assert not client.transport.is_crossed


def test_clients_do_not_get_into_each_others_records() -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(a_client()) for _ in range(5)]
        said = [os.urandom(50_000) for _ in clients]
        streams = [
            client.records(*(data[at : at + 10_000] for at in range(0, 50_000, 10_000)))
            for client, data in zip(clients, said, strict=True)
        ]
        heard = [b""] * len(clients)
        answered = [b""] * len(clients)
        for start in range(0, max(map(len, streams)), 7_777):
            for number, client in enumerate(clients):
                client.sock.send(streams[number][start : start + 7_777])
                with suppress(BlockingIOError):
                    # Less than has come, so that each has something over.
                    heard[number] += client.received(5_000)
                answer = os.urandom(100)
                assert client.transport.send(answer, 0) == len(answer)
                answered[number] += answer
        for number, client in enumerate(clients):
            while client.has_more():
                heard[number] += client.received(5_000)
            assert heard[number] == said[number]
            assert client.read() == answered[number]


def test_a_client_that_is_gone_in_the_middle_of_a_record_has_ended() -> None:
    for kept in (1, 4, 5, 100):
        with a_client() as client:
            client.sock.send(client.records(b"whole") + client.records(b"x" * 200)[:kept])
            client.sock.close()
            assert client.received() == b"whole"
            for _ in range(2):
                assert client.received() == b""
            assert client.has_more()


def test_garbage_behind_a_request_is_told_after_it_and_answered_with_an_alert() -> None:
    for garbage in (b"GET / HTTP/1.1\r\n", b"\x17\x03\x03\x00\x20" + os.urandom(32)):
        with a_client() as client:
            client.sock.send(client.records(b"request") + garbage)
            assert client.received() == b"request"
            assert client.has_more()
            for _ in range(2):
                with pytest.raises(ssl.SSLError):
                    client.received()
            client.hear()
            with pytest.raises(ssl.SSLError, match="ALERT"):
                client.tls.read(1)


def test_the_broker_says_goodbye() -> None:
    with a_client() as client:
        client.transport.send(b"the last", 0)
        client.transport.close()
        client.hear()
        assert client.tls.read(100) == b"the last"
        assert client.tls.read(100) == b""


def test_nothing_has_left_that_the_socket_has_not_taken() -> None:
    sent = os.urandom(3_000_000)
    received = bytearray()
    with a_client() as client:
        # Held back for what follows.
        position = client.transport.send(sent[:10], MORE_FOLLOWS or 1)
        assert position == 10
        assert not client.hear()
        while position < len(sent):
            try:
                left = client.transport.send(memoryview(sent)[position:], 0)
                assert left
                position += left
            except BlockingIOError:
                assert not client.transport.is_crossed
                before = len(received)
                received += client.read()
                assert len(received) > before
        received += client.read()
        assert received == sent


def test_a_handshake_waits_for_room_for_what_it_says() -> None:
    # A chain that no socket's buffer has room for.
    tls = listener_tls(keystore_certificate_chain="\n".join([BROKER.certificate] * 60))
    client = Client(tls)
    transport = client.transport
    ours: socket.socket = transport._socket
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with client.sock:
        with pytest.raises(ssl.SSLWantReadError):
            client.tls.do_handshake()
        client.sock.send(client._outgoing.read())
        for _ in range(2):
            with pytest.raises(BlockingIOError):
                transport.handshake()
            assert transport.is_crossed
        client.shake_hands()
        client.sock.send(client.records(b"request"))
        assert client.received() == b"request"
        transport.close()


def test_who_takes_nothing_of_what_tls_says_is_not_listened_to() -> None:
    with a_client() as client:
        transport = client.transport
        assert transport._records is not None
        client.sock.send(client.records(b"first"))
        transport._records._said = bytes(5_000_000)
        assert client.received() == b"first"
        client.sock.send(client.records(b"second"))
        for _ in range(2):
            with pytest.raises(BlockingIOError):
                client.received()
            assert transport.is_crossed
        taken = 0
        while taken < 5_000_000:
            taken += client.hear()
            with suppress(BlockingIOError):
                assert client.received() == b"second"
        assert not transport.is_crossed


def test_requests_run_together_are_answered_while_they_come() -> None:
    requests = [random.Random(size).randbytes(size) for size in range(1, 30_000, 97)]
    context = ssl.create_default_context(cadata=AUTHORITY.certificate)
    answer = os.urandom(3_000)

    def work(sock: socket.socket) -> bytes:
        sock.settimeout(HUNG_AFTER_S)
        with context.wrap_socket(sock, server_hostname="localhost") as wrapped:
            # Requests and answers are in the way at the same time, as those of a real client.
            received = bytearray()
            for at in range(0, len(requests), 20):
                group = requests[at : at + 20]
                wrapped.sendall(b"".join(map(framed, group)))
                expected = len(received) + len(group) * len(framed(answer))
                while len(received) < expected:
                    received += wrapped.recv(65536)
            return bytes(received)

    async def run() -> None:
        async with connected(open_transport=shared_tls().open_transport) as peer:
            peer.answer_at_once(answer)
            assert await talk(peer, work) == framed(answer) * len(requests)
            assert peer.frames == requests

    asyncio.run(run())


def test_a_transport_stays_small() -> None:
    """What was large in one call is not kept for a client."""
    with a_client() as client:
        client.sock.send(client.records(*[os.urandom(16_000)] * 3))
        assert len(client.received()) == 48_000
        client.transport.send(os.urandom(60_000), 0)
        assert isinstance(client.transport, TlsTransport)
        records = client.transport._records
        assert records is not None
        assert (records._ahead, records._said, len(client.transport._encrypted)) == (b"", b"", 0)
