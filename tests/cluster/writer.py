"""A producer that tells each record's fate."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException, Producer
from tests.cluster.brokers import WITHIN_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from confluent_kafka import Message


class Writer:
    """Writes to partition 0 of a topic with one setting of `acks`, and tries each record once."""

    def __init__(
        self, servers: str, topic: str, acks: str, settings: Mapping[str, object] | None = None
    ) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "acks": acks,
                "message.send.max.retries": 0,
                "linger.ms": 0,
                "log_level": 0,
                **{name.replace("_", "."): value for name, value in (settings or {}).items()},
            }
        )

    def send(self, value: str) -> Future[Message]:
        """Hand a record over; its future is for `wait` and `is_settled`."""
        fate: Future[Message] = Future()

        def delivered(error: object, message: Message) -> None:
            if error is None:
                fate.set_result(message)
            else:
                fate.set_exception(KafkaException(error))

        self._producer.produce(self._topic, value.encode(), partition=0, on_delivery=delivered)
        return fate

    def is_settled(self, fate: Future[Message]) -> bool:
        """Whether a record was acknowledged, or refused, by now."""
        self._producer.poll(0)
        return fate.done()

    def wait(self, fate: Future[Message]) -> Message:
        """Return the acknowledged record; raises KafkaException if it was refused."""
        deadline = time.monotonic() + WITHIN_S
        while not fate.done():
            assert time.monotonic() < deadline, "neither acknowledged nor refused"
            self._producer.poll(0.05)
        return fate.result()

    def write(self, value: str) -> Message:
        """Write a record and wait for its acknowledgement, such as `acks` wants it."""
        return self.wait(self.send(value))
