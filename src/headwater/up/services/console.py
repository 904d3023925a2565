"""The web console, of the platform's broker or of the cluster that was named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.up.ports import STATUS_HOST
from headwater.up.services.factory import ServiceFactory, join
from headwater.up.services.http_service import http_endpoint, http_service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.security.kit import SecurityKit
    from headwater.up.platform import Platform
    from headwater.up.service import Service

_URLS = {
    "registry": "schema.registry.url",
    "monitor": "monitor.url",
    "connect": "connect.url",
    "sql": "ksql.url",
}


def _make(platform: Platform) -> Sequence[Service]:
    options = _properties(platform)
    service = http_service(platform, "console", "Web console", ("console",), options)
    # What people look at may fail; what programs use stays up.
    return [replace(service, is_essential=False)]


def _properties(platform: Platform) -> list[str]:
    """Return where the platform's other services are, unless the settings say where some are."""
    given = platform.settings.properties.get("console", {})
    kit = platform.settings.security
    scheme = "http" if kit is None else "https"
    own = {"platform.url": f"{scheme}://{join(STATUS_HOST, platform.status_port)}"}
    for name, setting in _URLS.items():
        if name in platform.chosen:
            # Those on Spark are made later, and have their ports already.
            own[setting] = http_endpoint(platform, name, "", platform.port(name)).address
    own = {name: value for name, value in own.items() if name not in given}
    if kit is not None:
        own |= _credentials(kit, [name for name in own if name != _URLS["registry"]])
    if platform.settings.engine == "kafka" and "cluster.data" not in given:
        own["cluster.data"] = str(platform.settings.data.absolute())
    return [part for name, value in own.items() for part in ("--property", f"{name}={value}")]


def _credentials(kit: SecurityKit, urls: Sequence[str]) -> dict[str, str]:
    """Return what lets the console into services; the registry's is where that of all others is."""
    identity = kit.service("console")
    found = {}
    for url in urls:
        prefix = url.removesuffix("url")
        found[f"{prefix}ssl.ca.location"] = str(kit.authority)
        found[f"{prefix}basic.auth.user.info"] = f"{identity.name}:{identity.password_reference}"
    return found


CONSOLE = ServiceFactory("console", _make, needs=("broker",), registry_prefix="schema.registry.")
