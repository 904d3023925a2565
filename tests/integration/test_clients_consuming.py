"""How clients position themselves and poll: seeks, times, limits, many partitions, deletion."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AioTopicPartition
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, TopicPartition
from confluent_kafka.admin import NewTopic
from kafka import KafkaConsumer
from kafka import TopicPartition as PyTopicPartition
from tests.integration import kafkajs_client
from tests.integration.clients import CLIENTS, Confluent
from tests.integration.record_batches import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from confluent_kafka.admin import AdminClient
    from tests.broker_process import BrokerProcess

BASE = 1_700_000_000_000


@pytest.fixture
def consumer(broker: BrokerProcess) -> Iterator[confluent_kafka.Consumer]:
    made = librdkafka_consumer(broker)
    yield made
    made.close()


def librdkafka_consumer(broker: BrokerProcess, **config: object) -> confluent_kafka.Consumer:
    settings = {name.replace("_", "."): value for name, value in config.items()}
    return confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "not-joined",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            **settings,
        }
    )


@pytest.fixture
def hundred(broker: BrokerProcess, topic: str) -> str:
    """A topic with a hundred records, ten milliseconds apart, in several batches."""
    for start in range(0, 100, 10):
        Confluent().write(
            broker.bootstrap_servers,
            topic,
            [Message(b"%d" % n, timestamp=BASE + 10 * n) for n in range(start, start + 10)],
        )
    return topic


def values(consumer: confluent_kafka.Consumer, count: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    while len(found) < count:
        messages = consumer.consume(count - len(found), 30)
        assert messages, f"only {len(found)} of {count} came"
        for message in messages:
            assert message.error() is None, message.error()
            found.append(message.value())
    return found


def test_seek_back_and_forth(consumer: confluent_kafka.Consumer, hundred: str) -> None:
    consumer.assign([TopicPartition(hundred, 0, 95)])
    assert values(consumer, 5) == [b"95", b"96", b"97", b"98", b"99"]
    for offset in (0, 50, 3, 99):
        consumer.seek(TopicPartition(hundred, 0, offset))
        assert values(consumer, 1) == [b"%d" % offset]


def test_earliest_and_latest(
    broker: BrokerProcess, consumer: confluent_kafka.Consumer, hundred: str
) -> None:
    consumer.assign([TopicPartition(hundred, 0, OFFSET_BEGINNING)])
    assert values(consumer, 1) == [b"0"]

    assert consumer.get_watermark_offsets(TopicPartition(hundred, 0), timeout=30) == (0, 100)

    tail = librdkafka_consumer(broker, enable_partition_eof=True)
    tail.assign([TopicPartition(hundred, 0, OFFSET_END)])
    end = tail.poll(30)
    assert end is not None
    assert end.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
    Confluent().write(broker.bootstrap_servers, hundred, [Message(b"new")])
    assert values(tail, 1) == [b"new"]
    tail.close()


def test_offsets_for_times(
    broker: BrokerProcess, consumer: confluent_kafka.Consumer, hundred: str
) -> None:
    asked = [BASE - 1, BASE, BASE + 1, BASE + 555, BASE + 990, BASE + 991]
    found = [
        consumer.offsets_for_times([TopicPartition(hundred, 0, when)], timeout=30)[0].offset
        for when in asked
    ]
    assert found == [0, 0, 1, 56, 99, OFFSET_END]

    python = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=None)
    try:
        partition = PyTopicPartition(hundred, 0)
        answer = python.offsets_for_times({partition: BASE + 555})[partition]
        assert (answer.offset, answer.timestamp) == (56, BASE + 560)
        assert python.beginning_offsets([partition]) == {partition: 0}
        assert python.end_offsets([partition]) == {partition: 100}
    finally:
        python.close()

    async def ask() -> tuple[Any, Any, Any]:
        aio = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id=None)
        await aio.start()
        try:
            partition = AioTopicPartition(hundred, 0)
            return (
                (await aio.offsets_for_times({partition: BASE + 555}))[partition].offset,
                (await aio.beginning_offsets([partition]))[partition],
                (await aio.end_offsets([partition]))[partition],
            )
        finally:
            await aio.stop()

    assert asyncio.run(ask()) == (56, 0, 100)


@pytest.mark.needs("kcat")
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("beginning", [str(n) for n in range(100)]),
        ("97", ["97", "98", "99"]),
        ("-2", ["98", "99"]),
        (f"s@{BASE + 975}", ["98", "99"]),
    ],
)
def test_kcat_reads_from_anywhere_to_the_end(
    broker: BrokerProcess, hundred: str, where: str, expected: list[str]
) -> None:
    command = ["kcat", "-q", "-C", "-e", "-b", broker.bootstrap_servers, "-t", hundred]

    done = subprocess.run(
        [*command, "-o", where], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == expected


@pytest.mark.needs("kcat")
def test_kcat_lists_and_queries(broker: BrokerProcess, hundred: str) -> None:
    listed = subprocess.run(
        ["kcat", "-L", "-b", broker.bootstrap_servers, "-t", hundred],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    queried = subprocess.run(
        ["kcat", "-Q", "-b", broker.bootstrap_servers, "-t", f"{hundred}:0:{BASE + 555}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert f'topic "{hundred}" with 1 partitions' in listed.stdout
    assert f"{hundred} [0] offset 56" in queried.stdout


@pytest.mark.needs("node", "npm")
def test_kafkajs_administers(broker: BrokerProcess, topic: str) -> None:
    servers = broker.bootstrap_servers
    made = kafkajs_client.run(
        "createTopic", servers, topic=topic, partitions=3, configs={"retention.ms": "600000"}
    )
    assert made is True
    CLIENTS["kafkajs"].write(
        servers, topic, [Message(b"x", timestamp=BASE + n) for n in range(5)], partition=2
    )

    seen = kafkajs_client.run("describeTopic", servers, topic=topic)
    by_time = kafkajs_client.run("offsetsByTime", servers, topic=topic, timestamp=BASE + 3)

    assert topic in seen["topics"]
    assert len(seen["metadata"]["topics"][0]["partitions"]) == 3
    offsets = {p["partition"]: (p["low"], p["high"]) for p in seen["offsets"]}
    assert offsets == {0: ("0", "0"), 1: ("0", "0"), 2: ("0", "5")}
    assert {p["partition"]: p["offset"] for p in by_time}[2] == "3"
    kafkajs_client.run("deleteTopic", servers, topic=topic)


def test_out_of_range_is_told_or_reset(broker: BrokerProcess, hundred: str) -> None:
    strict = librdkafka_consumer(broker)
    strict.assign([TopicPartition(hundred, 0, 1000)])
    message = strict.poll(30)
    strict.close()
    lenient = librdkafka_consumer(broker, auto_offset_reset="earliest")
    lenient.assign([TopicPartition(hundred, 0, 1000)])
    found = values(lenient, 1)
    lenient.close()

    assert message is not None
    assert message.error() is not None
    assert message.error().code() in (
        confluent_kafka.KafkaError.OFFSET_OUT_OF_RANGE,
        confluent_kafka.KafkaError._AUTO_OFFSET_RESET,
    )
    assert found == [b"0"]


def test_partition_fetch_limit_below_one_batch(broker: BrokerProcess, topic: str) -> None:
    """Each batch is larger than what the consumers ask for, and still all of it arrives."""
    sent = [Message(b"%d" % n * 2000) for n in range(10, 60)]
    Confluent().write(broker.bootstrap_servers, topic, sent)
    Confluent().write(broker.bootstrap_servers, topic, sent)
    expected = [m.value for m in sent * 2]

    small = librdkafka_consumer(broker, max_partition_fetch_bytes=1000)
    small.assign([TopicPartition(topic, 0, 0)])
    assert values(small, len(expected)) == expected
    small.close()

    python = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, group_id=None, max_partition_fetch_bytes=1000
    )
    python.assign([PyTopicPartition(topic, 0)])
    python.seek_to_beginning()
    assert [next(python).value for _ in expected] == expected
    python.close()

    async def read() -> list[bytes]:
        aio = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id=None,
            max_partition_fetch_bytes=1000,
        )
        await aio.start()
        try:
            aio.assign([AioTopicPartition(topic, 0)])
            await aio.seek_to_beginning()
            return [(await asyncio.wait_for(aio.getone(), 30)).value for _ in expected]
        finally:
            await aio.stop()

    assert asyncio.run(read()) == expected


def test_min_bytes_and_max_wait(broker: BrokerProcess, topic: str) -> None:
    """A consumer that asks for a megabyte gets less once its patience has run out."""
    Confluent().write(broker.bootstrap_servers, topic, [Message(b"little")])
    patient = librdkafka_consumer(broker, fetch_min_bytes=1_000_000, fetch_wait_max_ms=400)

    began = time.monotonic()
    patient.assign([TopicPartition(topic, 0, 0)])  # it fetches from here on
    assert values(patient, 1) == [b"little"]
    waited = time.monotonic() - began
    patient.close()

    assert waited >= 0.35


def test_sixty_four_partitions(broker: BrokerProcess, admin: AdminClient, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 64, 1)])[topic].result(60)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})
    for number in range(64 * 50):
        producer.produce(topic, b"%d" % number, partition=number % 64)
    assert producer.flush(60) == 0

    everything = librdkafka_consumer(broker)
    everything.assign([TopicPartition(topic, partition, 0) for partition in range(64)])
    found: dict[int, list[int]] = {partition: [] for partition in range(64)}
    for _ in range(64 * 50):
        message = everything.poll(30)
        assert message is not None
        assert message.error() is None
        found[message.partition()].append(int(message.value()))
    everything.close()

    assert found == {p: list(range(p, 64 * 50, 64)) for p in range(64)}


def test_deleting_the_topic_under_a_consumer(
    broker: BrokerProcess, admin: AdminClient, hundred: str
) -> None:
    """The other topics of the same consumer go on, and the name can be used again at once."""
    other = f"{hundred}-other"
    Confluent().write(broker.bootstrap_servers, other, [Message(b"before")])
    consumer = librdkafka_consumer(broker, allow_auto_create_topics=False)
    consumer.assign([TopicPartition(hundred, 0, 100), TopicPartition(other, 0, 0)])
    assert values(consumer, 1) == [b"before"]

    admin.delete_topics([hundred])[hundred].result(30)
    Confluent().write(broker.bootstrap_servers, other, [Message(b"after")])
    assert values(consumer, 1) == [b"after"]
    assert hundred not in admin.list_topics(timeout=30).topics

    Confluent().write(broker.bootstrap_servers, hundred, [Message(b"anew")])
    consumer.assign([TopicPartition(hundred, 0, 0)])
    assert values(consumer, 1) == [b"anew"]
    consumer.close()


def test_a_consumer_follows_a_producer_live(
    broker: BrokerProcess, admin: AdminClient, topic: str
) -> None:
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    count = 5000

    def write() -> None:
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})
        for number in range(count):
            producer.produce(topic, b"%d" % number)
            producer.poll(0)
        producer.flush(60)

    follower = librdkafka_consumer(broker)
    follower.assign([TopicPartition(topic, 0, 0)])
    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert values(follower, count) == [b"%d" % number for number in range(count)]
    finally:
        writer.join()
        follower.close()


@pytest.mark.parametrize("reader", ["kafka-python", "aiokafka"])
def test_pure_python_clients_from_the_middle(
    broker: BrokerProcess, hundred: str, reader: str
) -> None:
    found = CLIENTS[reader].read(broker.bootstrap_servers, hundred, 5, offset=42)

    assert [(offset, message.value) for offset, message in found] == [
        (offset, b"%d" % offset) for offset in range(42, 47)
    ]


def test_pausing_and_resuming(
    consumer: confluent_kafka.Consumer, hundred: str, broker: BrokerProcess
) -> None:
    consumer.assign([TopicPartition(hundred, 0, 0)])
    assert values(consumer, 1) == [b"0"]
    consumer.pause([TopicPartition(hundred, 0)])
    Confluent().write(broker.bootstrap_servers, hundred, [Message(b"later")])
    consumer.resume([TopicPartition(hundred, 0)])

    assert values(consumer, 100)[-1] == b"later"
