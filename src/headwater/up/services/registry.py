"""The schema registry, on the platform's broker or on the cluster that was named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.up.services.factory import ServiceFactory
from headwater.up.services.http_service import http_service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.up.platform import Platform
    from headwater.up.service import Service


def _make(platform: Platform) -> Sequence[Service]:
    return [http_service(platform, "registry", "Schema Registry", ("registry",))]


REGISTRY = ServiceFactory("registry", _make, needs=("broker",), is_for_all=True)
