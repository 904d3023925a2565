"""The console as a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console.instance import Instance
from headwater.http.service_process import run as run_service

if TYPE_CHECKING:
    from headwater.console.config import ConsoleConfig


def run(config: ConsoleConfig) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code."""
    return run_service(lambda _: Instance(config), config.host, config.port, tls=config.tls)
