"""A change goes on when its client has hung up, and its failure is nobody's then."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from headwater.broker.metadata.changes import Changes


def test_a_failure_that_nobody_waits_for_is_not_reported_as_forgotten() -> None:
    reported: list[dict[str, Any]] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, told: reported.append(told))
        changes = Changes()
        gate = asyncio.Event()

        async def fail() -> None:
            await gate.wait()
            raise ValueError("the disk is full")

        asking = asyncio.create_task(changes.run(fail))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        gate.set()
        await changes.drain()
        with pytest.raises(ValueError, match="the disk is full"):
            await changes.run(fail)

    asyncio.run(run())
    gc.collect()
    assert reported == []
