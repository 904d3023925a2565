"""Clients that reset their connections where the event loop does not hear it: real TCP."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import uvloop
from tests.unit.broker.test_network_connection import MAX_FRAME, Peer, framed
from tests.waiting import HUNG_AFTER_S

from headwater.broker.authorizer import ALLOW_ALL
from headwater.broker.config import BrokerConfig
from headwater.broker.network.answer_budget import AnswerBudget
from headwater.broker.network.connection import Connection
from headwater.broker.network.connection_limits import ConnectionLimits
from headwater.broker.network.listener import Listener, bind
from headwater.broker.network.listener_security import ListenerSecurity
from headwater.broker.network.resets import Resets
from headwater.broker.network.transport import PlainTransport
from headwater.broker.quotas.client_quotas import ClientQuotas
from headwater.broker.session import Session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from headwater.broker.requests.reply import Reply

LOOPS = pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])


@asynccontextmanager
async def a_client(said: bytes = b"") -> AsyncIterator[Peer]:
    """A client that has said something before its connection is read."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        sock, _ = server.accept()
    sock.setblocking(False)
    client.sendall(said)
    client.setblocking(False)
    peer = Peer(client)
    peer.connection = Connection(
        PlainTransport(sock), Session("PLAINTEXT", "PLAINTEXT", "127.0.0.1", 5),
        asyncio.get_running_loop(), peer.handle, lambda _: peer.is_closed.set(), MAX_FRAME,
        AnswerBudget(),
    )  # fmt: skip
    try:
        yield peer
    finally:
        peer.connection.close()
        client.close()


def reset(peer: Peer) -> None:
    peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.sock.close()


async def until_closed(peer: Peer) -> None:
    resets = Resets(asyncio.get_running_loop(), {peer.connection}, every_s=0.01)
    resets.start()
    try:
        await asyncio.wait_for(peer.is_closed.wait(), HUNG_AFTER_S)
    finally:
        resets.stop()


@LOOPS
@pytest.mark.parametrize("said", [b"", framed(b"request") * 100])
def test_a_reset_of_a_connection_that_is_not_read_closes_it(
    new_loop: Callable[[], asyncio.AbstractEventLoop], said: bytes
) -> None:
    async def run() -> None:
        async with a_client(said) as peer:
            peer.connection.mute(10_000)
            reset(peer)
            await until_closed(peer)
            assert peer.frames == []

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(run())


@LOOPS
def test_a_reset_behind_more_than_is_read_at_once_closes_the_connection(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def run() -> None:
        # More than one read takes, of a frame that never comes to its end.
        async with a_client((1_000_000).to_bytes(4, "big") + bytes(200_000)) as peer:
            reset(peer)
            await until_closed(peer)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(run())


@LOOPS
def test_a_client_that_only_says_no_more_gets_its_answer(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def run() -> None:
        async with a_client() as peer:
            await peer.send(framed(b"request"))
            await peer.until_frames(1)
            peer.connection.mute(10_000)
            peer.sock.shutdown(socket.SHUT_WR)
            resets = Resets(asyncio.get_running_loop(), {peer.connection})
            for _ in range(3):
                resets.look()
            assert not peer.is_closed.is_set()
            peer.replies[0].send(b"", b"answer")
            assert await peer.receive(10) == framed(b"answer")

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(run())


def test_bytes_before_a_reset_are_read_by_whoever_can() -> None:
    async def run() -> None:
        async with a_client(framed(b"request") * 3) as peer:
            reset(peer)
            resets = Resets(asyncio.get_running_loop(), {peer.connection})
            resets.look()
            assert not peer.is_closed.is_set()
            await peer.until_frames(3)
            await asyncio.wait_for(peer.is_closed.wait(), HUNG_AFTER_S)

    asyncio.run(run())


def test_a_listener_looks_at_its_connections() -> None:
    config = BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:0"})
    closed = asyncio.Event()

    class Watched(ConnectionLimits):
        def release(self, address: str) -> None:
            super().release(address)
            closed.set()

    def turn_away(connection: Connection, _view: memoryview, _reply: Reply) -> None:
        connection.mute(10_000)
        reset_now.set()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        nothing: Any = None
        listener = Listener(
            "PLAINTEXT",
            ListenerSecurity(config.listeners[0], config, loop, turn_away, nothing, nothing),
            bind("127.0.0.1", 0, 5),
            loop,
            limits=Watched(config, ClientQuotas(config)),
            budget=AnswerBudget(),
            authorizer=ALLOW_ALL,
            resets_every_s=0.01,
        )
        listener.start()
        client = Peer(socket.create_connection(listener.address))
        client.sock.sendall(framed(b"request"))
        await asyncio.wait_for(reset_now.wait(), HUNG_AFTER_S)
        reset(client)
        await asyncio.wait_for(closed.wait(), HUNG_AFTER_S)
        assert not listener.connections
        listener.close()

    reset_now = asyncio.Event()
    asyncio.run(run())
