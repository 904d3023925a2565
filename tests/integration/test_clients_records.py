"""Records of every shape through every client: sizes, nulls, headers, timestamps, acks, batches."""

from __future__ import annotations

import asyncio
import subprocess
import time
from typing import TYPE_CHECKING

import confluent_kafka
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka import errors as aio_errors
from confluent_kafka.admin import NewTopic
from kafka import KafkaProducer
from kafka import errors as py_errors
from tests.integration.clients import CLIENTS, PROGRAMS, Confluent
from tests.integration.kafkajs_client import KafkajsError
from tests.integration.record_batches import Message

if TYPE_CHECKING:
    from pathlib import Path

    from confluent_kafka.admin import AdminClient
    from tests.broker_process import BrokerProcess

DEFAULT_MAX_MESSAGE_BYTES = 1_048_588
IN_PYTHON = ["confluent-kafka", "kafka-python", "aiokafka"]
ANY_CLIENT = [
    pytest.param(name, marks=[pytest.mark.needs(*PROGRAMS[name])] if name in PROGRAMS else [])
    for name in CLIENTS
]


def create(admin: AdminClient, topic: str, **config: str) -> None:
    settings = {name.replace("_", "."): value for name, value in config.items()}
    admin.create_topics([NewTopic(topic, 1, 1, config=settings)])[topic].result(30)


@pytest.mark.parametrize("client", ANY_CLIENT)
@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks(broker: BrokerProcess, topic: str, client: str, acks: str) -> None:
    sent = [Message(b"%d" % number, key=b"k") for number in range(50)]

    CLIENTS[client].write(broker.bootstrap_servers, topic, sent[:25], acks="all")
    CLIENTS[client].write(broker.bootstrap_servers, topic, sent[25:], acks=acks)

    found = Confluent().read(broker.bootstrap_servers, topic, len(sent))
    assert [(o, m.value) for o, m in found] == [(i, m.value) for i, m in enumerate(sent)]


@pytest.mark.parametrize("client", IN_PYTHON)
def test_nulls_and_empties_stay_apart(broker: BrokerProcess, topic: str, client: str) -> None:
    sent = [
        Message(value, key=key)
        for value in (None, b"", b"v")
        for key in (None, b"", b"k")
        if (value, key) != (None, None)
    ]
    CLIENTS[client].write(broker.bootstrap_servers, topic, sent)

    for reader in IN_PYTHON:
        found = CLIENTS[reader].read(broker.bootstrap_servers, topic, len(sent))
        assert found == list(enumerate(sent)), reader


@pytest.mark.parametrize("client", IN_PYTHON)
def test_headers_keep_order_repeats_nulls_and_bytes(
    broker: BrokerProcess, topic: str, client: str
) -> None:
    headers: tuple[tuple[str, bytes | None], ...] = (
        ("b", b"1"),
        ("a", b"\x00\xff binary"),
        ("b", b"2"),
        ("empty", b""),
        ("", b"nameless"),
        ("ünï", "cödé".encode()),
        *((f"h{number}", b"x" * number) for number in range(100)),
    )
    if client != "kafka-python":  # it reads null headers, but refuses to write them
        headers += (("null", None),)
    CLIENTS[client].write(
        broker.bootstrap_servers, topic, [Message(b"v", headers=headers), Message(b"none")]
    )

    for reader in IN_PYTHON:
        (_, first), (_, second) = CLIENTS[reader].read(broker.bootstrap_servers, topic, 2)
        assert first.headers == headers, reader
        assert second.headers == (), reader


@pytest.mark.parametrize("client", IN_PYTHON)
def test_create_time_is_the_client_s(broker: BrokerProcess, topic: str, client: str) -> None:
    sent = [Message(b"v", timestamp=stamp) for stamp in (1, 1_600_000_000_000, 1_500_000_000_123)]
    CLIENTS[client].write(broker.bootstrap_servers, topic, sent)

    for reader in IN_PYTHON:
        found = CLIENTS[reader].read(broker.bootstrap_servers, topic, len(sent))
        assert [m.timestamp for _, m in found] == [m.timestamp for m in sent], reader


@pytest.mark.parametrize("client", ANY_CLIENT)
@pytest.mark.parametrize("codec", ["none", "gzip", "zstd"])
def test_log_append_time_is_the_broker_s(
    broker: BrokerProcess, admin: AdminClient, topic: str, client: str, codec: str
) -> None:
    create(admin, topic, message_timestamp_type="LogAppendTime")
    before = int(time.time() * 1000)
    CLIENTS[client].write(
        broker.bootstrap_servers, topic, [Message(b"v", timestamp=5)] * 3, codec=codec
    )
    after = int(time.time() * 1000)

    for reader in IN_PYTHON:
        for _, message in CLIENTS[reader].read(broker.bootstrap_servers, topic, 3):
            assert before <= message.timestamp <= after, reader


