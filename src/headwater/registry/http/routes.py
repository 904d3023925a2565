"""A route of the registry: some are for the leader alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from headwater.http.routes import Route

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.http.answers import Answer
    from headwater.http.request import Request
    from headwater.registry.service import RegistryService

Preparation: TypeAlias = "Callable[[RegistryService, Request], Awaitable[Answer | None]]"


@dataclass(frozen=True)
class RegistryRoute(Route):
    """A route that may write.

    What `writes` is handled by the leader, one request at a time. `prepare` comes before that, on
    whatever instance was asked, and may have the answer already.
    """

    writes: bool = False
    prepare: Preparation | None = None

    def documented_errors(self) -> list[int]:
        """Return those of every route, and what a leader that is away means."""
        return sorted({*super().documented_errors(), *((500,) if self.writes else ())})
