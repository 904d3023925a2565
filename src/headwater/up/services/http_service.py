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


def http_service(
    platform: Platform,
    name: str,
    description: str,
    command: Sequence[str],
    options: Sequence[str] = (),
) -> Service:
    """Return what `headwater COMMAND` runs, with the port and the settings of `name`."""
    settings = platform.settings
    port = platform.port(name)
    host = reachable(settings.host)
    tls = "ssl.certificate.location" in settings.properties.get(name, {})
    address = f"{'https' if tls else 'http'}://{join(host, port)}"
    return Service(
        name=name,
        command=(
            *(*HEADWATER, *command, "--host", settings.host, "--port", str(port)),
            *platform.cluster_options(),
            *options,
            *platform.properties(name),
        ),
        endpoints=[Endpoint(name, address, description, HttpCheck(host, port, tls=tls))],
        depends_on=platform.brokers,
        environment=platform.environment(name),
    )
