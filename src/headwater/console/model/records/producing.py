"""One record, written by a person: text, JSON or a value for a subject's latest schema."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaException

from headwater.clients.connection import check_topic_name
from headwater.clients.errors import ClientError
from headwater.serde import AvroJsonSerializer, Context, JsonSchemaSerializer, ProtobufSerializer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka import KafkaError, Message, Producer

    from headwater.console.model.cluster import Cluster
    from headwater.serde import SchemaRegistryClient, Serializer
    from headwater.serde.context import Field

TEXT, JSON, SCHEMA = "text", "JSON", "latest schema"
FORMATS = (TEXT, JSON, SCHEMA)
_WITHIN_S = 15.0
_MOST_BYTES = 128 * 1024 * 1024
_SERIALIZERS: dict[str, Any] = {
    "AVRO": AvroJsonSerializer,
    "JSON": JsonSchemaSerializer,
    "PROTOBUF": ProtobufSerializer,
}


@dataclass(frozen=True)
class NewRecord:
    """A record that a person typed; None is no key, or a tombstone."""

    topic: str
    key: str | None
    value: str | None
    headers: Sequence[tuple[str, str]] = ()
    partition: int | None = None
    key_format: str = TEXT
    value_format: str = TEXT


class Producing:
    """Writes records, each acknowledged before it is told; all methods block."""

    def __init__(self, cluster: Cluster, registry: SchemaRegistryClient | None) -> None:
        self._cluster = cluster
        self._registry = registry
        self._producer: Producer | None = None
        self._lock = threading.Lock()

    def produce(self, record: NewRecord) -> tuple[int, int]:
        """Return the partition and the offset; raises KafkaException, SerdeError, ValueError."""
        return self.write(
            record.topic,
            self._encoded(record, "key"),
            self._encoded(record, "value"),
            [(name, text.encode()) for name, text in record.headers],
            record.partition,
        )

    def write(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]],
        partition: int | None,
    ) -> tuple[int, int]:
        """Write bytes as they are; without a partition, the key decides as in Java's clients."""
        acknowledged: list[tuple[KafkaError | None, Message]] = []
        producer = self._own_producer()
        producer.produce(
            check_topic_name(topic),
            value,
            key,
            -1 if partition is None else partition,
            headers=list(headers),
            on_delivery=lambda error, message: acknowledged.append((error, message)),
        )
        if producer.flush(_WITHIN_S) or not acknowledged:
            raise ClientError(f"the record was not acknowledged within {_WITHIN_S:g} s")
        ((error, message),) = acknowledged
        if error is not None:
            raise KafkaException(error)
        return message.partition(), message.offset()

    def _own_producer(self) -> Producer:
        with self._lock:
            if self._producer is None:
                settings = {
                    "delivery.timeout.ms": int(_WITHIN_S * 1000),
                    "enable.metrics.push": False,
                    # How long a record may be is the topic's affair.
                    "message.max.bytes": _MOST_BYTES,
                }
                self._producer = self._cluster.connection.producer(settings)
            return self._producer

    def _encoded(self, record: NewRecord, field: Field) -> bytes | None:
        text = record.key if field == "key" else record.value
        kind = record.key_format if field == "key" else record.value_format
        if text is None:
            return None
        if kind == TEXT:
            return text.encode()
        try:
            value = json.loads(text)
        except ValueError as failure:
            raise ValueError(f"the {field} is no JSON: {failure}") from None
        if kind == JSON:
            return text.encode()
        return self._with_schema(record.topic, field, value)

    def _with_schema(self, topic: str, field: Field, value: object) -> bytes | None:
        if self._registry is None:
            raise ValueError("there is no schema registry; choose text or JSON")
        latest = self._registry.get_latest_version(f"{topic}-{field}")
        kind = _SERIALIZERS[latest.schema.type]
        serializer: Serializer[Any] = kind(self._registry, None, use_latest_version=True)
        return serializer(value, Context(topic, field))


def partition_of(text: str) -> int | None:
    """Read a partition's number, or nothing; raises ValueError.

    >>> partition_of(" 3"), partition_of("")
    (3, None)
    """
    number = text.strip()
    if number and not number.isdecimal():
        raise ValueError(f"'{number}' is no number of a partition")
    return int(number) if number else None


def headers_of(text: str) -> list[tuple[str, str]]:
    """Read lines of NAME: VALUE; raises ValueError.

    >>> headers_of("trace: 00f1")
    [('trace', '00f1')]
    """
    found = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise ValueError(f"'{line.strip()}' is no header of the form NAME: VALUE")
        found.append((name.strip(), value.strip()))
    return found
