"""The registry as a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.service_process import run as run_service
from headwater.registry.instance import Instance

if TYPE_CHECKING:
    from headwater.registry.config import RegistryConfig

REALM = "headwater schema registry"


def run(config: RegistryConfig) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code."""

    def build(url: str) -> Instance:
        return Instance(config, config.advertised_url or url, config.authenticator(REALM))

    return run_service(build, config.host, config.port, tls=config.tls)
