"""The web console, of the platform's broker or of the cluster that was named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.up.ports import STATUS_HOST
from headwater.up.services.factory import ServiceFactory, join
from headwater.up.services.http_service import http_service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.up.platform import Platform
    from headwater.up.service import Service

_URLS = {"registry": "schema.registry.url", "monitor": "monitor.url"}


def _make(platform: Platform) -> Sequence[Service]:
    options = _properties(platform)
    service = http_service(platform, "console", "Web console", ("console",), options)
    # What people look at may fail; what programs use stays up.
    return [replace(service, is_essential=False)]


def _properties(platform: Platform) -> list[str]:
    """Return where the platform's other services are, unless the settings say where some are."""
    given = platform.settings.properties.get("console", {})
    urls = {"platform.url": f"http://{join(STATUS_HOST, platform.status_port)}"}
    for service in platform.services:
        if service.name in _URLS:
            urls[_URLS[service.name]] = service.endpoints[0].address
    return [
        part
        for name, url in urls.items()
        if name not in given
        for part in ("--property", f"{name}={url}")
    ]


CONSOLE = ServiceFactory("console", _make, needs=("broker",), registry_prefix="schema.registry.")
