"""What survives a restart, clean or not, as clients see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import confluent_kafka
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType
from tests.integration.clients import Confluent
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import create_topic, fetch, list_offset, produce
from tests.integration.record_batches import Message, batch_of, values_in

if TYPE_CHECKING:
    from tests.conftest import StartBroker

WITHIN_S = 30


def test_topics_settings_ids_and_records_survive(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker()
    with RawClient(broker) as client:
        created = create_topic(
            client, topic, 3, {"max.message.bytes": "5000", "segment.ms": "10000"}
        )
        assert (
            produce(client, created, batch_of([b"a", b"b"], "gzip"), partition=2).base_offset == 0
        )

    broker.restart()

    with RawClient(broker) as client:
        answer = fetch(client, created, partition=2, version=18)
        assert values_in(answer.records) == [(0, b"a"), (1, b"b")]
        assert produce(client, created, batch_of([b"c"]), partition=2).base_offset == 2
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    resource = ConfigResource(ResourceType.TOPIC, topic)
    settings = admin.describe_configs([resource])[resource].result(WITHIN_S)
    assert settings["max.message.bytes"].value == "5000"
    assert settings["segment.ms"].value == "10000"
    assert len(admin.list_topics(topic, timeout=WITHIN_S).topics[topic].partitions) == 3


def test_deleted_topics_stay_deleted(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    Confluent().write(broker.bootstrap_servers, topic, [Message(b"gone")])
    admin.delete_topics([topic])[topic].result(WITHIN_S)

    broker.restart()

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    assert topic not in admin.list_topics(timeout=WITHIN_S).topics


def test_log_start_survives(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker()
    with RawClient(broker) as client:
        created = create_topic(client, topic)
        produce(client, created, batch_of([b"%d" % n for n in range(10)]))
        client.call(
            "delete_records",
            2,
            topics=[{"name": topic, "partitions": [{"partition_index": 0, "offset": 7}]}],
            timeout=30_000,
        )

    broker.restart()

    with RawClient(broker) as client:
        assert list_offset(client, created, -2).offset == 7
        assert list_offset(client, created, -1).offset == 10


def test_clients_reconnect_by_themselves(start_broker: StartBroker, topic: str) -> None:
    broker = start_broker()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(WITHIN_S)
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "reconnect.backoff.max.ms": 200,
            "log_level": 0,
        }
    )
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "not-joined",
            "reconnect.backoff.max.ms": 200,
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        for round_number in range(3):
            producer.produce(topic, b"%d" % round_number)
            assert producer.flush(WITHIN_S) == 0
            while True:
                message = consumer.poll(WITHIN_S)
                assert message is not None
                if message.error() is None:
                    break
            assert (message.offset(), message.value()) == (round_number, b"%d" % round_number)
            broker.kill() if round_number == 1 else broker.stop()
            broker.start()
    finally:
        consumer.close()


def test_the_cluster_keeps_its_id(start_broker: StartBroker) -> None:
    broker = start_broker()

    def cluster_id() -> str:
        with RawClient(broker) as client:
            answer: str = client.call("describe_cluster", 1).cluster_id
            return answer

    first = cluster_id()
    broker.restart()
    assert cluster_id() == first
