"""Large schemas are parsed and compared off the event loop, a few at a time."""

from __future__ import annotations

import asyncio
import threading
import time

from headwater.registry.heavy_work import AT_ONCE, INLINE_BYTES, HeavyWork


class Crowd:
    """Work that notes in which thread it is done, and how many do some at the same time."""

    def __init__(self) -> None:
        self.most = self._inside = 0
        self.threads: set[int] = set()
        self._lock = threading.Lock()

    def work(self) -> None:
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)
            self.threads.add(threading.get_ident())
        time.sleep(0.02)
        with self._lock:
            self._inside -= 1


def done_by_twelve(size: int) -> Crowd:
    crowd = Crowd()

    async def run() -> None:
        heavy_work = HeavyWork()
        await asyncio.gather(*(heavy_work.run(size, crowd.work) for _ in range(12)))

    asyncio.run(run())
    return crowd


def test_large_ones_wait_for_their_turn() -> None:
    crowd = done_by_twelve(INLINE_BYTES + 1)
    assert threading.get_ident() not in crowd.threads
    assert 1 <= crowd.most <= AT_ONCE


def test_small_ones_are_done_at_once() -> None:
    assert done_by_twelve(INLINE_BYTES).threads == {threading.get_ident()}


def test_what_fails_makes_room_for_the_next() -> None:
    def fail() -> None:
        raise ValueError("malformed")

    async def run() -> list[BaseException | None]:
        heavy_work = HeavyWork()
        return await asyncio.gather(
            *(heavy_work.run(INLINE_BYTES + 1, fail) for _ in range(3 * AT_ONCE)),
            return_exceptions=True,
        )

    assert [str(each) for each in asyncio.run(run())] == ["malformed"] * 3 * AT_ONCE
