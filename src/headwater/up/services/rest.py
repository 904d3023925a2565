"""The REST proxy, for the platform's broker or the cluster that was named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.up.services.factory import ServiceFactory
from headwater.up.services.http_service import http_service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.up.platform import Platform
    from headwater.up.service import Service


def _make(platform: Platform) -> Sequence[Service]:
    options = _registry_options(platform)
    return [http_service(platform, "rest", "REST Proxy", ("rest",), options)]


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


REST = ServiceFactory(
    "rest", _make, needs=("broker",), is_usual=False, registry_prefix="schema.registry."
)
