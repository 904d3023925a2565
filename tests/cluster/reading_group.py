"""A consumer group whose members commit what they have processed, and only then."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

from confluent_kafka import Consumer, KafkaException
from tests.waiting import wait_for

if TYPE_CHECKING:
    from types import TracebackType

_POLL_S = 0.1


class ReadingGroup:
    """Members in threads of this process; `read` holds all that any of them has processed."""

    def __init__(self, servers: str, group: str, topic: str, members: int) -> None:
        self.read: set[tuple[int, int]] = set()
        self._stopping = threading.Event()
        settings = {
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        }
        self._threads = [
            threading.Thread(target=self._member, args=(settings, topic)) for _ in range(members)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def wait_for_more(self) -> None:
        """Return when a record was processed that had not been processed yet."""
        before = len(self.read)
        wait_for(lambda: len(self.read) > before, lambda: f"nothing came after {before} records")

    def _member(self, settings: dict[str, object], topic: str) -> None:
        consumer = Consumer(settings)
        consumer.subscribe([topic])
        while not self._stopping.is_set():
            batch = [each for each in consumer.consume(100, _POLL_S) if each.error() is None]
            if not batch:
                continue
            self.read.update((each.partition(), each.offset()) for each in batch)
            try:
                consumer.commit(asynchronous=False)
            except KafkaException:
                # The coordinator moves, or the group rebalances: what was processed is processed
                # again or committed with the next batch. At least once, that is.
                continue
        consumer.close()
