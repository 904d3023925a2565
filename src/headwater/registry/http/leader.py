"""Sees to it that what writes is handled by the leader, here or elsewhere."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from headwater.http.forwarding import FORWARDED, Forwarder, LeaderUnreachableError
from headwater.registry.errors import (
    forwarding_failed,
    not_permitted,
    state_failed,
    unknown_leader,
)
from headwater.topic_state.errors import NotLeaderError, TopicStateError

if TYPE_CHECKING:
    from headwater.http.answers import Answer, Reply
    from headwater.http.request import Request
    from headwater.registry.http.routes import RegistryRoute
    from headwater.registry.metrics import Metrics
    from headwater.registry.service import RegistryService

logger = logging.getLogger("headwater.registry")

_STEP_S = 1.0
_NO_LEADER = 50004


class LeaderGate:
    """Handles requests; those that write wait for a leader as long as `patience_s`."""

    def __init__(
        self, service: RegistryService, forwarder: Forwarder, metrics: Metrics, patience_s: float
    ) -> None:
        self._service = service
        self._forwarder = forwarder
        self._metrics = metrics
        self._patience_s = patience_s

    async def handle(self, route: RegistryRoute, request: Request) -> Reply:
        """Answer a request here, or have the leader answer it."""
        service = self._service
        if route.prepare is not None:
            found = await route.prepare(service, request)
            if found is not None:
                return found
        if not route.writes:
            return await route.handler(service, request)
        if service.read_only:
            raise not_permitted("This registry is read-only")
        deadline = time.monotonic() + self._patience_s
        reason = "no instance has the lead"
        while True:
            try:
                async with service.writer.leading():
                    return await route.handler(service, request)
            except NotLeaderError:
                if FORWARDED in request.headers:
                    raise unknown_leader("This instance does not lead (any more)") from None
            except TopicStateError as failure:
                raise state_failed(failure) from None
            url = service.writer.leader_url
            if url is not None and not service.writer.should_lead:
                try:
                    found = await self._forward(url, request)
                    if found is not None:
                        return found
                    reason = f"{url} does not lead any more"
                except LeaderUnreachableError as failure:
                    # Registering twice is the same as once; other things are not.
                    if failure.was_sent and route.prepare is None:
                        raise forwarding_failed(f"The leader did not answer: {failure}") from None
                    reason = str(failure)
            left = deadline - time.monotonic()
            if left <= 0:
                raise unknown_leader(f"Leader not known: {reason}")
            await service.writer.wait_for_change(min(left, _STEP_S))

    async def _ask(self, url: str, request: Request) -> Answer:
        # A leader that hangs is replaced long before it is given up on.
        writer = self._service.writer
        tenure = writer.leadership.tenure
        asking = asyncio.create_task(self._forwarder.ask(url, request))
        try:
            while True:
                changing = asyncio.create_task(writer.wait_for_change(_STEP_S))
                await asyncio.wait({asking, changing}, return_when=asyncio.FIRST_COMPLETED)
                changing.cancel()
                if asking.done():
                    return asking.result()
                if writer.should_lead or writer.leadership.tenure != tenure:
                    raise LeaderUnreachableError(f"{url} was replaced", was_sent=True)
        finally:
            asking.cancel()

    async def _forward(self, url: str, request: Request) -> Answer | None:
        found = await self._ask(url, request)
        if found.status == 500 and f'"error_code":{_NO_LEADER}'.encode() in found.body:
            return None
        self._metrics.forwarded.inc()
        try:
            # Whoever wrote through this instance should see it here at once.
            await self._service.writer.catch_up()
        except TopicStateError as failure:
            logger.warning("the leader wrote, but this instance lags: %s", failure)
        return found
