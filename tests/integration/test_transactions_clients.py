"""Transactions with real clients: commit, abort, fence, and offsets that count at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import confluent_kafka
import pytest
from confluent_kafka.admin import NewTopic
from tests.integration.transactional_clients import CLIENTS, FencedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka.admin import AdminClient
    from tests.broker_process import BrokerProcess
    from tests.integration.transactional_clients import TransactionalProducer

WITHIN_S = 60.0

pytestmark = pytest.mark.parametrize(
    "client_name",
    [
        pytest.param(name, marks=[pytest.mark.needs("node", "npm")] if name == "kafkajs" else [])
        for name in CLIENTS
    ],
)


@pytest.fixture
def connect(broker: BrokerProcess, client_name: str) -> Callable[[str], TransactionalProducer]:
    return lambda transactional_id: CLIENTS[client_name](broker.bootstrap_servers, transactional_id)


@pytest.fixture
def created(admin: AdminClient, topic: str) -> str:
    for future in admin.create_topics([NewTopic(topic, 2, 1)]).values():
        future.result(WITHIN_S)
    return topic


def read(broker: BrokerProcess, topic: str, isolation: str, partition: int = 0) -> list[str]:
    """Read a partition from its start to where the reader's kind of end was at first."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "not-joined",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        consumer.assign([confluent_kafka.TopicPartition(topic, partition, 0)])
        values: list[str] = []
        while True:
            message = consumer.poll(WITHIN_S)
            assert message is not None
            if message.error() is not None:
                assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
                return values
            values.append(message.value().decode())
    finally:
        consumer.close()


def committed_offset(broker: BrokerProcess, topic: str, group: str) -> int:
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": group}
    )
    try:
        (found,) = consumer.committed([confluent_kafka.TopicPartition(topic, 0)], WITHIN_S)
        return int(found.offset)
    finally:
        consumer.close()


def test_only_what_is_committed_is_read(
    broker: BrokerProcess, created: str, connect: Callable[[str], TransactionalProducer]
) -> None:
    producer = connect(created)
    for number in range(4):
        producer.begin()
        producer.send(created, f"{number} a")
        producer.send(created, f"{number} b", partition=1)
        producer.send(created, f"{number} c")
        producer.abort() if number % 2 else producer.commit()
    producer.begin()
    producer.send(created, "open")
    everything = [f"{number} {part}" for number in range(4) for part in "ac"]
    assert read(broker, created, "read_uncommitted") == [*everything, "open"]
    assert read(broker, created, "read_committed") == ["0 a", "0 c", "2 a", "2 c"]
    assert read(broker, created, "read_committed", partition=1) == ["0 b", "2 b"]
    producer.commit()
    assert read(broker, created, "read_committed")[-1] == "open"
    producer.close()


def test_a_second_producer_fences_the_first(
    broker: BrokerProcess, created: str, connect: Callable[[str], TransactionalProducer]
) -> None:
    first = connect(created)
    first.begin()
    first.send(created, "lost")
    second = connect(created)
    second.begin()
    second.send(created, "kept")
    second.commit()
    with pytest.raises(FencedError):
        first.commit()
    second.begin()
    second.send(created, "kept too")
    second.commit()
    assert read(broker, created, "read_committed") == ["kept", "kept too"]
    second.close()
    first.close()


def test_offsets_count_when_the_transaction_does(
    broker: BrokerProcess, created: str, connect: Callable[[str], TransactionalProducer]
) -> None:
    group = f"{created}-group"
    producer = connect(created)
    for offset, ends in ((3, producer.commit), (5, producer.abort), (7, producer.commit)):
        producer.begin()
        producer.send(created, f"up to {offset}")
        producer.send_offset(created, offset, group)
        ends()
        assert committed_offset(broker, created, group) == (3 if offset == 5 else offset)
    producer.close()
