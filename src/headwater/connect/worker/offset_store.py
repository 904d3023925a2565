"""Source offsets in the topic `connect-offsets`, in Kafka Connect's own records."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from headwater.clients.cluster_access import JAVAS_PARTITIONER
from headwater.clients.errors import describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TIMEOUT_S = 60.0
_BATCH = 1000


class OffsetStoreError(Exception):
    """The offsets could not be read or written; the message says why."""


@dataclass(frozen=True, slots=True)
class StoredOffset:
    """A source partition's offset, under the key that its record has."""

    key: bytes
    partition: Mapping[str, Any]
    offset: Mapping[str, Any]


class ConnectorOffsets:
    """The offsets of one connector, by source partition."""

    def __init__(self, connector: str, stored: Mapping[str, StoredOffset]) -> None:
        self.connector = connector
        self._stored = dict(stored)

    def get(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return a source partition's offset; None if it has none."""
        found = self._stored.get(_identity(partition))
        return None if found is None else found.offset

    def all(self) -> list[StoredOffset]:
        """Return all of them."""
        return list(self._stored.values())

    def record(
        self, partition: Mapping[str, Any], offset: Mapping[str, Any] | None
    ) -> tuple[bytes, bytes | None]:
        """Return the record that stores an offset, or forgets it."""
        found = self._stored.get(_identity(partition))
        # The bytes that it had, so that compaction sees the same key.
        key = found.key if found is not None else _encoded([self.connector, partition])
        return key, None if offset is None else _encoded(offset)

    def note(self, partition: Mapping[str, Any], offset: Mapping[str, Any]) -> None:
        """Take note of an offset that was stored."""
        key, _ = self.record(partition, offset)
        self._stored[_identity(partition)] = StoredOffset(key, partition, offset)


class OffsetStore:
    """Reads and writes the topic; calls wait for Kafka, so make them in a thread."""

    def __init__(self, client: Mapping[str, Any], topic: str) -> None:
        self.topic = topic
        self._client = dict(client)

    def of(self, connector: str) -> ConnectorOffsets:
        """Read the offsets of a connector as they are now; raises OffsetStoreError.

        Fence whoever may still write them first: an open transaction would be waited for.
        """
        stored: dict[str, StoredOffset] = {}
        for key, value in self._records():
            try:
                name, partition = json.loads(key)
                offset = None if value is None else json.loads(value)
            except ValueError:
                continue  # nobody's who runs connectors
            if name != connector or not isinstance(partition, dict):
                continue
            if offset is None:
                stored.pop(_identity(partition), None)
            else:
                stored[_identity(partition)] = StoredOffset(key, partition, offset)
        return ConnectorOffsets(connector, stored)

    def write(self, records: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Write records; raises OffsetStoreError."""
        failures: list[KafkaError] = []

        def note(error: KafkaError | None, _: object) -> None:
            if error is not None:
                failures.append(error)

        # Where a source's own tasks write the same keys, in Java.
        settings = {**JAVAS_PARTITIONER, **self._client, "acks": "all", "enable.idempotence": True}
        producer = Producer(settings)
        for key, value in records:
            producer.produce(self.topic, value, key, on_delivery=note)
        left = producer.flush(_TIMEOUT_S)
        if failures or left:
            reason = describe(failures[0]) if failures else "no acknowledgement in time"
            raise OffsetStoreError(f"writing to {self.topic} failed: {reason}")

    def fence(self, transactional_ids: Sequence[str]) -> None:
        """End what another worker may have open under these ids; it can write no more."""
        for each in transactional_ids:
            producer = Producer({**self._client, "transactional.id": each})
            try:
                producer.init_transactions(_TIMEOUT_S)
            except KafkaException as failure:
                reason = describe(failure.args[0])
                raise OffsetStoreError(f"{each} could not be taken over: {reason}") from None

    def _records(self) -> list[tuple[bytes, bytes | None]]:
        consumer = Consumer(
            {
                **self._client,
                "group.id": "connect-offsets-reader",  # never used, but demanded
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
            }
        )
        try:
            return self._read(consumer)
        except KafkaException as failure:
            reason = describe(failure.args[0])
            raise OffsetStoreError(f"reading {self.topic} failed: {reason}") from None
        finally:
            consumer.close()

    def _read(self, consumer: Consumer) -> list[tuple[bytes, bytes | None]]:
        described = consumer.list_topics(self.topic, timeout=_TIMEOUT_S).topics[self.topic]
        if described.error is not None:
            raise OffsetStoreError(f"{self.topic}: {describe(described.error)}")
        partitions = set(described.partitions)
        consumer.assign([TopicPartition(self.topic, number, 0) for number in partitions])
        records: list[tuple[bytes, bytes | None]] = []
        deadline = time.monotonic() + _TIMEOUT_S
        while partitions:
            if time.monotonic() > deadline:
                raise OffsetStoreError(f"reading {self.topic} took longer than {_TIMEOUT_S:g} s")
            for message in consumer.consume(_BATCH, 1.0):
                error = message.error()
                if error is None:
                    records.append((message.key() or b"", message.value()))
                elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - public
                    partitions.discard(message.partition())
                elif error.fatal() or not error.retriable():
                    raise KafkaException(error)
        return records


def _encoded(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _identity(partition: Mapping[str, Any]) -> str:
    return json.dumps(partition, sort_keys=True)
