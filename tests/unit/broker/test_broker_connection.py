"""Frames in, replies out in order: a real socket pair on a real event loop."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.broker.connection import MAX_IN_FLIGHT, Connection, Reply
from headwater.log.segment import FileSlice, SegmentFile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

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

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.sock, data)

    async def receive(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            chunk = await asyncio.get_running_loop().sock_recv(self.sock, count - len(received))
            assert chunk, "the broker closed the connection"
            received += chunk
        return received

    async def until_frames(self, count: int) -> None:
        while len(self.frames) < count:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), 10)


@asynccontextmanager
async def connected(max_frame: int = MAX_FRAME) -> AsyncIterator[Peer]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    peer = Peer(theirs)
    peer.connection = Connection(
        ours, ("127.0.0.1", 5), "PLAINTEXT", asyncio.get_running_loop(), peer.handle,
        lambda _: peer.is_closed.set(), max_frame,
    )  # fmt: skip
    try:
        yield peer
    finally:
        peer.connection.close()
        theirs.close()


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


@settings(max_examples=40, deadline=None)
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
            file = SegmentFile(str(path))
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
            assert peer.connection.is_waiting
            # The rest waits as replies: what was handed to the socket's queue is one reply at most.
            assert (
                await peer.receive(100_004 * MAX_IN_FLIGHT)
                == framed(bytes(100_000)) * MAX_IN_FLIGHT
            )

    asyncio.run(run())


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
