"""Sees to it that what changes connectors is handled by the worker that leads."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from headwater.connect.worker.errors import no_leader, state_failed
from headwater.http.forwarding import FORWARDED, Forwarder, LeaderUnreachableError
from headwater.topic_state.errors import NotLeaderError, TopicStateError

if TYPE_CHECKING:
    from headwater.connect.worker.http.routes import ConnectRoute
    from headwater.connect.worker.service import ConnectService
    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.topic_state.writer import Writer

logger = logging.getLogger("headwater.connect")

_STEP_S = 1.0
_PATIENCE_S = 30.0
_NO_LEADER = 503


class LeaderGate:
    """Answers requests here, or has the leader answer them; waits a while for there to be one."""

    def __init__(
        self,
        service: ConnectService,
        writer: Writer,
        forwarder: Forwarder,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._service = service
        self._writer = writer
        self._forwarder = forwarder
        self._patience_s = patience_s

    async def handle(self, route: ConnectRoute, request: Request) -> Reply:
        """Answer a request."""
        if not route.by_leader:
            return await route.handler(self._service, request)
        writer = self._writer
        deadline = time.monotonic() + self._patience_s
        reason = "none was elected yet"
        while True:
            try:
                async with writer.leading():
                    return await route.handler(self._service, request)
            except NotLeaderError:
                if FORWARDED in request.headers:
                    raise no_leader("this one does not (any more)") from None
            except TopicStateError as failure:
                raise state_failed(failure) from None
            url = writer.leader_url
            if url is not None and not writer.should_lead:
                try:
                    found = await self._forwarder.ask(url, request)
                    if found.status != _NO_LEADER:
                        await self._catch_up()
                        return found
                    reason = f"{url} does not lead any more"
                except LeaderUnreachableError as failure:
                    if failure.was_sent:
                        raise no_leader(f"the leader did not answer: {failure}") from None
                    reason = str(failure)
            left = deadline - time.monotonic()
            if left <= 0:
                raise no_leader(reason)
            await writer.wait_for_change(min(left, _STEP_S))

    async def _catch_up(self) -> None:
        try:
            # Whoever wrote through this worker should see it here at once.
            await self._writer.catch_up()
        except TopicStateError as failure:
            logger.warning("the leader wrote, but this worker lags: %s", failure)
