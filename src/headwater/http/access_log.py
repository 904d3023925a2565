"""One line for each request, for whoever wants to know who asked for what."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.http.asgi import Scope
    from headwater.http.principals import Principal


class AccessLog:
    """Writes `127.0.0.1:5000 User:ann "GET /subjects HTTP/1.1" 200 1.2 ms` to a logger."""

    def __init__(self, logger: str = "headwater.access") -> None:
        self._logger = logging.getLogger(logger)

    def note(self, scope: Scope, principal: Principal | None, status: int, seconds: float) -> None:
        """Write down a request that was answered."""
        client = scope.get("client")
        path = scope["raw_path"].decode("ascii", "backslashreplace")
        query = scope["query_string"].decode("ascii", "backslashreplace")
        self._logger.info(
            '%s %s "%s %s HTTP/%s" %d %.1f ms',
            f"{client[0]}:{client[1]}" if client else "-", principal or "-", scope["method"],
            f"{path}?{query}" if query else path, scope["http_version"], status, seconds * 1000,
        )  # fmt: skip
