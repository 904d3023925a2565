"""The registry on Apache Kafka: the same as on the embedded broker, since it cannot tell them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext
from tests.integration.registry_fixtures import record
from tests.registry_process import RegistryProcess
from tests.registry_workers import check_answered, leader_of, restart_leader, run_workers, see

from headwater import serde
from headwater.cluster import KafkaCluster

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.needs("java")

OPTIONS = ("--property", "leader.session.timeout.ms=6000", "--property", "leader.patience.ms=5000")
CONSUMED_WITHIN_S = 60


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    with KafkaCluster(tmp_path_factory.mktemp("kafka")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def registries(kafka: KafkaCluster) -> Iterator[list[RegistryProcess]]:
    started = [RegistryProcess(kafka.bootstrap_servers, OPTIONS).start() for _ in range(2)]
    yield started
    for process in started:
        process.stop()


@pytest.fixture
def follower(registries: list[RegistryProcess]) -> RegistryProcess:
    one, two = registries
    return two if leader_of(*registries) is one else one


def avro(name: str, *fields: str) -> Schema:
    return Schema(json.dumps(record(name, *fields)), "AVRO")


def test_its_topic_is_compacted(kafka: KafkaCluster, registries: list[RegistryProcess]) -> None:
    leader_of(*registries)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    described = admin.list_topics("_schemas").topics["_schemas"]
    assert len(described.partitions) == 1
    resource = ConfigResource(ResourceType.TOPIC, "_schemas")
    config = admin.describe_configs([resource])[resource].result()
    assert config["cleanup.policy"].value == "compact"


def test_confluents_client_through_the_follower(follower: RegistryProcess, topic: str) -> None:
    client = SchemaRegistryClient({"url": follower.url})
    id_ = client.register_schema(topic, avro("R", "a"))
    assert client.register_schema(topic, avro("R", "a")) == id_
    assert client.get_latest_version(topic).schema_id == id_
    with pytest.raises(SchemaRegistryError, match="has no default") as refusal:
        client.register_schema(topic, avro("R", "a", "b"))
    assert refusal.value.http_status_code == 409
    client.set_compatibility(topic, "NONE")
    assert client.register_schema(topic, avro("R", "a", "b")) > id_
    assert client.register_schema(f":.{topic}:orders", avro("R", "a")) == 1
    assert f".{topic}" in client.get_contexts()


def test_deleting_and_modes(
    registries: list[RegistryProcess], follower: RegistryProcess, topic: str
) -> None:
    client = SchemaRegistryClient({"url": follower.url})
    id_ = client.register_schema(topic, avro("D", "a"))
    assert client.update_mode(topic, "READONLY") == "READONLY"
    with pytest.raises(SchemaRegistryError, match="read-only mode"):
        client.register_schema(topic, avro("D"))
    client.delete_mode(topic)
    assert client.delete_subject(topic) == [1]
    assert client.delete_subject(topic, permanent=True) == [1]
    client.update_mode(topic, "IMPORT")
    imported = follower.register(topic, record("I"), id=7000, version=5)
    assert imported == 7000
    for registry in registries:
        see(registry, f"/subjects/{topic}/versions", [5])
    client.delete_mode(topic)
    assert client.register_schema(f"{topic}-next", avro("Next")) == 7001
    assert id_ < 7000


def test_records_with_schemas_go_through_kafka(
    kafka: KafkaCluster, follower: RegistryProcess, topic: str
) -> None:
    ours = serde.AvroSerializer(serde.SchemaRegistryClient(follower.url), avro("V", "a").schema_str)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    producer.produce(topic, ours({"a": "hot"}, topic))
    assert producer.flush(CONSUMED_WITHIN_S) == 0
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": topic,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    message = consumer.poll(CONSUMED_WITHIN_S)
    consumer.close()
    assert message is not None
    theirs = AvroDeserializer(SchemaRegistryClient({"url": follower.url}))
    value = theirs(message.value(), SerializationContext(topic, MessageField.VALUE))
    assert value == {"a": "hot"}


def test_killing_leaders_in_the_middle_of_registrations(
    registries: list[RegistryProcess],
) -> None:
    leader_of(*registries)
    answered = run_workers(registries, lambda: restart_leader(registries), times=2)
    for registry in registries:
        registry.register("last", record("Last"))
        check_answered(registry, answered)
        assert "Traceback" not in registry.text
