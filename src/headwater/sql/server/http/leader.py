"""Sees to it that statements that change something are run by the server that leads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from headwater.http.errors import HttpError
from headwater.http.forwarding import FORWARDED, Forwarder, LeaderUnreachableError
from headwater.sql.server.entities.errors import NO_LEADER, SERVER_ERROR
from headwater.topic_state.errors import NotLeaderError, TopicStateError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.sql.server.server import SqlServer

# For an election, when the server that led was killed.
_PATIENCE_S = 45.0
_STEP_S = 1.0
# A statement may have topics to make, and schemas to ask for.
_FORWARD_WITHIN_S = 60.0


async def by_leader(
    server: SqlServer, request: Request, act: Callable[[], Awaitable[Reply]]
) -> Reply:
    """Act while leading, or have the leader answer; raises HttpError where nobody leads."""
    deadline = time.monotonic() + _PATIENCE_S
    writer = server.writer
    reason = "no server has the lead"
    while True:
        try:
            async with writer.leading():
                return await act()
        except NotLeaderError:
            if FORWARDED in request.headers:
                raise HttpError(503, NO_LEADER, "This server does not lead (any more)") from None
        except TopicStateError as failure:
            raise HttpError(500, SERVER_ERROR, f"The command topic: {failure}") from None
        url = writer.leader_url
        if url is not None and not writer.should_lead:
            try:
                answer = await Forwarder(_FORWARD_WITHIN_S).ask(url, request)
                if answer.status != 503:
                    await writer.catch_up()
                    return answer
                reason = f"{url} does not lead any more"
            except LeaderUnreachableError as failure:
                if failure.was_sent:
                    message = f"The server that leads did not answer: {failure}"
                    raise HttpError(500, SERVER_ERROR, message) from None
                reason = str(failure)
        if time.monotonic() > deadline:
            raise HttpError(503, NO_LEADER, f"No server runs statements: {reason}")
        await writer.wait_for_change(_STEP_S)
