"""The REST proxy, for the platform's broker or the cluster that was named."""

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
    port = platform.port("rest")
    host = reachable(settings.host)
    tls = "ssl.certificate.location" in settings.properties.get("rest", {})
    address = f"{'https' if tls else 'http'}://{join(host, port)}"
    return [
        Service(
            name="rest",
            command=(
                *(*HEADWATER, "rest", "--host", settings.host, "--port", str(port)),
                *platform.cluster_options(),
                *_registry_options(platform),
                *platform.properties("rest"),
            ),
            endpoints=[Endpoint("rest", address, "REST Proxy", HttpCheck(host, port, tls=tls))],
            depends_on=platform.brokers,
            environment=platform.environment("rest"),
        )
    ]


def _registry_options(platform: Platform) -> list[str]:
    """Return where the platform's registry is, unless the settings say where one is."""
    if "schema.registry.url" in platform.settings.properties.get("rest", {}):
        return []
    registries = [each for each in platform.services if each.name == "registry"]
    return [
        option
        for registry in registries
        for place in registry.endpoints
        for option in ("--registry", place.address)
    ]


REST = ServiceFactory("rest", _make, needs=("broker",), is_usual=False)
