"""Sees to it that what writes is handled by the instance that leads, here or elsewhere."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.http.forwarding import FORWARDED, Forwarder, LeaderUnreachableError
from headwater.topic_state.errors import NotLeaderError, TopicStateError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from headwater.http.answers import Answer, Reply
    from headwater.http.request import Request
    from headwater.topic_state.writer import Writer

logger = logging.getLogger("headwater.topic_state")

_STEP_S = 1.0


@dataclass(frozen=True)
class Refusals:
    """What a service answers when a request cannot be handled, each in its own words and codes."""

    no_leader: Callable[[str], Exception]
    """Nobody leads at the moment, for this reason."""
    no_answer: Callable[[str], Exception]
    """The leader was asked and did not answer: it may have done it all the same."""
    state_failed: Callable[[TopicStateError], Exception]
    is_no_leader: Callable[[Answer], bool]
    """Whether an answer of another instance is its `no_leader`."""


class LeaderGate:
    """Handles requests that write; they wait for a leader as long as `patience_s`."""

    def __init__(
        self,
        writer: Writer,
        forwarder: Forwarder,
        refusals: Refusals,
        patience_s: float,
        on_forwarded: Callable[[], None] = lambda: None,
    ) -> None:
        self._writer = writer
        self._forwarder = forwarder
        self._refusals = refusals
        self._patience_s = patience_s
        self._on_forwarded = on_forwarded

    async def handle(
        self, request: Request, act: Callable[[], Awaitable[Reply]], *, may_repeat: bool = False
    ) -> Reply:
        """Act while leading, or have the leader answer; raises one of the refusals.

        `may_repeat` says that doing it twice is the same as once, so that the next leader is asked
        when one did not answer.
        """
        writer, refusals = self._writer, self._refusals
        deadline = time.monotonic() + self._patience_s
        reason = "no instance has the lead"
        while True:
            try:
                async with writer.leading():
                    return await act()
            except NotLeaderError:
                if FORWARDED in request.headers:
                    raise refusals.no_leader("this one does not lead (any more)") from None
            except TopicStateError as failure:
                raise refusals.state_failed(failure) from None
            url = writer.leader_url
            if url is not None and not writer.should_lead:
                try:
                    answer = await self._ask(url, request)
                    if not refusals.is_no_leader(answer):
                        await self._see_it(url)
                        return answer
                    reason = f"{url} does not lead any more"
                except LeaderUnreachableError as failure:
                    if failure.was_sent and not may_repeat:
                        raise refusals.no_answer(str(failure)) from None
                    reason = str(failure)
            left = deadline - time.monotonic()
            if left <= 0:
                raise refusals.no_leader(reason)
            await writer.wait_for_change(min(left, _STEP_S))

    async def _ask(self, url: str, request: Request) -> Answer:
        # A leader that hangs is replaced long before it is given up on. One that is elected again,
        # since others came or went, is not replaced: it is about to answer.
        writer = self._writer
        owner = writer.leadership.tenure.owner
        asking = asyncio.create_task(self._forwarder.ask(url, request))
        try:
            while True:
                changing = asyncio.create_task(writer.wait_for_change(_STEP_S))
                await asyncio.wait({asking, changing}, return_when=asyncio.FIRST_COMPLETED)
                changing.cancel()
                if asking.done():
                    return asking.result()
                if writer.should_lead or writer.leadership.tenure.owner != owner:
                    raise LeaderUnreachableError(f"{url} was replaced", was_sent=True)
        finally:
            asking.cancel()

    async def _see_it(self, url: str) -> None:
        self._on_forwarded()
        try:
            # Whoever wrote through this instance should see it here at once.
            await self._writer.catch_up()
        except TopicStateError as failure:
            logger.warning("%s has written, but this instance lags: %s", url, failure)
