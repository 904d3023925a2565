"""The monitor as a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.service_process import run as run_service
from headwater.monitor.instance import Instance

if TYPE_CHECKING:
    from headwater.monitor.config import MonitorConfig


def run(config: MonitorConfig) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code."""
    return run_service(lambda _: Instance(config), config.host, config.port, tls=config.tls)
