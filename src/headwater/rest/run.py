"""The REST proxy as a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.service_process import run as run_service
from headwater.rest.instance import Instance

if TYPE_CHECKING:
    from headwater.rest.config import RestConfig

REALM = "headwater REST proxy"


def run(config: RestConfig) -> int:
    """Serve until SIGINT or SIGTERM and return the exit code."""

    def build(_url: str) -> Instance:
        return Instance(config, config.authenticator(REALM))

    return run_service(build, config.host, config.port, tls=config.tls)
