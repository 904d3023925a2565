"""A muted connection: nothing is read from it for a while, and nothing gets lost."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from tests.unit.broker.test_network_connection import connected, framed


def test_requests_wait_in_order_and_those_before_are_answered() -> None:
    async def run() -> tuple[list[bytes], bytes]:
        async with connected() as peer:
            loop = asyncio.get_running_loop()
            await peer.send(framed(b"first"))
            await peer.until_frames(1)
            until = loop.time() + 0.2
            peer.connection.mute(0.2)
            await peer.send(framed(b"second") + framed(b"third"))
            peer.replies[0].send(b"", b"answer")
            answer = await peer.receive(4 + 6)
            await peer.until_frames(3)
            assert loop.time() >= until
            return peer.frames, answer

    frames, answer = asyncio.run(run())
    assert frames == [b"first", b"second", b"third"]
    assert answer == framed(b"answer")


def test_what_was_received_together_waits_as_well() -> None:
    """Five requests come in one read; each of them mutes."""

    async def run() -> list[float]:
        async with connected() as peer:
            loop = asyncio.get_running_loop()
            times: list[float] = []
            handle = peer.connection._handle

            def handle_and_mute(*arguments: object) -> None:
                times.append(loop.time())
                peer.connection.mute(0.05)
                handle(*arguments)  # type: ignore[arg-type]

            peer.connection._handle = handle_and_mute
            await peer.send(b"".join(framed(b"%d" % i) for i in range(5)) + framed(b"x" * 100)[:50])
            await peer.until_frames(5)
            await peer.send(framed(b"x" * 100)[50:])
            await peer.until_frames(6)
            assert peer.frames == [b"0", b"1", b"2", b"3", b"4", b"x" * 100]
            return times

    times = asyncio.run(run())
    assert all(later - earlier >= 0.049 for earlier, later in pairwise(times))


def test_the_longest_mute_counts() -> None:
    async def run() -> None:
        async with connected() as peer:
            loop = asyncio.get_running_loop()
            until = loop.time() + 0.2
            peer.connection.mute(0.2)
            peer.connection.mute(0.01)
            await peer.send(framed(b"late"))
            await peer.until_frames(1)
            assert loop.time() >= until

    asyncio.run(run())


def test_a_frame_may_be_half_there() -> None:
    frame = bytes(range(256)) * 2000

    async def run() -> bytes:
        async with connected() as peer:
            await peer.send(framed(frame)[:300_000])
            peer.connection.mute(0.05)
            await peer.send(framed(frame)[300_000:])
            await peer.until_frames(1)
            return peer.frames[0]

    assert asyncio.run(run()) == frame


def test_a_muted_connection_can_be_closed() -> None:
    async def run() -> None:
        async with connected() as peer:
            peer.connection.mute(0.01)
            peer.connection.close()
            peer.connection.mute(0.01)
            await asyncio.wait_for(peer.is_closed.wait(), 10)
            await asyncio.sleep(0.05)  # the time at which a timer left behind would go off

    asyncio.run(run())