@pytest.mark.parametrize("client", ANY_CLIENT)
def test_large_records(broker: BrokerProcess, topic: str, client: str) -> None:
    sent = [Message(bytes([65 + n]) * (1_048_000 - n), key=b"large") for n in range(3)]

    for message in sent:
        CLIENTS[client].write(broker.bootstrap_servers, topic, [message])

    found = CLIENTS[client].read(broker.bootstrap_servers, topic, len(sent))
    assert [m.value for _, m in found] == [m.value for m in sent]


@pytest.mark.parametrize("client", ANY_CLIENT)
def test_records_of_ten_megabytes_where_the_topic_allows_them(
    broker: BrokerProcess, admin: AdminClient, topic: str, client: str
) -> None:
    create(admin, topic, max_message_bytes="20000000")
    value = b"0123456789" * 1_000_000

    CLIENTS[client].write(broker.bootstrap_servers, topic, [Message(value)])

    for reader in IN_PYTHON:
        ((_, found),) = CLIENTS[reader].read(broker.bootstrap_servers, topic, 1)
        assert found.value == value, reader


def test_too_large_for_the_topic_confluent(broker: BrokerProcess, topic: str) -> None:
    errors: list[confluent_kafka.KafkaError | None] = []
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "message.max.bytes": 10_000_000}
    )
    producer.produce(
        topic, b"x" * DEFAULT_MAX_MESSAGE_BYTES, on_delivery=lambda error, _: errors.append(error)
    )
    producer.produce(topic, b"small", on_delivery=lambda error, _: errors.append(error))
    producer.flush(60)

    too_large = confluent_kafka.KafkaError.MSG_SIZE_TOO_LARGE
    assert {error.code() if error else None for error in errors} >= {too_large}
    assert no_more_than_small(broker, topic)


def test_too_large_for_the_topic_kafka_python(broker: BrokerProcess, topic: str) -> None:
    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers,
        enable_idempotence=False,
        max_request_size=10_000_000,
    )
    try:
        with pytest.raises(py_errors.MessageSizeTooLargeError):
            producer.send(topic, b"x" * DEFAULT_MAX_MESSAGE_BYTES).get(60)
        producer.send(topic, b"small").get(60)
    finally:
        producer.close()
    assert no_more_than_small(broker, topic)


def test_too_large_for_the_topic_aiokafka(broker: BrokerProcess, topic: str) -> None:
    async def write() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, max_request_size=10_000_000
        )
        await producer.start()
        try:
            with pytest.raises(aio_errors.MessageSizeTooLargeError):
                await producer.send_and_wait(topic, b"x" * DEFAULT_MAX_MESSAGE_BYTES)
            await producer.send_and_wait(topic, b"small")
        finally:
            await producer.stop()

    asyncio.run(write())
    assert no_more_than_small(broker, topic)


@pytest.mark.needs("kcat")
def test_too_large_for_the_topic_kcat(broker: BrokerProcess, topic: str, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"x" * DEFAULT_MAX_MESSAGE_BYTES)
    command = ["kcat", "-P", "-b", broker.bootstrap_servers, "-t", topic]
    command += ["-X", "message.max.bytes=10000000"]

    done = subprocess.run(
        [*command, str(large)], capture_output=True, text=True, timeout=60, check=False
    )

    assert "Message size too large" in done.stderr
    assert no_more_than_small(broker, topic)


@pytest.mark.needs("node", "npm")
def test_too_large_for_the_topic_kafkajs(broker: BrokerProcess, topic: str) -> None:
    with pytest.raises(KafkajsError) as caught:
        CLIENTS["kafkajs"].write(
            broker.bootstrap_servers, topic, [Message(b"x" * DEFAULT_MAX_MESSAGE_BYTES)]
        )

    assert caught.value.type == "MESSAGE_TOO_LARGE"


def no_more_than_small(broker: BrokerProcess, topic: str) -> bool:
    """Whether the refused record left no trace."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "not-joined"}
    )
    try:
        partition = confluent_kafka.TopicPartition(topic, 0)
        _, high = consumer.get_watermark_offsets(partition, timeout=30)
        return bool(high <= 1)
    finally:
        consumer.close()


@pytest.mark.parametrize("client", ANY_CLIENT)
def test_one_record_at_a_time(broker: BrokerProcess, topic: str, client: str) -> None:
    for number in range(3):
        CLIENTS[client].write(broker.bootstrap_servers, topic, [Message(b"%d" % number)])

    found = CLIENTS[client].read(broker.bootstrap_servers, topic, 3)
    assert [(o, m.value) for o, m in found] == [(0, b"0"), (1, b"1"), (2, b"2")]


@pytest.mark.parametrize("client", ANY_CLIENT)
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_ten_thousand_tiny_records(
    broker: BrokerProcess, topic: str, client: str, codec: str
) -> None:
    sent = [Message(b"%d" % number) for number in range(10_000)]

    CLIENTS[client].write(broker.bootstrap_servers, topic, sent, codec=codec)

    found = Confluent().read(broker.bootstrap_servers, topic, len(sent))
    assert [(o, m.value) for o, m in found] == [(i, m.value) for i, m in enumerate(sent)]
    tail = CLIENTS[client].read(broker.bootstrap_servers, topic, 10, offset=9_990)
    assert [m.value for _, m in tail] == [m.value for m in sent[-10:]]
