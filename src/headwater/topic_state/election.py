"""Who should lead: the member of a consumer group that is assigned the topic's one partition.

The group decides quickly and notices who is gone; it does not fence. That is what the claims in the
topic are for (see `leadership`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaException

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from confluent_kafka import TopicPartition

logger = logging.getLogger("headwater.topic_state")

_POLL_S = 0.2


class Election:
    """Membership in the group, in a thread of its own; tells the event loop how it stands."""

    def __init__(
        self,
        client: Mapping[str, Any],
        group: str,
        topic: str,
        on_change: Callable[[bool], None],
        *,
        session_timeout_ms: int = 10_000,
    ) -> None:
        self._settings = {
            "group.id": group,
            "group.protocol": "classic",
            # The leader stays what it is when others come and go.
            "partition.assignment.strategy": "cooperative-sticky",
            "session.timeout.ms": session_timeout_ms,
            "heartbeat.interval.ms": min(
                1000, session_timeout_ms // 4
            ),  # how soon a change is seen
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            **client,
        }
        self._topic = topic
        self._on_change = on_change
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Join the group; call it on the event loop, which `on_change` will be called on.

        It is called with whether this instance should lead, also if that did not change: the group
        has rebalanced, and newcomers want to know who leads.
        """
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._take_part, name=f"{self._topic}-election")
        self._thread.start()

    async def stop(self) -> None:
        """Leave the group, so that another instance leads at once."""
        self._stopping.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def _take_part(self) -> None:
        consumer = Consumer(self._settings)
        mine = False

        def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
            nonlocal mine
            if partitions:
                mine = True
                consumer.incremental_assign(partitions)
                consumer.pause(partitions)  # only the assignment is of interest
            self._tell(mine)

        def revoked(_: Consumer, partitions: list[TopicPartition]) -> None:
            nonlocal mine
            if partitions:
                mine = False
                self._tell(mine)

        consumer.subscribe([self._topic], on_assign=assigned, on_revoke=revoked, on_lost=revoked)
        try:
            while not self._stopping.is_set():
                message = consumer.poll(_POLL_S)
                error = message.error() if message is not None else None
                if error is not None:
                    logger.warning("the group for electing a leader of %s: %s", self._topic, error)
        except KafkaException as failure:
            logger.error("the group for electing a leader of %s failed: %s", self._topic, failure)
        finally:
            consumer.close()
            self._tell(False)

    def _tell(self, should_lead: bool) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self._on_change, should_lead)
        except RuntimeError:
            self._stopping.set()  # the loop is closed: nobody is interested any more
