"""Whoever waits for a change is woken by it, however many wait."""

from __future__ import annotations

import asyncio

from tests.integration.topic_state_worker import LastValues

from headwater.topic_state.log import TopicLog
from headwater.topic_state.writer import Writer


def test_one_wait_does_not_take_the_wake_up_of_another() -> None:
    async def both() -> bool:
        log = TopicLog({"bootstrap.servers": "127.0.0.1:1"}, "values", timeout_s=1)
        writer = Writer(LastValues(), log, "http://here", on_change=lambda: None)
        first = asyncio.create_task(writer.wait_for_change(60))
        await asyncio.sleep(0)
        writer.set_should_lead(True)
        await writer.wait_for_change(0.01)  # nothing has changed since
        woken = first.done()
        first.cancel()
        return woken

    assert asyncio.run(both())
