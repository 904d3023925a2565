"""An answer that comes later: told at once, once, and not to who has hung up."""

from __future__ import annotations

import asyncio

from headwater.broker.requests.pending_answer import PendingAnswer


def test_who_waits_is_told_at_once() -> None:
    told: list[object] = []
    answer = PendingAnswer()
    answer.when_given(told.append)
    assert not answer.done()
    answer.give(b"first")
    answer.give(b"second")
    assert told == [b"first"]
    assert answer.done()


def test_who_comes_late_is_told_as_well() -> None:
    told: list[object] = []
    answer = PendingAnswer()
    answer.give(b"there")
    answer.when_given(told.append)
    assert told == [b"there"]


def test_who_has_hung_up_is_not_told() -> None:
    told: list[object] = []
    answer = PendingAnswer()
    answer.when_given(told.append)
    answer.cancel()
    answer.give(b"too late")
    assert told == []
    assert answer.done()


def test_it_can_be_awaited() -> None:
    async def run() -> object:
        answer = PendingAnswer()
        asyncio.get_running_loop().call_soon(answer.give, b"body")
        return await answer

    assert asyncio.run(run()) == b"body"
