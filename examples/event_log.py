"""Events in a topic: written by one writer, in transactions, and replayed from any place on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from headwater.clients import ClusterAccess

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from confluent_kafka import Message

PARTITION = 0
_WITHIN_S = 30.0
_AT_ONCE = 500
_MOMENT_S = 0.2


class Recorded(NamedTuple):
    """An event, and where and when it was written."""

    key: str
    event: dict[str, Any]
    offset: int
    time_ms: int


class Taken(NamedTuple):
    """Up to where a reader has taken events."""

    place: TopicPartition
    reader: Any


class EventLog:
    """A topic of one partition, whose events are in the order in which they happened."""

    def __init__(self, servers: str, topic: str, reader: str) -> None:
        self.topic = topic
        self.replayed = 0
        """How many events were read so far."""
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": reader,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )

    def replay(self, offset: int = 0) -> Iterator[Recorded]:
        """Return all events from a place on, up to the end that there is now."""
        self._consumer.assign([TopicPartition(self.topic, PARTITION, offset)])
        while True:
            message = self._consumer.poll(_WITHIN_S)
            if message is None:
                raise TimeoutError(f"nothing was read from {self.topic} within {_WITHIN_S:.0f} s")
            error = message.error()
            if error is not None:
                if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                    return
                raise RuntimeError(f"reading {self.topic} failed: {error}")
            self.replayed += 1
            yield _recorded(message)

    def follow(self, offset: int) -> Iterator[list[Recorded]]:
        """Return events from a place on as they come, for ever; none where none came for a moment.

        Who takes them may look about between two lists.
        """
        self._consumer.assign([TopicPartition(self.topic, PARTITION, offset)])
        while True:
            messages = self._consumer.consume(_AT_ONCE, _MOMENT_S)
            errors = [error for each in messages if (error := each.error()) is not None]
            for error in errors:
                if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                    raise RuntimeError(f"reading {self.topic} failed: {error}")
            yield [_recorded(each) for each in messages if each.error() is None]

    def taken(self) -> int:
        """Return the place up to which this reader has taken events; `write_all` says it."""
        mine = [TopicPartition(self.topic, PARTITION)]
        (found,) = self._consumer.committed(mine, _WITHIN_S)
        return max(0, int(found.offset))

    def taken_up_to(self, offset: int) -> Taken:
        """Return what to say to a writer, so that the next one goes on from there."""
        place = TopicPartition(self.topic, PARTITION, offset)
        return Taken(place, self._consumer.consumer_group_metadata())

    def close(self) -> None:
        """Leave."""
        self._consumer.close()


class EventWriter:
    """The only one who writes events: a second one with the same name ends the first."""

    def __init__(self, servers: str, topic: str, name: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {**ClusterAccess(servers).producer(), "transactional.id": name, "linger.ms": 0}
        )
        self._producer.init_transactions(_WITHIN_S)

    def write(self, key: str, event: Mapping[str, Any]) -> None:
        """Let something have happened; raises KafkaException if another writer took over."""
        self.write_all([(key, event)])

    def write_all(
        self, events: Iterable[tuple[str, Mapping[str, Any]]], taken: Taken | None = None
    ) -> None:
        """Let several things have happened, all of them or none; raises KafkaException.

        With `taken`, the events that they follow from count as taken by then, and only then: none
        is taken twice, and none is lost, whenever this process is killed.
        """
        self._producer.begin_transaction()
        for key, event in events:
            self._producer.produce(self._topic, json.dumps(event), key, partition=PARTITION)
        if taken is not None:
            self._producer.send_offsets_to_transaction([taken.place], taken.reader, _WITHIN_S)
        self._producer.commit_transaction(_WITHIN_S)


def _recorded(message: Message) -> Recorded:
    key, value = (message.key() or b"").decode(), json.loads(message.value() or b"{}")
    return Recorded(key, value, message.offset() or 0, message.timestamp()[1])
