"""Watching a cluster goes on, whatever a look at it brings."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.monitor.cluster_monitor import ClusterMonitor
from headwater.monitor.config import MonitorConfig

if TYPE_CHECKING:
    import pytest


def test_a_look_that_fails_is_not_the_last(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = ClusterMonitor(replace(MonitorConfig(), interval_s=0.001))
    looks: list[int] = []

    async def run() -> None:
        looked_again = asyncio.Event()
        loop = asyncio.get_running_loop()

        def look() -> None:
            looks.append(len(looks))
            if len(looks) == 2:
                raise RuntimeError("nobody thought of this")
            if len(looks) == 3:
                loop.call_soon_threadsafe(looked_again.set)

        monkeypatch.setattr(monitor, "look", look)
        await monitor.start()
        await asyncio.wait_for(looked_again.wait(), 60)
        await monitor.stop()

    asyncio.run(run())
    assert "cluster default could not be looked at" in caplog.text
    assert "nobody thought of this" in caplog.text
