"""Reads a table's topic in order, from where a store has come to, and says how far it has read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.stores.batches import BatchEnd, batch_end_of
from headwater.stores.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from confluent_kafka import Message

    from headwater.clients.connection import Connection
    from headwater.stores.table import FollowedTable

_AT_ONCE = 20_000
_NEVER_MS = 86_400_000
_SETTINGS = {
    "group.id": "headwater-stores",  # demanded, and never used: nothing is committed
    "isolation.level": "read_committed",
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "max.poll.interval.ms": _NEVER_MS,
    "queued.max.messages.kbytes": 32 * 1024,
}


class RecordsGone(StoreError):  # noqa: N818 - what has become of them
    """The topic no longer has what was to be read next."""


class Change(NamedTuple):
    """A record of the table."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class TopicReader:
    """A consumer of all partitions; `read` is how far each of them was read."""

    def __init__(
        self,
        table: FollowedTable,
        connection: Connection,
        partitions: int,
        start: Mapping[int, int],
    ) -> None:
        from confluent_kafka import OFFSET_BEGINNING, KafkaError, TopicPartition

        self._table = table
        # librdkafka's constants have no names without an underscore.
        self._end_of_partition = KafkaError._PARTITION_EOF  # noqa: SLF001
        self._out_of_range = KafkaError._AUTO_OFFSET_RESET  # noqa: SLF001
        self.read = {each: start.get(each, 0) for each in range(partitions)}
        self.batch_end: BatchEnd | None = None
        """The last one of the table, where its program says them."""
        self.knows_batch_end = table.batches is None
        """Whether the topic in which they are said was read to its end."""
        self._consumer = connection.consumer(_SETTINGS)
        self._places = [
            TopicPartition(table.topic, each, start.get(each, OFFSET_BEGINNING))
            for each in range(partitions)
        ]
        batches = [table.batches] if table.batches is not None else []
        self._consumer.assign(
            [*self._places, *(TopicPartition(each, 0, OFFSET_BEGINNING) for each in batches)]
        )
        self._is_held = False

    def hold(self, hold: bool) -> None:
        """Read no more of the table for now, or go on."""
        if hold != self._is_held:
            (self._consumer.pause if hold else self._consumer.resume)(self._places)
        self._is_held = hold

    def changes(self, wait_s: float) -> list[Change]:
        """Return what comes next, as soon as there is something; raises RecordsGone."""
        first = self._consumer.poll(wait_s)
        if first is None:
            return []
        found: list[Change] = []
        topic = self._table.topic
        # One is waited for, and what came with it is taken along.
        for message in (first, *self._consumer.consume(_AT_ONCE, 0)):
            if message.error() is not None:
                self._note(message)
            elif message.topic() == topic:
                change = Change(
                    message.partition(), message.offset(), message.key(), message.value()
                )
                found.append(change)
                self.read[change.partition] = change.offset + 1
            elif message.key() == topic.encode():
                self.batch_end = batch_end_of(message.value())
        return found

    def state(self) -> tuple[object, ...]:
        """Return what differs whenever something was learnt, besides the changes."""
        return dict(self.read), self.batch_end, self.knows_batch_end

    def close(self) -> None:
        """Leave the cluster."""
        self._consumer.close()

    def _note(self, message: Message) -> None:
        error = message.error()
        if error.code() == self._end_of_partition:
            if message.topic() != self._table.topic:
                self.knows_batch_end = True
            else:
                # Behind the last record there may be marks of transactions, which nobody is shown.
                self.read[message.partition()] = message.offset()
        elif error.code() == self._out_of_range:
            raise RecordsGone(f"{message.topic()} cannot be read on: {error.str()}")
        else:
            raise StoreError(f"{self._table.topic} cannot be read: {error.str()}")
