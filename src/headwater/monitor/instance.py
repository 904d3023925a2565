"""The monitor as a service: put together, started and stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.app import App, call_handler
from headwater.monitor.http.api import INTERFACE
from headwater.monitor.metrics import MonitorMetrics
from headwater.monitor.service import MonitorService

if TYPE_CHECKING:
    from headwater.monitor.config import MonitorConfig

REALM = "headwater monitor"


class Instance:
    """A monitor that can be asked once it was started; its cluster need not be there."""

    title = "monitor"

    def __init__(self, config: MonitorConfig) -> None:
        self.service = MonitorService(config)
        self.app = App(
            INTERFACE,
            call_handler(self.service),
            MonitorMetrics(self.service.cluster),
            authenticator=config.authenticator(REALM),
            access_log=config.access_log(),
        )

    async def start(self) -> None:
        """Look at the cluster for the first time."""
        await self.service.start()

    async def stop(self) -> None:
        """Look no more."""
        await self.service.stop()

    def summary(self) -> str:
        """Say what is watched."""
        seen = self.service.cluster.latest
        if seen is None:
            return f"cluster {self.service.cluster.name} is not there yet"
        return f"{len(seen.cluster.topics)} topics, {len(seen.lags)} groups"
