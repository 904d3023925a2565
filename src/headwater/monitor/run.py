"""The monitor as a process."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from headwater.http.service_process import run as run_service
from headwater.monitor.instance import Instance

if TYPE_CHECKING:
    from headwater.monitor.config import MonitorConfig

COLLECT_AFTER = 20_000
"""So many new objects between two searches for garbage, instead of 700.

A look at many partitions makes a hundred thousand objects, none of them in a cycle, and otherwise
looking through them again and again takes a third of its time.
"""


def run(config: MonitorConfig) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code."""
    gc.set_threshold(COLLECT_AFTER)
    return run_service(lambda _: Instance(config), config.host, config.port, tls=config.tls)
