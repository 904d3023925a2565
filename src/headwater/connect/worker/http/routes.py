"""A route of the worker: some are answered by the worker that leads."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.http.routes import Route


@dataclass(frozen=True)
class ConnectRoute(Route):
    """`by_leader` tells that only the leader can answer it; others pass it on."""

    by_leader: bool = False
