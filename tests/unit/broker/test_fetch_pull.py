"""Fetches that wait: what they hold counts for their connection until they are over."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.fetch_frames import fetch_frame, session_id_in
from tests.unit.broker.admin import running

from headwater.broker.apis import HANDLERS
from headwater.broker.network.answer_budget import MOST_PER_CONNECTION
from headwater.broker.network.connection import Connection
from headwater.broker.network.transport import PlainTransport
from headwater.broker.requests.dispatch import Dispatcher
from headwater.broker.session import Session
from headwater.broker.topics.topics import NewTopic, Topic
from headwater.log.append_info import AppendOrigin
from headwater.log.records.record import Record, encode_batch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

PARTITIONS = 100
FOR_LONG_MS = 600_000
NOW = 1_700_000_000_000


class Client:
    """One end of a connection whose other end a real broker serves."""

    def __init__(self, sock: socket.socket, connection: Connection, topic: Topic) -> None:
        self.sock = sock
        self.connection = connection
        self.topic = topic

    async def send(self, *frames: bytes) -> None:
        data = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def receive(self) -> bytes:
        return await self._exactly(int.from_bytes(await self._exactly(4), "big"))

    def append(self) -> None:
        partition = self.topic.partitions[PARTITIONS // 2]
        batch = encode_batch([Record(0, NOW, b"key", b"at last")])
        partition.append(memoryview(batch), NOW, AppendOrigin.CLIENT)
        partition.advance(partition.log.flush())

    @property
    def waiting(self) -> int:
        """How many of its fetches wait."""
        return len(self.topic.partitions[0]._waiters)

    async def _exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            part = await asyncio.get_running_loop().sock_recv(self.sock, size - len(received))
            assert part, "the broker closed the connection"
            received += part
        return bytes(received)


@asynccontextmanager
async def connected(directory: Path) -> AsyncIterator[Client]:
    async with running(directory) as admin:
        broker = admin.broker
        topic = (await broker.topics.create([NewTopic("t", PARTITIONS, {})]))["t"]
        assert isinstance(topic, Topic)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        connection = Connection(
            PlainTransport(ours), Session("PLAINTEXT", "PLAINTEXT", "127.0.0.1", 5), broker.loop,
            Dispatcher(broker, HANDLERS), lambda _: None, 1 << 20, broker.answer_budget,
        )  # fmt: skip
        try:
            yield Client(theirs, connection, topic)
        finally:
            connection.close()
            theirs.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the broker tells nobody that a fetch waits
            await asyncio.sleep(0)


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_fetches_that_wait_count_until_they_are_answered(tmp_path: Path) -> None:
    frame = fetch_frame("t", range(PARTITIONS), max_wait_ms=FOR_LONG_MS)

    async def check() -> None:
        async with connected(tmp_path) as client:
            await client.send(frame)
            await until(lambda: client.waiting == 1)
            each = client.connection.expected
            assert each > len(frame) + 500 * PARTITIONS
            at_once = MOST_PER_CONNECTION // each + 1
            await client.send(*[frame] * (2 * at_once))
            await until(lambda: client.waiting >= at_once)
            await turns(50)
            assert client.waiting == at_once
            assert client.connection.expected == at_once * each

            client.append()
            for _ in range(1 + 2 * at_once):
                assert b"at last" in await client.receive()
            assert (client.waiting, client.connection.expected) == (0, 0)

    asyncio.run(check())


def test_a_session_s_partitions_count_though_its_request_names_none(tmp_path: Path) -> None:
    async def check() -> None:
        async with connected(tmp_path) as client:
            await client.send(fetch_frame("t", range(PARTITIONS), session_epoch=0))
            session_id = session_id_in(await client.receive())
            assert client.connection.expected == 0  # it was answered at once
            await client.send(
                fetch_frame(
                    "t", (), session_id=session_id, session_epoch=1, max_wait_ms=FOR_LONG_MS
                )
            )
            await until(lambda: client.waiting == 1)
            assert client.connection.expected > 500 * PARTITIONS

    asyncio.run(check())


def test_fetches_of_a_closed_connection_count_no_more(tmp_path: Path) -> None:
    frame = fetch_frame("t", range(PARTITIONS), max_wait_ms=FOR_LONG_MS)

    async def check() -> None:
        async with connected(tmp_path) as client:
            await client.send(frame, frame, frame)
            await until(lambda: client.waiting == 3)
            assert client.connection.expected > 3 * 500 * PARTITIONS
            client.sock.close()
            await until(lambda: client.waiting == 0)
            assert client.connection.expected == 0

    asyncio.run(check())
