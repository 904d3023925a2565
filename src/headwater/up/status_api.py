"""The platform's status over HTTP, on loopback: for `headwater up --status` and the console."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from headwater import __version__
from headwater.http.answers import answer
from headwater.http.app import App
from headwater.http.errors import HttpError
from headwater.http.health import Health
from headwater.http.interface import Interface
from headwater.http.listener_settings import ListenerConfig
from headwater.http.metrics import RequestMetrics
from headwater.http.routes import Route
from headwater.http.server import Server

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable

    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.up.keeper import Keeper
    from headwater.up.platform import Platform
    from headwater.up.supervisor import Supervisor

_LOOPBACK = ("127.0.0.1", "localhost")


class StatusApi:
    """Serves the status of a supervisor's services while the `async with` block runs."""

    def __init__(
        self, platform: Platform, supervisor: Supervisor, listening: socket.socket
    ) -> None:
        self._platform = platform
        self._keepers = supervisor.keepers
        kit = platform.settings.security
        listener = ListenerConfig()
        if kit is not None:
            listener.certificate_file, listener.key_file = kit.service_certificate, kit.service_key
            listener.users_file = kit.http_admins
        app = App(
            _INTERFACE,
            self._handle,
            RequestMetrics("headwater_up"),
            authenticator=listener.authenticator("headwater platform status"),
            health=self._health(),
        )
        self._server = Server(app, listening, tls=listener.tls())

    async def __aenter__(self) -> Self:
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop()

    async def all(self, _: Request) -> Reply:
        """Return the platform and how all of its services are."""
        return answer(
            {
                "version": __version__,
                "pid": os.getpid(),
                "data": str(self._platform.settings.data.absolute()),
                "bootstrap_servers": self._platform.bootstrap_server,
                "healthy": all(each.status.is_well for each in self._keepers.values()),
                "services": [each.status.described() for each in self._keepers.values()],
            }
        )

    async def one(self, request: Request) -> Reply:
        """Return how a service is, and its last lines."""
        name = request.parameters["name"]
        if name not in self._keepers:
            raise HttpError(404, 404, f"There is no service '{name}'; see /")
        keeper = self._keepers[name]
        lines = [] if keeper.process is None else keeper.process.tail
        return answer({**keeper.status.described(), "log": lines})

    def _handle(self, route: Route, request: Request) -> Awaitable[Reply]:
        # A page of the internet whose name points here all of a sudden must not read along.
        host = request.headers.get(b"host", b"").decode("latin-1").rpartition(":")[0]
        if host not in _LOOPBACK:
            raise HttpError(403, 403, "The status is for this machine: ask 127.0.0.1")
        return route.handler(self, request)

    def _health(self) -> Health:
        return Health({name: partial(_complaint, keeper) for name, keeper in self._keepers.items()})


def _complaint(keeper: Keeper) -> str | None:
    status = keeper.status
    return None if status.is_well else f"{status.state}: {status.reason}"


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_TEXT = {"type": "string"}
_SERVICE = {
    "name": _TEXT,
    "state": {
        "type": "string",
        "enum": ["waiting", "starting", "healthy", "unhealthy", "restarting", "stopped"],
    },
    "since": {"type": "string", "format": "date-time"},
    "reason": {"type": "string", "nullable": True},
    "pid": {"type": "integer", "nullable": True},
    "started": {"type": "string", "format": "date-time", "nullable": True},
    "restarts": {"type": "integer"},
    "last_exit": {"type": "string", "nullable": True},
    "essential": {"type": "boolean"},
    "depends_on": {"type": "array", "items": _TEXT},
    "endpoints": {
        "type": "array",
        "items": _object(name=_TEXT, address=_TEXT, description=_TEXT),
    },
}
_INTERFACE: Interface[Route] = Interface(
    title="Headwater platform status",
    routes=(
        Route("GET", "/", StatusApi.all, "How all services are", "Platform", changes=True),
        Route(
            *("GET", "/services/{name}", StatusApi.one, "How a service is, and its last lines"),
            answer="ServiceWithLog",
            errors=(404,),
            changes=True,
        ),
    ),
    schemas={
        "Platform": _object(
            version=_TEXT,
            pid={"type": "integer"},
            data=_TEXT,
            bootstrap_servers=_TEXT,
            healthy={"type": "boolean"},
            services={"type": "array", "items": _object(**_SERVICE)},
        ),
        "ServiceWithLog": _object(**_SERVICE, log={"type": "array", "items": _TEXT}),
        "Error": _object(error_code={"type": "integer"}, message=_TEXT),
    },
)
