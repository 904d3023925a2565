"""Follows and writes the topic of statuses."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from headwater.connect.worker.status_state import (
    Status,
    StatusState,
    TaskState,
    reported,
    topic_forgotten,
    topic_used,
)
from headwater.topic_state.errors import TopicStateError
from headwater.topic_state.log import TopicLog
from headwater.topic_state.topic import StateTopic, prepare_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.connect.worker.config import WorkerConfig
    from headwater.topic_state.log import KeyValue

logger = logging.getLogger("headwater.connect")

_TIMEOUT_S = 30.0


class StatusLog:
    """How connectors are, for all workers; what this one reports is written in order."""

    def __init__(self, config: WorkerConfig) -> None:
        self.state = StatusState()
        self._config = config
        self._topic = StateTopic(
            config.statuses.name,
            config.statuses.replication_factor,
            holds="the states of connectors",
            setting="status.storage.topic",
        )
        self._log = TopicLog(config.client("status"), config.statuses.name, timeout_s=_TIMEOUT_S)
        self._waiting: asyncio.Queue[Sequence[KeyValue]] = asyncio.Queue()
        self._writing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Read the topic to its end; raises TopicStateError."""
        await prepare_topic(self._config.client("status"), self._topic, _TIMEOUT_S)
        self._log.start(self.state.apply)
        await self._log.read_to(await self._log.end_offset(), _TIMEOUT_S)
        self._writing = asyncio.create_task(self._write())

    async def stop(self) -> None:
        """Write what was reported, and stop to read."""
        if self._writing is not None:
            await self._waiting.join()
            self._writing.cancel()
            await self._log.stop()

    def report(
        self, name: str, state: TaskState, generation: int, trace: str | None = None
    ) -> None:
        """Say how a connector is."""
        # What has failed is the connector's task; the connector itself is what starts it.
        of_connector = TaskState.RUNNING if state is TaskState.FAILED else state
        worker = self._config.worker_id
        connector = Status(of_connector, None, worker, generation)
        # One that is stopped has no task any more.
        is_stopped = state is TaskState.STOPPED
        task = None if is_stopped else Status(state, trace, worker, generation)
        self._waiting.put_nowait(reported(name, connector, task))

    def forget(self, name: str) -> None:
        """Say that a connector was deleted."""
        self._waiting.put_nowait(reported(name, None, None))
        self.forget_topics(name)

    def note_topics(self, name: str, topics: Iterable[str]) -> None:
        """Say which topics a connector uses."""
        known = self.state.topics(name)
        new = [topic_used(name, topic) for topic in topics if topic not in known]
        if new:
            self._waiting.put_nowait(new)

    def forget_topics(self, name: str) -> None:
        """Take back what was said of a connector's topics."""
        if topics := self.state.topics(name):
            self._waiting.put_nowait([topic_forgotten(name, topic) for topic in topics])

    async def settle(self) -> None:
        """Wait until all that was reported is in the topic and read again."""
        await self._waiting.join()

    async def _write(self) -> None:
        while True:
            records = await self._waiting.get()
            try:
                await self._log.read_to(await self._log.write(records))
            except TopicStateError as failure:
                logger.warning("a connector's state could not be stored: %s", failure)
            finally:
                self._waiting.task_done()
