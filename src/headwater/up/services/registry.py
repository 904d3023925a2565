"""The schema registry, on the platform's broker or on the cluster that was named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.processes.ports import reachable
from headwater.up.health import HttpCheck
from headwater.up.service import Endpoint, Service
from headwater.up.services.factory import HEADWATER, ServiceFactory, join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.up.platform import Platform


def _make(platform: Platform) -> Sequence[Service]:
    settings = platform.settings
    port = platform.port("registry")
    host = reachable(settings.host)
    tls = "ssl.certificate.location" in settings.properties.get("registry", {})
    address = f"{'https' if tls else 'http'}://{join(host, port)}"
    return [
        Service(
            name="registry",
            command=(
                *(*HEADWATER, "registry", "--host", settings.host, "--port", str(port)),
                *platform.cluster_options(),
                *platform.properties("registry"),
            ),
            endpoints=[
                Endpoint("registry", address, "Schema Registry", HttpCheck(host, port, tls=tls))
            ],
            depends_on=platform.brokers,
            environment=platform.environment("registry"),
        )
    ]


REGISTRY = ServiceFactory("registry", _make, needs=("broker",))
