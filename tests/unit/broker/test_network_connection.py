"""Frames in, replies out in order: a real socket pair on a real event loop."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import often

from headwater.broker.network.answer_budget import MOST_PER_CONNECTION, AnswerBudget
from headwater.broker.network.connection import MAX_IN_FLIGHT, TURN_S, Connection
from headwater.broker.network.transport import PlainTransport
from headwater.broker.session import Session
from headwater.log.disk import OpenFile
from headwater.log.segments.segment import FileSlice

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from headwater.broker.network.transport import Transport
    from headwater.broker.requests.reply import Reply

MAX_FRAME = 8 * 1024 * 1024


class Peer:
    """The client's end, and what the broker's end received."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.frames: list[bytes] = []
        self.replies: list[Reply] = []
        self.is_closed = asyncio.Event()
        self.arrived = asyncio.Event()
        self.connection: Connection

    def handle(self, _: Connection, view: memoryview, reply: Reply) -> None:
        self.frames.append(bytes(view))
        self.replies.append(reply)
        self.arrived.set()

    def answer_at_once(self, body: bytes) -> None:
        def handle(connection: Connection, view: memoryview, reply: Reply) -> None:
            self.handle(connection, view, reply)
            reply.send(b"", body)

        self.connection._handle = handle

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def receive(self, count: int) -> bytes:
        received = bytearray()
        while len(received) < count:
            chunk = await asyncio.get_running_loop().sock_recv(self.sock, count - len(received))
            assert chunk, "the broker closed the connection"
            received += chunk
        return bytes(received)

    async def until_frames(self, count: int) -> None:
        while len(self.frames) < count:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), 10)


@asynccontextmanager
async def connected(
    max_frame: int = MAX_FRAME,
    budget: AnswerBudget | None = None,
    open_transport: Callable[[socket.socket], Transport] = PlainTransport,
) -> AsyncIterator[Peer]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    peer = Peer(theirs)
    session = Session("PLAINTEXT", "PLAINTEXT", "127.0.0.1", 5)
    peer.connection = Connection(
        open_transport(ours), session, asyncio.get_running_loop(), peer.handle,
        lambda _: peer.is_closed.set(), max_frame, budget or AnswerBudget(),
    )  # fmt: skip
    try:
        yield peer
    finally:
        peer.connection.close()
        theirs.close()


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


@settings(max_examples=often(40, in_soak=500), deadline=None)
@given(
    sizes=st.lists(st.integers(1, 200_000), min_size=1, max_size=8),
    cuts=st.lists(st.integers(1, 150_000), max_size=12),
)
def test_frames_arrive_whole_however_the_bytes_are_cut(sizes: list[int], cuts: list[int]) -> None:
    frames = [random.Random(size).randbytes(size) for size in sizes]
    stream = b"".join(framed(frame) for frame in frames)

    async def run() -> list[bytes]:
        async with connected() as peer:
            position = 0
            for cut in [*cuts, len(stream)]:
                await peer.send(stream[position : position + cut])
                position += cut
                await asyncio.sleep(0)
            await peer.until_frames(len(frames))
            return peer.frames

    assert asyncio.run(run()) == frames


def test_a_frame_larger_than_the_first_allocation_arrives_whole() -> None:
    frame = random.Random(7).randbytes(7 * 1024 * 1024)

    async def run() -> bytes:
        async with connected() as peer:
            await peer.send(framed(frame))
            await peer.until_frames(1)
            return peer.frames[0]

    assert asyncio.run(run()) == frame


def test_replies_leave_in_the_order_of_their_requests() -> None:
    async def run() -> bytes:
        async with connected() as peer:
            await peer.send(b"".join(framed(b"%d" % i) for i in range(3)))
            await peer.until_frames(3)
            peer.replies[2].send(b"h2", b"third")
            peer.replies[1].skip()
            peer.replies[0].send(b"h0", [b"fir", b"st"])
            return await peer.receive(4 + 7 + 4 + 7)

    assert asyncio.run(run()) == framed(b"h0first") + framed(b"h2third")


