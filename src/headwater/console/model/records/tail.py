"""A live tail: the records that arrive from now on, and no more of them than a page can take."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException, TopicPartition

from headwater.clients.connection import POLL_S
from headwater.clients.errors import ClientError, describe
from headwater.clients.retries import PASSING
from headwater.clients.start_position import StartPosition
from headwater.console.model.records.filters import Filter
from headwater.console.model.records.questions import ConsoleError

if TYPE_CHECKING:
    from headwater.console.model.cluster import Cluster
    from headwater.console.model.records.records import Query, Record, Records

MOST_TAILS = 8
_HELD = 200
_AT_ONCE = 200


class Tail:
    """Follows a topic in a thread until it is stopped; what is not taken in time is left out."""

    def __init__(self, cluster: Cluster, records: Records, query: Query) -> None:
        self._cluster = cluster
        self._records = records
        self._query = query
        self._wanted = Filter.parse(query.contains, query.where)
        self._held: deque[Record] = deque(maxlen=_HELD)
        self._stopping = threading.Event()
        self.failure: str | None = None
        self._thread = threading.Thread(target=self._follow, name="console-tail", daemon=True)

    def start(self) -> None:
        """Follow from now on."""
        self._thread.start()

    def take(self) -> list[Record]:
        """Return what has come since the last time, oldest first."""
        taken = []
        while self._held:
            taken.append(self._held.popleft())
        return taken

    def stop(self) -> None:
        """Follow no more; does not wait."""
        self._stopping.set()

    @property
    def is_running(self) -> bool:
        """Whether it still follows."""
        return self._thread.is_alive() and not self._stopping.is_set()

    def _follow(self) -> None:
        try:
            self._read()
        except KafkaException as failure:
            self.failure = describe(failure.args[0])
        except ClientError as failure:
            self.failure = str(failure)

    def _read(self) -> None:
        connection, topic = self._cluster.connection, self._query.topic
        indexes = [each.id for each in connection.describe_topic(topic).partitions]
        if self._query.partition is not None:
            indexes = [self._query.partition]
        starts = StartPosition("latest").resolve(connection, topic, indexes)
        consumer = connection.consumer(
            {
                "auto.offset.reset": "latest",
                "queued.max.messages.kbytes": 4096,
                "enable.metrics.push": False,
            }
        )
        try:
            consumer.assign([TopicPartition(topic, i, span.start) for i, span in starts.items()])
            while not self._stopping.is_set():
                for message in consumer.consume(_AT_ONCE, POLL_S):
                    error = message.error()
                    if error is not None and error.name() not in PASSING:
                        raise KafkaException(error)
                    if error is None:
                        record = self._records.decode(message)
                        if self._wanted.takes(record):
                            self._held.append(record)
        finally:
            consumer.close()


class Tails:
    """The tails of all pages: so many at most, since each has a thread and a connection."""

    def __init__(self, cluster: Cluster, records: Records) -> None:
        self._cluster = cluster
        self._records = records
        self._tails: list[Tail] = []

    def start(self, query: Query) -> Tail:
        """Return a tail that follows; raises ConsoleError, FilterError."""
        self._tails = [tail for tail in self._tails if tail.is_running]
        if len(self._tails) >= MOST_TAILS:
            raise ConsoleError(f"{MOST_TAILS} pages follow a topic already; stop one of them.")
        tail = Tail(self._cluster, self._records, query)
        self._tails.append(tail)
        tail.start()
        return tail

    def stop(self) -> None:
        """Stop all of them."""
        for tail in self._tails:
            tail.stop()
