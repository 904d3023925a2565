"""Reads windows of offsets: of each partition from one offset up to another, and not beyond."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import KafkaException, TopicPartition

from headwater.clients.connection import POLL_S
from headwater.clients.retries import PASSING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from confluent_kafka import Consumer, Message

    from headwater.clients.connection import Connection

_AT_ONCE = 500


class Window(NamedTuple):
    """Offsets of a partition; the end does not belong to it. It is false when empty."""

    start: int
    end: int

    def __bool__(self) -> bool:
        return self.start < self.end


def window_reader(connection: Connection) -> closing[Consumer]:
    """Return a consumer for windows, which is closed at the end of a `with`."""
    return closing(
        connection.consumer(
            {
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "fetch.queue.backoff.ms": 10,
                "fetch.wait.max.ms": 50,
                "queued.max.messages.kbytes": 16_384,
                "enable.metrics.push": False,
            }
        )
    )


class WindowReading:
    """Reads windows until a deadline, of the monotonic clock."""

    def __init__(self, topic: str, windows: Mapping[int, Window], deadline: float) -> None:
        self._topic = topic
        self._windows = windows
        self._deadline = deadline
        self.unfinished = {index for index, window in windows.items() if window}
        """The partitions whose windows were not read to their end."""

    def messages(self, consumer: Consumer) -> Iterator[Message]:
        """Return the messages of all windows, as they come; raises KafkaException."""
        starts = {index: self._windows[index].start for index in self.unfinished}
        places = [TopicPartition(self._topic, *place) for place in starts.items()]
        consumer.assign(places)
        while self.unfinished and time.monotonic() < self._deadline:
            for message in consumer.consume(_AT_ONCE, POLL_S):
                index = message.partition()
                if index not in self.unfinished:
                    continue
                error = message.error()
                if error is None:
                    end = self._windows[index].end
                    if message.offset() < end:
                        yield message
                    if message.offset() >= end - 1:
                        self.unfinished.discard(index)
                        consumer.pause([TopicPartition(self._topic, index)])
                elif error.name() == "_PARTITION_EOF":
                    self.unfinished.discard(index)
                elif error.name() not in PASSING:
                    raise KafkaException(error)
        # A pause would outlast the assignment.
        consumer.resume(places)
        consumer.unassign()
