"""The demo's two ends: sensors that produce readings, and a consumer that receives them."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from headwater.cli.errors import CommandError
from headwater.clients.connection import POLL_S, Connection
from headwater.clients.errors import describe

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

TOPIC = "sensors"
PARTITIONS = 3
_SENSORS = {"boiler-1": 71.0, "boiler-2": 68.0, "cooling-tower": 24.0, "press-line": 41.0}


class Arrival(NamedTuple):
    """A reading as the consumer got it."""

    sensor: str
    celsius: float
    partition: int
    offset: int
    timestamp_ms: int
    latency_ms: float


class Producer:
    """Sends readings at a steady rate, in a thread, until it is stopped."""

    def __init__(self, connection: Connection, rate: float) -> None:
        self.delivered = 0
        self.failed = 0
        self._producer = connection.producer({"linger.ms": 0})
        self._pause_s = 1 / rate
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sensors", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Send no more, and wait until all that was sent is acknowledged."""
        self._stopped.set()
        self._thread.join()
        while self._producer.flush(POLL_S):
            pass

    def _run(self) -> None:
        temperatures = dict(_SENSORS)
        due = time.monotonic()
        while not self._stopped.is_set():
            sensor = random.choice(list(temperatures))
            temperatures[sensor] += random.uniform(-0.5, 0.5)
            reading = {"celsius": round(temperatures[sensor], 1), "at": time.time()}
            self._producer.produce(TOPIC, json.dumps(reading), sensor, on_delivery=self._count)
            due += self._pause_s
            while not self._stopped.is_set() and (left := due - time.monotonic()) > 0:
                self._producer.poll(min(left, POLL_S))

    def _count(self, error: KafkaError | None, _message: Message) -> None:
        if error is None:
            self.delivered += 1
        else:
            self.failed += 1


class Consumer:
    """Receives readings from all partitions, from the beginning."""

    def __init__(self, connection: Connection) -> None:
        from confluent_kafka import TopicPartition

        self._consumer = connection.consumer({"auto.offset.reset": "earliest"})
        self._consumer.assign([TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)])

    def poll(self) -> list[Arrival]:
        """Wait a moment for readings."""
        message = self._consumer.poll(POLL_S)
        if message is None:
            return []
        return [_arrival(each) for each in (message, *self._consumer.consume(100, 0))]

    def close(self) -> None:
        """Leave."""
        self._consumer.close()


def _arrival(message: Message) -> Arrival:
    now = time.time()
    if message.error() is not None:
        raise CommandError(describe(message.error()))
    reading = json.loads(message.value())
    return Arrival(
        message.key().decode(),
        reading["celsius"],
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        (now - reading["at"]) * 1000,
    )
