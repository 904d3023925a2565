"""Producing with a count of what was not delivered, while reading input may block for ever."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from headwater.clients.connection import POLL_S
from headwater.clients.errors import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka import KafkaError, Message, Producer

    from headwater.cli.records.input import OutgoingRecord

# What a producer needs to be used here, and sensible limits; a user's own settings go on top.
SETTINGS: dict[str, Any] = {
    "delivery.report.only.error": True,
    "message.timeout.ms": 30_000,
    # A topic that nobody creates is reported now, not when the messages time out.
    "topic.metadata.propagation.max.ms": 10_000,
}


class Delivery:
    """Sends records to one topic, waits for room in the queue, and counts the ones that failed.

    Delivery reports are served by a thread: the caller may sit in a read from a terminal for
    hours, and should hear of a failure at once.
    """

    def __init__(self, producer: Producer, topic: str, on_failure: Callable[[str], None]) -> None:
        from confluent_kafka import KafkaException

        self.sent = 0
        self.failed = 0
        self.first_failure: KafkaError | None = None
        self._producer = producer
        self._topic = topic
        self._on_failure = on_failure
        self._refusal = KafkaException
        self._counting = threading.Lock()
        self._ended = threading.Event()
        self._poller = threading.Thread(target=self._poll, name="delivery-reports", daemon=True)
        self._poller.start()

    def send(self, record: OutgoingRecord) -> None:
        """Queue a record; blocks while the queue is full. One the client refuses is a failure."""
        self.sent += 1
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    record.value,
                    record.key,
                    record.partition,
                    on_delivery=self._report,
                    timestamp=record.timestamp,
                    headers=record.headers,
                )
            except BufferError:
                time.sleep(0.005)
            except self._refusal as refusal:
                self._report(refusal.args[0], None)
                return
            else:
                return

    def finish(self, within_s: float | None = None) -> int:
        """Wait until every record is delivered or has failed; returns how many are neither."""
        deadline = None if within_s is None else time.monotonic() + within_s
        left = int(self._producer.flush(0))
        while left and (deadline is None or time.monotonic() < deadline):
            left = int(self._producer.flush(POLL_S))
        self._ended.set()
        self._poller.join()
        return left

    def _poll(self) -> None:
        while not self._ended.is_set():
            self._producer.poll(POLL_S)

    def _report(self, error: KafkaError | None, _message: Message | None) -> None:
        if error is None:
            return
        with self._counting:
            self.failed += 1
            if self.first_failure is None:
                self.first_failure = error
                self._on_failure(describe(error))
