"""One instance of a service on its state's topic: all that belongs to it, started and stopped."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.topic_state.election import Election
from headwater.topic_state.errors import TopicStateError
from headwater.topic_state.log import TopicLog
from headwater.topic_state.topic import prepare_topic
from headwater.topic_state.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.topic_state.state import State
    from headwater.topic_state.topic import StateTopic

logger = logging.getLogger("headwater.topic_state")

# A claim is a tombstone, which compaction removes a day later; newcomers should find one.
ANNOUNCE_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSettings:
    """Where the state is, and how this instance takes part."""

    client: Mapping[str, Any]  # librdkafka's settings
    topic: StateTopic
    group: str  # what elects the leader
    url: str  # where others reach this instance when it leads
    may_lead: bool = True
    timeout_s: float = 10.0
    start_timeout_s: float = 60.0
    session_timeout_ms: int = 10_000


class Member:
    """Keeps a `State` up to date with its topic and takes part in electing who writes it.

    member = Member(state, MemberSettings(client=client, topic=topic, group="g", url=url))
    await member.start()  # all that was in the topic is in the state
    async with member.writer.leading():  # raises NotLeaderError: ask member.writer.leader_url
        await member.writer.write([(b"name", b"value")])  # and now this is, too
    await member.stop()  # another one leads at once
    """

    def __init__(
        self,
        state: State[Any],
        settings: MemberSettings,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.settings = settings
        name = settings.topic.name
        self.log = TopicLog(settings.client, name, timeout_s=settings.timeout_s)
        self.writer = Writer(state, self.log, settings.url, on_change)
        self._election = Election(
            settings.client,
            settings.group,
            name,
            self._elected,
            session_timeout_ms=settings.session_timeout_ms,
        )
        self._announcing: asyncio.Task[None] | None = None
        self._rebalanced = asyncio.Event()
        self._has_started = False

    async def start(self) -> str:
        """Read the topic to its end, join the group, and return the cluster's id.

        Raises TopicStateError, after which it can only be stopped.
        """
        settings = self.settings
        cluster_id = await prepare_topic(settings.client, settings.topic, settings.start_timeout_s)
        self.log.start(self.writer.apply)
        self._has_started = True
        if settings.may_lead:
            self._election.start()
            self._announcing = asyncio.create_task(self._announce())
        try:
            await self.log.read_to(await self.log.end_offset(), settings.start_timeout_s)
        except TopicStateError as failure:
            raise TopicStateError(
                f"the topic {settings.topic.name} cannot be read: {failure}"
            ) from None
        return cluster_id

    async def stop(self) -> None:
        """Leave the group, so that others can lead at once, and stop to read."""
        if self._announcing is not None:
            self._announcing.cancel()
        await self._election.stop()
        if self._has_started:
            await self.log.stop()

    async def _announce(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._rebalanced.wait(), ANNOUNCE_S)
            is_time = not self._rebalanced.is_set()
            self._rebalanced.clear()
            try:
                await self.writer.announce(again=is_time)
            except TopicStateError as failure:
                logger.warning("the lead could not be claimed: %s", failure)
                await asyncio.sleep(1)
                if self.writer.should_lead:
                    self._rebalanced.set()

    def _elected(self, should_lead: bool) -> None:
        self.writer.set_should_lead(should_lead)
        if should_lead:
            self._rebalanced.set()
