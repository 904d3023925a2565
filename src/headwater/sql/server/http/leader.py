"""Sees to it that statements that change something are run by the server that leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.errors import HttpError
from headwater.sql.server.entities.errors import NO_LEADER, SERVER_ERROR
from headwater.topic_state.leader_gate import LeaderGate, Refusals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.sql.server.server import SqlServer

# For an election, when the server that led was killed.
_PATIENCE_S = 45.0


async def by_leader(
    server: SqlServer, request: Request, act: Callable[[], Awaitable[Reply]]
) -> Reply:
    """Act while leading, or have the leader answer; raises HttpError where nobody leads."""
    gate = LeaderGate(server.writer, server.forwarder, _REFUSALS, _PATIENCE_S)
    return await gate.handle(request, act)


def _server_error(message: str) -> HttpError:
    return HttpError(500, SERVER_ERROR, message)


_REFUSALS = Refusals(
    no_leader=lambda reason: HttpError(503, NO_LEADER, f"No server runs statements: {reason}"),
    no_answer=lambda reason: _server_error(f"The server that leads did not answer: {reason}"),
    state_failed=lambda failure: _server_error(f"The command topic: {failure}"),
    is_no_leader=lambda answer: answer.status == 503,
)
