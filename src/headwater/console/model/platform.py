"""The platform's services, as `headwater up` tells of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.console.model.json_service import JsonService


class ServiceStatus(NamedTuple):
    """How a service is."""

    name: str
    state: str
    since: str
    reason: str | None
    restarts: int
    addresses: tuple[str, ...]

    @property
    def is_well(self) -> bool:
        """Whether nobody needs to look."""
        return self.state in ("healthy", "stopped")


class Platform:
    """All methods block, and raise ClientError where the platform does not answer."""

    def __init__(self, service: JsonService) -> None:
        self.url = service.url
        self._service = service

    def services(self) -> list[ServiceStatus]:
        """Return all services."""
        answer = self._service.get("/") or {"services": []}
        return [
            ServiceStatus(
                each["name"],
                each["state"],
                each["since"],
                each["reason"],
                each["restarts"],
                tuple(_address(each["name"], place) for place in each["endpoints"]),
            )
            for each in answer["services"]
        ]

    def log(self, name: str) -> list[str]:
        """Return a service's last lines."""
        answer = self._service.get(f"/services/{quote(name, safe='')}") or {"log": []}
        return [str(line) for line in answer["log"]]


def _address(service: str, place: Mapping[str, str]) -> str:
    """Return where it is; a process of several services says which one that is."""
    name = place["name"]
    return place["address"] if name == service else f"{name} {place['address']}"
