"""Topics and settings through real admin clients: what Kafka's own tools and scripts do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import confluent_kafka
import pytest
from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from kafka.admin import KafkaAdminClient
from kafka.admin import NewTopic as PyNewTopic
from tests.integration.clients import Confluent
from tests.integration.record_batches import Message

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient
    from tests.broker_process import BrokerProcess

WITHIN_S = 30


def make(admin: AdminClient, topic: str, partitions: int = 1, **config: str) -> None:
    settings = {name.replace("_", "."): value for name, value in config.items()}
    admin.create_topics([NewTopic(topic, partitions, 1, config=settings)])[topic].result(WITHIN_S)


def refusal(admin: AdminClient, new: NewTopic) -> int:
    """The error code with which the broker refuses to create a topic."""
    with pytest.raises(KafkaException) as caught:
        admin.create_topics([new])[new.topic].result(WITHIN_S)
    code: int = caught.value.args[0].code()
    return code


def settings_of(admin: AdminClient, topic: str) -> dict[str, ConfigEntry]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    found: dict[str, ConfigEntry] = admin.describe_configs([resource])[resource].result(WITHIN_S)
    return found


def test_a_topic_from_birth_to_death(admin: AdminClient, topic: str) -> None:
    make(admin, topic, partitions=3)

    described = admin.describe_topics(TopicCollection([topic]))[topic].result(WITHIN_S)
    assert described.name == topic
    assert [p.id for p in described.partitions] == [0, 1, 2]
    assert {p.leader.id for p in described.partitions} == {described.partitions[0].leader.id}
    assert not described.is_internal

    admin.create_partitions([NewPartitions(topic, 5)])[topic].result(WITHIN_S)
    assert len(admin.list_topics(topic, timeout=WITHIN_S).topics[topic].partitions) == 5

    admin.delete_topics([topic])[topic].result(WITHIN_S)
    assert topic not in admin.list_topics(timeout=WITHIN_S).topics


def test_refusals(admin: AdminClient, topic: str) -> None:
    make(admin, topic)

    assert refusal(admin, NewTopic(topic, 1, 1)) == KafkaError.TOPIC_ALREADY_EXISTS
    for bad in ("no spaces", "ünïcode", ".", "..", "x" * 250):
        assert refusal(admin, NewTopic(bad, 1, 1)) == KafkaError.TOPIC_EXCEPTION, bad
    assert refusal(admin, NewTopic(f"{topic}-0", 0, 1)) == KafkaError.INVALID_PARTITIONS
    for name, value in (("retention.ms", "soon"), ("no.such.setting", "1")):
        new = NewTopic(f"{topic}-1", 1, 1, config={name: value})
        assert refusal(admin, new) == KafkaError.INVALID_CONFIG, name
    with pytest.raises(KafkaException) as caught:
        admin.delete_topics([f"{topic}-2"])[f"{topic}-2"].result(WITHIN_S)
    assert caught.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
    with pytest.raises(KafkaException) as caught:
        admin.create_partitions([NewPartitions(topic, 1)])[topic].result(WITHIN_S)
    assert caught.value.args[0].code() == KafkaError.INVALID_PARTITIONS


def test_names_that_collide_in_metrics_are_refused(admin: AdminClient, topic: str) -> None:
    make(admin, f"{topic}.a_b")

    assert refusal(admin, NewTopic(f"{topic}_a.b", 1, 1)) == KafkaError.TOPIC_EXCEPTION


def test_validate_only_creates_nothing(admin: AdminClient, topic: str) -> None:
    new = NewTopic(topic, 1, 1)
    admin.create_topics([new], validate_only=True)[topic].result(WITHIN_S)

    assert topic not in admin.list_topics(timeout=WITHIN_S).topics


def test_settings_are_told_with_their_origin(admin: AdminClient, topic: str) -> None:
    make(admin, topic, retention_ms="600000")

    settings = settings_of(admin, topic)

    own, default = settings["retention.ms"], settings["cleanup.policy"]
    assert own.value == "600000"
    assert own.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    assert not own.is_default
    assert default.value == "delete"
    assert default.source == ConfigSource.DEFAULT_CONFIG.value
    assert default.is_default
    assert settings["max.message.bytes"].value == "1048588"


def test_settings_are_changed_one_by_one(
    broker: BrokerProcess, admin: AdminClient, topic: str
) -> None:
    make(admin, topic, retention_ms="600000", cleanup_policy="delete")

    def alter(operation: AlterConfigOpType, name: str, value: str | None) -> None:
        entry = ConfigEntry(name, value, incremental_operation=operation)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        admin.incremental_alter_configs([resource])[resource].result(WITHIN_S)

    alter(AlterConfigOpType.SET, "max.message.bytes", "2000")
    alter(AlterConfigOpType.APPEND, "cleanup.policy", "compact")
    alter(AlterConfigOpType.DELETE, "retention.ms", None)

    settings = settings_of(admin, topic)
    assert settings["max.message.bytes"].value == "2000"
    assert set(settings["cleanup.policy"].value.split(",")) == {"delete", "compact"}
    assert settings["retention.ms"].value == "604800000"
    alter(AlterConfigOpType.SUBTRACT, "cleanup.policy", "compact")
    assert settings_of(admin, topic)["cleanup.policy"].value == "delete"

    # What was changed holds at once.
    errors: list[KafkaError | None] = []
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(topic, b"x" * 3000, on_delivery=lambda error, _: errors.append(error))
    producer.flush(WITHIN_S)
    assert errors[0] is not None
    assert errors[0].code() == KafkaError.MSG_SIZE_TOO_LARGE

    with pytest.raises(KafkaException) as caught:
        alter(AlterConfigOpType.SET, "retention.ms", "soon")
    assert caught.value.args[0].code() == KafkaError.INVALID_CONFIG


def test_records_are_deleted_up_to_an_offset(
    broker: BrokerProcess, admin: AdminClient, topic: str
) -> None:
    Confluent().write(broker.bootstrap_servers, topic, [Message(b"%d" % n) for n in range(10)])

    at = TopicPartition(topic, 0, 4)
    deleted = admin.delete_records([at])[at].result(WITHIN_S)

    assert deleted.low_watermark == 4
    found = Confluent().read(broker.bootstrap_servers, topic, 6, offset=4)
    assert [offset for offset, _ in found] == list(range(4, 10))
    beyond = TopicPartition(topic, 0, 99)
    with pytest.raises(KafkaException) as caught:
        admin.delete_records([beyond])[beyond].result(WITHIN_S)
    assert caught.value.args[0].code() == KafkaError.OFFSET_OUT_OF_RANGE


def test_list_offsets(broker: BrokerProcess, admin: AdminClient, topic: str) -> None:
    stamps = [100, 300, 200]
    Confluent().write(
        broker.bootstrap_servers, topic, [Message(b"x", timestamp=stamp) for stamp in stamps]
    )

    def offset(spec: OffsetSpec) -> int:
        partition = TopicPartition(topic, 0)
        answer = admin.list_offsets({partition: spec})[partition].result(WITHIN_S)
        found: int = answer.offset
        return found

    assert offset(OffsetSpec.earliest()) == 0
    assert offset(OffsetSpec.latest()) == 3
    assert offset(OffsetSpec.max_timestamp()) == 1
    assert offset(OffsetSpec.for_timestamp(101)) == 1


def test_the_cluster_describes_itself(broker: BrokerProcess, admin: AdminClient) -> None:
    cluster = admin.describe_cluster().result(WITHIN_S)

    assert cluster.cluster_id
    (node,) = cluster.nodes
    assert (node.host, node.port) == ("127.0.0.1", broker.port)
    assert cluster.controller.id == node.id
    resource = ConfigResource(ResourceType.BROKER, str(node.id))
    settings = admin.describe_configs([resource])[resource].result(WITHIN_S)
    assert settings["log.retention.hours"].value == "168"
    assert settings["num.partitions"].value == "1"


def test_kafka_python_administers(broker: BrokerProcess, topic: str) -> None:
    client = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    try:
        client.create_topics([PyNewTopic(topic, 2, 1, topic_configs={"retention.ms": "1000"})])
        assert topic in client.list_topics()
        (described,) = client.describe_topics([topic])
        assert len(described["partitions"]) == 2
        client.delete_topics([topic])
        assert topic not in client.list_topics()
    finally:
        client.close()


def test_topics_come_to_be_when_written_to(
    broker: BrokerProcess, admin: AdminClient, topic: str
) -> None:
    Confluent().write(broker.bootstrap_servers, topic, [Message(b"first")])

    assert len(admin.list_topics(topic, timeout=WITHIN_S).topics[topic].partitions) == 1
