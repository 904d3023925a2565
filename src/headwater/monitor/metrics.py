"""What Prometheus fetches: what was seen of the cluster, and the monitor's own requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import ProcessCollector

from headwater.http.metrics import RequestMetrics
from headwater.metrics.gauges import text_of
from headwater.monitor.families import cluster_families

if TYPE_CHECKING:
    from headwater.monitor.cluster_monitor import ClusterMonitor


class MonitorMetrics(RequestMetrics):
    """Makes text of what was seen once for each look, in its thread, and not for each scrape."""

    def __init__(self, monitor: ClusterMonitor) -> None:
        super().__init__("headwater_monitor")
        self.registry.register(ProcessCollector(registry=None))
        self._monitor = monitor
        self._text = b""
        self._render()
        monitor.after_each_look(self._render)

    def text(self) -> bytes:
        """Return all of it."""
        return self._text + super().text()

    def _render(self) -> None:
        self._text = text_of(cluster_families(self._monitor))
