"""When a record was written, read from the record itself.

A group's lag in seconds is the age of the first record that it has not read. Guessing it from
offsets at earlier times fails where producers pause; this does not.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.connection import POLL_S

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from confluent_kafka import Consumer, Message

    from headwater.clients.connection import Connection

READ_WITHIN_S = 10.0

_SETTINGS = {
    "group.id": "headwater-monitor",
    "client.id": "headwater-monitor",
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "earliest",
    # Lag is counted up to the high watermark, open transactions included.
    "isolation.level": "read_uncommitted",
    # One record of each partition is wanted: nothing is gained by reading ahead.
    "fetch.message.max.bytes": 1024,
    "queued.max.messages.kbytes": 1024,
    "fetch.wait.max.ms": 100,
    "fetch.queue.backoff.ms": 10,
}


class Position(NamedTuple):
    """An offset of a partition."""

    topic: str
    partition: int
    offset: int


class RecordTimes:
    """Finds out when records were written, and remembers it; used by one thread at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._consumer: Consumer | None = None
        self._known: dict[Position, int | None] = {}

    def at(self, positions: Collection[Position]) -> dict[Position, int | None]:
        """Return in milliseconds when the first record at or after each position was written.

        None stands for no record, as where only markers of transactions are left. A position whose
        leader does not answer is left out. What is not asked for again is forgotten.
        """
        known = {each: self._known[each] for each in positions if each in self._known}
        unknown: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        for each in positions:
            if each not in known:
                unknown[each.topic, each.partition].append(each.offset)
        deadline = time.monotonic() + READ_WITHIN_S
        while unknown and time.monotonic() < deadline:
            some = {place: offsets.pop() for place, offsets in unknown.items()}
            known |= self._read(some, deadline)
            unknown = defaultdict(list, {place: left for place, left in unknown.items() if left})
        self._known = known
        return dict(known)

    def close(self) -> None:
        """Hang up."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _read(
        self, offsets: Mapping[tuple[str, int], int], deadline: float
    ) -> Iterator[tuple[Position, int | None]]:
        from confluent_kafka import TopicPartition

        if self._consumer is None:
            self._consumer = self._connection.consumer(_SETTINGS)
        consumer, waiting = self._consumer, dict(offsets)
        places = [TopicPartition(*place, offset) for place, offset in offsets.items()]
        consumer.assign(places)
        consumer.resume(places)  # they may be paused from the time before
        try:
            while waiting and time.monotonic() < deadline:
                message = consumer.poll(POLL_S)
                if message is None:
                    continue
                place = (message.topic() or "", message.partition() or 0)
                written = _time_of(message)
                if place not in waiting or written is _FAILED:
                    continue
                # What else was read of it is thrown away unseen.
                consumer.pause([TopicPartition(*place)])
                yield Position(*place, waiting.pop(place)), written
        finally:
            consumer.unassign()


_FAILED = -1


def _time_of(message: Message) -> int | None:
    error = message.error()
    if error is not None:
        return None if error.name() == "_PARTITION_EOF" else _FAILED
    _, milliseconds = message.timestamp()
    return int(milliseconds)
