"""Which right each route of the worker asks for, where there are rules.

Connectors are read, operated (paused, restarted: WRITE) and administered (made, changed, deleted,
their offsets set). Lists have what may be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.http.rights import ALL_NAMES, Operation, ResourceType

if TYPE_CHECKING:
    from headwater.connect.worker.http.routes import ConnectRoute
    from headwater.http.request import Request

_OPERATED = {"pause", "resume", "stop", "restart", "reset"}


def may_read(request: Request, connector: str) -> bool:
    """Whether a client may see a connector, for lists that leave out the others."""
    return request.may(Operation.READ, ResourceType.CONNECTOR, connector)


def authorize(route: ConnectRoute, request: Request) -> None:
    """Raise HttpError 403 unless the client may do what it asks for."""
    name = request.parameters.get("connector")
    if route.method == "GET":
        if name is not None:
            request.require(Operation.READ, ResourceType.CONNECTOR, name)
        return
    operation = Operation.ADMIN
    if name is None:
        # A check of a configuration tries what is in it, as a connector would.
        name = _name_in(request.decode(dict[str, Any]))
    elif route.segments[-1] in _OPERATED:
        operation = Operation.WRITE
    request.require(operation, ResourceType.CONNECTOR, name)


def _name_in(body: dict[str, Any]) -> str:
    config = body.get("config")
    name = body.get("name") or (config.get("name") if isinstance(config, dict) else None)
    return str(name or ALL_NAMES).strip()
