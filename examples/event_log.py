"""Events in a topic: written by one writer, in transactions, and replayed from any place on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PARTITION = 0
_WITHIN_S = 30.0


class Recorded(NamedTuple):
    """An event, and where and when it was written."""

    key: str
    event: dict[str, Any]
    offset: int
    time_ms: int


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
            key, value = (message.key() or b"").decode(), json.loads(message.value() or b"{}")
            yield Recorded(key, value, message.offset() or 0, message.timestamp()[1])

    def close(self) -> None:
        """Leave."""
        self._consumer.close()


class EventWriter:
    """The only one who writes events: a second one with the same name ends the first."""

    def __init__(self, servers: str, topic: str, name: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {"bootstrap.servers": servers, "transactional.id": name, "linger.ms": 0}
        )
        self._producer.init_transactions(_WITHIN_S)

    def write(self, key: str, event: Mapping[str, Any]) -> None:
        """Let something have happened; raises KafkaException if another writer took over."""
        self._producer.begin_transaction()
        self._producer.produce(self._topic, json.dumps(event), key, partition=PARTITION)
        self._producer.commit_transaction(_WITHIN_S)
