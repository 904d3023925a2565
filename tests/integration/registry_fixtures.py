"""Schemas and records that several tests of the registry use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPIC = "_schemas"


class Written(NamedTuple):
    """A record of the topic as any consumer sees it."""

    offset: int
    key: bytes | None
    value: bytes | None


def record(name: str, *fields: str, **more: Any) -> dict[str, Any]:
    """An Avro record of text fields without defaults."""
    return {
        "type": "record",
        "name": name,
        "fields": [{"name": field, "type": "string"} for field in fields],
        **more,
    }


def read_topic(bootstrap_servers: str, topic: str = TOPIC) -> list[Written]:
    """Return all records of a topic's first partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    records: list[Written] = []
    try:
        while True:
            message = consumer.poll(30)
            assert message is not None, "the topic has no end"
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return records
            records.append(Written(message.offset(), message.key(), message.value()))
    finally:
        consumer.close()


def write_topic(
    bootstrap_servers: str,
    records: Sequence[tuple[bytes | None, bytes | None]],
    topic: str = TOPIC,
    headers: Sequence[tuple[str, bytes]] = (),
) -> None:
    """Write records as another program would."""
    producer = Producer({"bootstrap.servers": bootstrap_servers, "acks": "all"})
    failures: list[object] = []
    for key, value in records:
        producer.produce(
            topic, value, key, 0, headers=list(headers),
            on_delivery=lambda error, _: failures.append(error) if error else None,
        )  # fmt: skip
    assert producer.flush(30) == 0
    assert not failures


def schema_record(subject: str, version: int, id_: int, schema: Any) -> tuple[bytes, bytes]:
    """A schema as Confluent's registry writes it."""
    key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
    text = schema if isinstance(schema, str) else json.dumps(schema)
    value = {"subject": subject, "version": version, "id": id_, "schema": text, "deleted": False}
    return _json(key), _json(value)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
