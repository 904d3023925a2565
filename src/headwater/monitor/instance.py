"""The monitor as a service: put together, started and stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.app import App, call_handler
from headwater.monitor.cluster_monitor import ClusterMonitor
from headwater.monitor.http.api import INTERFACE
from headwater.monitor.metrics import MonitorMetrics

if TYPE_CHECKING:
    from headwater.monitor.config import MonitorConfig

REALM = "headwater monitor"


class Instance:
    """A monitor that can be asked once it was started; its cluster need not be there."""

    title = "monitor"

    def __init__(self, config: MonitorConfig) -> None:
        self.monitor = ClusterMonitor(config)
        self.app = App(
            INTERFACE,
            call_handler(self.monitor),
            MonitorMetrics(self.monitor),
            authenticator=config.authenticator(REALM),
            access_log=config.access_log(),
        )

    async def start(self) -> None:
        """Look at the cluster for the first time."""
        await self.monitor.start()

    async def stop(self) -> None:
        """Look no more."""
        await self.monitor.stop()

    def summary(self) -> str:
        """Say what is watched."""
        seen = self.monitor.latest
        if seen is None:
            return f"cluster {self.monitor.name} is not there yet"
        return f"{len(seen.cluster.topics)} topics, {len(seen.lags)} groups"
