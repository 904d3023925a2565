"""A service with a command of its own that speaks HTTP and needs the brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.processes.ports import reachable
from headwater.up.health import HttpCheck
from headwater.up.service import Endpoint, Service
from headwater.up.services.factory import HEADWATER, join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.up.platform import Platform

_ASKS = "ssl.client.authentication"


def http_service(
    platform: Platform,
    name: str,
    description: str,
    command: Sequence[str],
    options: Sequence[str] = (),
) -> Service:
    """Return what `headwater COMMAND` runs, with the port and the settings of `name`."""
    port = platform.port(name)
    return Service(
        name=name,
        command=(
            *(*HEADWATER, *command, "--host", platform.settings.host, "--port", str(port)),
            *platform.cluster_options(name),
            *options,
        ),
        endpoints=[http_endpoint(platform, name, description, port)],
        depends_on=platform.brokers,
        environment=platform.environment(name),
    )


def http_endpoint(platform: Platform, name: str, description: str, port: int) -> Endpoint:
    """Return where a service of this name listens, and how to find out whether it does."""
    given = platform.settings.properties.get(name, {})
    host = reachable(platform.settings.host)
    tls = "ssl.certificate.location" in given
    check = HttpCheck(
        host,
        port,
        tls=tls,
        requires_certificate=tls and given.get(_ASKS, "").upper() == "REQUIRED",
    )
    return Endpoint(name, f"{'https' if tls else 'http'}://{join(host, port)}", description, check)
