"""What the supervisor has to know of a service: its command, where it listens, what it needs."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.up.health import HealthCheck


# A service that was asked before it could listen ends by the signal, which is fine.
ENDS_WELL = frozenset({0, -signal.SIGTERM})
# A JVM stops in order on SIGTERM, and says afterwards that it was that signal.
JVM_ENDS_WELL = ENDS_WELL | {128 + signal.SIGTERM}


@dataclass(frozen=True)
class Endpoint:
    """Where clients connect to, what they find there, and how to tell that it is well."""

    name: str
    address: str
    description: str
    health: HealthCheck


@dataclass(frozen=True)
class Service:
    """A process of the platform.

    It is started once all that it depends on is healthy, and stopped before any of that. It should
    stop on SIGTERM by itself; after `stop_within_s` it is killed. One process may host several
    services: it has an endpoint for each, and is healthy when all of them are.
    """

    name: str
    command: Sequence[str]
    endpoints: Sequence[Endpoint]
    depends_on: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_within_s: float = 30.0
    # Whether the platform cannot do without it: if it cannot start, all is stopped again.
    is_essential: bool = True
    # Exit codes after which nobody needs to look.
    ends_well_with: frozenset[int] = ENDS_WELL
    # Somebody may stop it on purpose, and want it to stay down for a while.
    is_wanted: Callable[[], bool] = lambda: True


def start_order(services: Sequence[Service]) -> list[Service]:
    """Return the services so that each comes after what it depends on, else as they were given."""
    by_name = {service.name: service for service in services}
    ordered: dict[str, Service] = {}

    def visit(service: Service, path: tuple[str, ...]) -> None:
        if service.name in path:
            circle = " -> ".join((*path[path.index(service.name) :], service.name))
            raise ValueError(f"services depend on each other in a circle: {circle}")
        if service.name in ordered:
            return
        for needed in service.depends_on:
            if needed not in by_name:
                raise ValueError(f"{service.name} depends on {needed}, which is not there")
            if service.is_essential and not by_name[needed].is_essential:
                raise ValueError(f"{service.name} is essential and cannot depend on {needed}")
            visit(by_name[needed], (*path, service.name))
        ordered[service.name] = service

    for service in services:
        visit(service, ())
    return list(ordered.values())
