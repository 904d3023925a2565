"""How the services are, as the supervisor sees it and as others are told."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.up.service import Endpoint, Service


class State(StrEnum):
    """What a service is doing."""

    WAITING = "waiting"
    """For what it depends on."""
    STARTING = "starting"
    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    """It runs, and does not answer as it should."""
    RESTARTING = "restarting"
    """It has ended, and is started again soon."""
    STOPPED = "stopped"
    """On purpose."""


@dataclass
class ServiceStatus:
    """How one service is; the supervisor keeps it up to date."""

    service: Service
    state: State = State.WAITING
    since: float = field(default_factory=time.time)
    """When that state began."""
    pid: int | None = None
    started: float | None = None
    """When its process was started."""
    restarts: int = 0
    reason: str | None = None
    """Why it is not healthy, if that is known."""
    last_exit: str | None = None
    """How its last process ended."""

    @property
    def is_well(self) -> bool:
        """Whether nobody needs to look."""
        return self.state in (State.HEALTHY, State.STOPPED)

    def becomes(self, state: State, reason: str | None = None) -> None:
        """Note a new state, or a new reason for the old one."""
        if state is not self.state:
            self.state, self.since = state, time.time()
        self.reason = reason

    def runs(self, pid: int) -> None:
        """Note a new process."""
        self.pid, self.started = pid, time.time()
        self.becomes(State.STARTING)

    def ended(self, how: str) -> None:
        """Note the end of its process."""
        self.pid = self.started = None
        self.last_exit = how
        self.becomes(State.RESTARTING, how)

    def described(self) -> dict[str, Any]:
        """Return it for others to read."""
        return {
            "name": self.service.name,
            "state": str(self.state),
            "since": _instant(self.since),
            "reason": self.reason,
            "pid": self.pid,
            "started": None if self.started is None else _instant(self.started),
            "restarts": self.restarts,
            "last_exit": self.last_exit,
            "essential": self.service.is_essential,
            "depends_on": list(self.service.depends_on),
            "endpoints": [_place(each) for each in self.service.endpoints],
        }


def _place(endpoint: Endpoint) -> dict[str, str]:
    return {
        "name": endpoint.name,
        "address": endpoint.address,
        "description": endpoint.description,
    }


def _instant(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