def test_a_file_region_is_sent_between_bytes(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    content = os.urandom(3_000_000)
    path.write_bytes(content)

    async def run() -> bytes:
        async with connected() as peer:
            await peer.send(framed(b"fetch"))
            await peer.until_frames(1)
            file = OpenFile(str(path))
            peer.replies[0].send(b"head", [b"a", FileSlice(file, 1_000, 2_500_000), b"z"])
            return await peer.receive(4 + 4 + 1 + 2_500_000 + 1)

    expected = framed(b"head" + b"a" + content[1_000:2_501_000] + b"z")
    assert asyncio.run(run()) == expected


@pytest.mark.parametrize("size", [0, -1, -(2**31), MAX_FRAME + 1, 2**31 - 1])
def test_a_size_that_no_client_sends_closes_the_connection(size: int) -> None:
    async def run() -> None:
        async with connected() as peer:
            await peer.send(size.to_bytes(4, "big", signed=True) + b"rest")
            await asyncio.wait_for(peer.is_closed.wait(), 10)
            assert peer.frames == []

    asyncio.run(run())


def test_a_client_that_pipelines_without_reading_is_no_longer_read() -> None:
    async def run() -> None:
        async with connected() as peer:
            many = 20 * MAX_IN_FLIGHT
            # Frames of 8 KB, so that what is read ahead in one go is a small part of them.
            flood = asyncio.create_task(peer.send(framed(bytes(8192)) * many))
            await peer.until_frames(MAX_IN_FLIGHT)
            for _ in range(50):
                await asyncio.sleep(0)
            assert len(peer.frames) <= MAX_IN_FLIGHT + 8
            answers = asyncio.create_task(peer.receive(6 * many))
            answered = 0
            while answered < many:
                await peer.until_frames(answered + 1)
                for reply in peer.replies[answered:]:
                    reply.send(b"", b"ok")
                    answered += 1
            assert await answers == framed(b"ok") * many
            await flood

    asyncio.run(run())


def test_a_reader_that_never_reads_holds_back_replies_not_memory() -> None:
    async def run() -> None:
        async with connected() as peer:
            await peer.send(framed(b"x") * MAX_IN_FLIGHT)
            await peer.until_frames(MAX_IN_FLIGHT)
            for reply in peer.replies:
                reply.send(b"", bytes(100_000))
            # The rest waits as replies: what was handed to the socket's queue is one reply at most.
            assert (
                await peer.receive(100_004 * MAX_IN_FLIGHT)
                == framed(bytes(100_000)) * MAX_IN_FLIGHT
            )

    asyncio.run(run())


def test_requests_that_came_together_wait_while_answers_are_not_taken() -> None:
    answer = bytes(100_000)
    many = 300

    async def run() -> None:
        budget = AnswerBudget()
        async with connected(budget=budget) as peer:
            peer.answer_at_once(answer)
            await peer.send(framed(b"x") * many)
            await peer.until_frames(1)
            await turns(50)
            assert peer.connection.unsent <= MOST_PER_CONNECTION + len(answer)
            assert budget.held == peer.connection.unsent
            assert len(peer.frames) < 50
            assert not peer.connection.is_waiting  # the broker waits for this client
            received = await peer.receive((4 + len(answer)) * many)
            assert received == framed(answer) * many
            assert len(peer.frames) == many
            assert (budget.held, peer.connection.unsent) == (0, 0)

    asyncio.run(run())


def test_answers_that_come_later_count_beforehand() -> None:
    async def run() -> None:
        async with connected() as peer:
            handle = peer.connection._handle

            def handle_later(connection: Connection, view: memoryview, reply: Reply) -> None:
                handle(connection, view, reply)
                reply.expect(MOST_PER_CONNECTION // 3)

            peer.connection._handle = handle_later
            await peer.send(framed(b"x") * 9)
            await peer.until_frames(4)
            await turns(20)
            assert len(peer.frames) == 4
            for answered in range(9):
                await peer.until_frames(answered + 1)
                peer.replies[answered].send(b"", b"ok")
            assert await peer.receive(6 * 9) == framed(b"ok") * 9
            assert peer.connection.expected == 0

    asyncio.run(run())


def test_beyond_the_common_budget_each_connection_has_one_request_under_way() -> None:
    async def run() -> None:
        budget = AnswerBudget(limit=100_000)
        async with connected(budget=budget) as greedy, connected(budget=budget) as modest:
            greedy.answer_at_once(bytes(400_000))
            await greedy.send(framed(b"x") * 10)
            await greedy.until_frames(1)
            await turns(20)
            assert len(greedy.frames) <= 2
            assert budget.held > budget.limit
            await modest.send(framed(b"x") * 5)
            for number in range(5):
                await modest.until_frames(number + 1)
                await turns(5)
                assert len(modest.frames) == number + 1
                modest.replies[number].send(b"", b"ok")
            assert await modest.receive(6 * 5) == framed(b"ok") * 5
            greedy.connection.close()
            assert budget.held == 0
            # Both may be sent at once again.
            await modest.send(framed(b"x") * 2)
            await modest.until_frames(7)

    asyncio.run(run())


def test_a_long_row_of_requests_lets_others_have_their_turn() -> None:
    async def run() -> int:
        async with connected() as slow, connected() as quick:
            handle = slow.connection._handle

            def handle_slowly(connection: Connection, view: memoryview, reply: Reply) -> None:
                handle(connection, view, reply)
                reply.send(b"", b"ok")
                time.sleep(2 * TURN_S)

            slow.connection._handle = handle_slowly
            await slow.send(framed(b"x") * 100)
            await slow.until_frames(1)
            await quick.send(framed(b"y"))
            await quick.until_frames(1)
            served_before = len(slow.frames)
            assert await slow.receive(6 * 100) == framed(b"ok") * 100
            return served_before

    assert asyncio.run(run()) < 50


def test_closing_cancels_the_work_of_unanswered_requests() -> None:
    async def run() -> bool:
        async with connected() as peer:
            await peer.send(framed(b"long poll"))
            await peer.until_frames(1)
            work: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            peer.replies[0].attach(work)
            peer.sock.close()
            await asyncio.wait_for(peer.is_closed.wait(), 10)
            return work.cancelled()

    assert asyncio.run(run())
