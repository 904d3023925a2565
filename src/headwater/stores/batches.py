"""How far a program's batches reach, said in a topic, so that no store shows half of one.

After each batch the program writes where the topic of a table ends; it is the topic's only writer,
and the next batch has not begun. A store that has read so far shows all of the batch at once. What
a crash left of an unfinished batch lies behind the last such record, until the batch is done again.
In real-time mode there are no batches, which is said in the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater.clients.connection import Connection
from headwater.stores.position import Position

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from confluent_kafka import Producer

    from headwater.clients import ClusterAccess

_WRITTEN_WITHIN_S = 30.0


class BatchEnd(msgspec.Struct, omit_defaults=True):
    """The last batch of a table's topic: where it ends, and what the program had read by then."""

    offsets: dict[int, int] = {}
    inputs: dict[str, dict[int, int]] = {}
    each: bool = False
    """Whether each record counts for itself."""

    def position(self, topic: str) -> Position:
        """Return where a store is that has all of it."""
        return Position({**self.inputs, topic: self.offsets})


class BatchEnds:
    """Writes the ends of batches of some tables' topics to the topic `batches`."""

    def __init__(self, access: ClusterAccess, batches: str, topics: Sequence[str]) -> None:
        self._batches = batches
        self._topics = tuple(topics)
        self._connection = Connection(access)
        self._producer: Producer | None = None
        self._partitions: dict[str, int] = {}

    def write(self, inputs: Mapping[str, Mapping[int, int]]) -> None:
        """Say that a batch ends here; raises KafkaException or ClientError."""
        from confluent_kafka.admin import OffsetSpec

        places = [(topic, each) for topic in self._topics for each in range(self._count(topic))]
        ends = self._connection.offsets(places, OffsetSpec.latest())
        read = {topic: dict(offsets) for topic, offsets in inputs.items()}
        for topic in self._topics:
            offsets = {part: end for (of, part), end in ends.items() if of == topic}
            self._send(topic, BatchEnd(offsets, read))
        self._flush()

    def no_batches(self) -> None:
        """Say that each record counts for itself from now on."""
        for topic in self._topics:
            self._send(topic, BatchEnd(each=True))
        self._flush()

    def _count(self, topic: str) -> int:
        if topic not in self._partitions:
            self._partitions[topic] = len(self._connection.describe_topic(topic).partitions)
        return self._partitions[topic]

    def _send(self, topic: str, end: BatchEnd) -> None:
        if self._producer is None:
            self._producer = self._connection.producer({"acks": "all", "linger.ms": 0})
        self._producer.produce(self._batches, msgspec.json.encode(end), topic, 0)

    def _flush(self) -> None:
        from headwater.clients.errors import ClientError

        assert self._producer is not None, "there is something to write"
        if self._producer.flush(_WRITTEN_WITHIN_S):
            raise ClientError(
                f"{self._connection.bootstrap_servers} took no record for {self._batches} within "
                f"{_WRITTEN_WITHIN_S:g} s"
            )


def batch_end_of(value: bytes | None) -> BatchEnd | None:
    """Return what a record of the topic says; None where it was deleted."""
    return None if value is None else msgspec.json.decode(value, type=BatchEnd, strict=False)
