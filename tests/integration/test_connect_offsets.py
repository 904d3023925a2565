"""Offsets of connectors that the worker itself writes, beside those that tasks write in Java."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.connect.worker.offset_store import OffsetStore

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess

PARTITIONS = 25  # as many as Kafka Connect gives the topic
# Kafka's own test values of its hash.
HASHES = {b"21": -973932308, b"foobar": -790332482, b"abc": 479470107}


def test_a_key_lies_where_javas_clients_put_it(broker: BrokerProcess, topic: str) -> None:
    client = {"bootstrap.servers": broker.bootstrap_servers}
    admin = AdminClient(client)
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()
    # A deletion has to follow what it deletes.
    OffsetStore(client, topic).write([(key, None) for key in HASHES])

    consumer = Consumer({**client, "group.id": topic})
    consumer.assign(
        [TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(PARTITIONS)]
    )
    places: dict[Any, Any] = {}
    while len(places) < len(HASHES):
        (message,) = consumer.consume(1, -1)
        places[message.key()] = message.partition()
    consumer.close()
    assert places == {key: (hashed & 0x7FFFFFFF) % PARTITIONS for key, hashed in HASHES.items()}
