"""Five real clients behind one face: each can write messages to a partition and read them back."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import confluent_kafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as AioTopicPartition
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as PyTopicPartition
from tests.integration import kafkajs_client
from tests.integration.record_batches import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

READ_WITHIN_S = 60

Read = list[tuple[int, Message]]


class Client(Protocol):
    """What each client does here. A write returns when every message is acknowledged."""

    def write(
        self,
        servers: str,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        partition: int = 0,
        acks: str = "all",
    ) -> None: ...

    def read(
        self, servers: str, topic: str, count: int, *, partition: int = 0, offset: int = 0
    ) -> Read: ...


class Confluent:
    """confluent-kafka: librdkafka inside this process."""

    def write(
        self,
        servers: str,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        partition: int = 0,
        acks: str = "all",
    ) -> None:
        producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": servers,
                "compression.type": codec,
                "acks": acks,
                "linger.ms": 20,
                "message.max.bytes": 64 << 20,
            }
        )
        failed: list[object] = []

        def delivered(error: object, _: object) -> None:
            if error is not None:
                failed.append(error)

        for message in messages:
            producer.produce(
                topic,
                value=message.value,
                key=message.key,
                partition=partition,
                timestamp=message.timestamp,
                headers=list(message.headers),
                on_delivery=delivered,
            )
        assert producer.flush(READ_WITHIN_S) == 0
        assert failed == []

    def read(
        self, servers: str, topic: str, count: int, *, partition: int = 0, offset: int = 0
    ) -> Read:
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "not-joined",
                "enable.auto.commit": False,
                "check.crcs": True,
            }
        )
        try:
            consumer.assign([confluent_kafka.TopicPartition(topic, partition, offset)])
            found: Read = []
            while len(found) < count:
                batch = consumer.consume(count - len(found), READ_WITHIN_S)
                assert batch, f"only {len(found)} of {count} messages came"
                for message in batch:
                    assert message.error() is None, message.error()
                    found.append((message.offset(), _from_confluent(message)))
            return found
        finally:
            consumer.close()


class KafkaPython:
    """kafka-python: pure Python, with a thread of its own."""

    def write(
        self,
        servers: str,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        partition: int = 0,
        acks: str = "all",
    ) -> None:
        producer = KafkaProducer(
            bootstrap_servers=servers,
            enable_idempotence=False,
            compression_type=None if codec == "none" else codec,
            acks=acks if acks == "all" else int(acks),
            linger_ms=20,
            max_request_size=64 << 20,
        )
        try:
            sent = [
                producer.send(
                    topic,
                    value=message.value,
                    key=message.key,
                    partition=partition,
                    timestamp_ms=message.timestamp,
                    headers=list(message.headers),
                )
                for message in messages
            ]
            for future in sent:
                future.get(timeout=READ_WITHIN_S)
        finally:
            producer.close()

    def read(
        self, servers: str, topic: str, count: int, *, partition: int = 0, offset: int = 0
    ) -> Read:
        consumer = KafkaConsumer(
            bootstrap_servers=servers,
            group_id=None,
            enable_auto_commit=False,
            consumer_timeout_ms=READ_WITHIN_S * 1000,
        )
        try:
            assigned = PyTopicPartition(topic, partition)
            consumer.assign([assigned])
            consumer.seek(assigned, offset)
            return [_from_python(record) for record in itertools.islice(consumer, count)]
        finally:
            consumer.close()


class Aiokafka:
    """aiokafka: asyncio, with a record parser in C."""

    def write(
        self,
        servers: str,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        partition: int = 0,
        acks: str = "all",
    ) -> None:
        async def write() -> None:
            producer = AIOKafkaProducer(
                bootstrap_servers=servers,
                compression_type=None if codec == "none" else codec,
                acks=acks if acks == "all" else int(acks),
                linger_ms=20,
                max_request_size=64 << 20,
            )
            await producer.start()
            try:
                sent = [
                    await producer.send(
                        topic,
                        value=message.value,
                        key=message.key,
                        partition=partition,
                        timestamp_ms=message.timestamp,
                        headers=list(message.headers),
                    )
                    for message in messages
                ]
                await asyncio.wait_for(asyncio.gather(*sent), READ_WITHIN_S)
            finally:
                await producer.stop()

        asyncio.run(write())

    def read(
        self, servers: str, topic: str, count: int, *, partition: int = 0, offset: int = 0
    ) -> Read:
        async def read() -> Read:
            consumer = AIOKafkaConsumer(bootstrap_servers=servers, group_id=None)
            await consumer.start()
            try:
                assigned = AioTopicPartition(topic, partition)
                consumer.assign([assigned])
                consumer.seek(assigned, offset)
                found: Read = []
                while len(found) < count:
                    record = await asyncio.wait_for(consumer.getone(), READ_WITHIN_S)
                    found.append(_from_python(record))
                return found
            finally:
                await consumer.stop()

        return asyncio.run(read())


class Kcat:
    """kcat: librdkafka in C, as Debian ships it. It cannot set timestamps."""

    def write(
        self,
        servers: str,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        partition: int = 0,
        acks: str = "all",
    ) -> None:
        command = ["kcat", "-q", "-P", "-b", servers, "-t", topic, "-p", str(partition)]
        command += ["-X", f"acks={acks}", "-X", "linger.ms=20", "-X", "message.max.bytes=67108864"]
        command += ["-z", codec] if codec != "none" else []
        # One run of kcat gives all its messages the same headers and treats nulls the same.
        for (headers, null_key, null_value), group in itertools.groupby(messages, _kcat_kind):
            options = ["-Z"] if null_value else []
            for name, value in headers:
                options += ["-H", name if value is None else f"{name}={value.decode()}"]
            lines = list(group)
            with tempfile.TemporaryDirectory() as directory:
                source = Path(directory) / "messages"
                if null_key:
                    source.write_bytes(b"".join((m.value or b"") + b"\x1e" for m in lines))
                else:
                    options += ["-K", "\x1f"]
                    source.write_bytes(
                        b"".join(
                            (m.key or b"") + b"\x1f" + (m.value or b"") + b"\x1e" for m in lines
                        )
                    )
                with source.open("rb") as stream:
                    done = subprocess.run(
                        [*command, "-D", "\x1e", *options],
                        stdin=stream,
                        capture_output=True,
                        timeout=READ_WITHIN_S,
                        check=False,
                    )
                assert done.returncode == 0, done.stderr

    def read(
        self, servers: str, topic: str, count: int, *, partition: int = 0, offset: int = 0
    ) -> Read:
        command = ["kcat", "-q", "-C", "-b", servers, "-t", topic, "-p", str(partition)]
        command += ["-o", str(offset), "-c", str(count), "-X", "check.crcs=true"]
        command += ["-f", "%o %T %K %S %h\\n%k%s\\n"]
        done = subprocess.run(command, capture_output=True, timeout=READ_WITHIN_S, check=False)
        assert done.returncode == 0, done.stderr
        return list(_from_kcat(done.stdout))


class Kafkajs:
    """kafkajs: pure JavaScript on node."""

    def write(
        self,
        servers: str,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        partition: int = 0,
        acks: str = "all",
    ) -> None:
        kafkajs_client.run(
            "produce",
            servers,
            topic=topic,
            partition=partition,
            codec=codec,
            acks=-1 if acks == "all" else int(acks),
            messages=[
                {
                    "key": kafkajs_client.encoded(message.key),
                    "value": kafkajs_client.encoded(message.value),
                    "timestamp": message.timestamp,
                    "headers": [(n, kafkajs_client.encoded(v)) for n, v in message.headers],
                }
                for message in messages
            ],
        )

    def read(
        self, servers: str, topic: str, count: int, *, partition: int = 0, offset: int = 0
    ) -> Read:
        found = kafkajs_client.run(
            "consume", servers, topic=topic, partition=partition, offset=offset, count=count
        )
        return [
            (
                record["offset"],
                Message(
                    kafkajs_client.decoded(record["value"]),
                    kafkajs_client.decoded(record["key"]),
                    record["timestamp"],
                    tuple((n, kafkajs_client.decoded(v)) for n, v in record["headers"]),
                ),
            )
            for record in found
        ]


CLIENTS: dict[str, Client] = {
    "confluent-kafka": Confluent(),
    "kafka-python": KafkaPython(),
    "aiokafka": Aiokafka(),
    "kcat": Kcat(),
    "kafkajs": Kafkajs(),
}
PROGRAMS = {"kcat": ["kcat"], "kafkajs": ["node", "npm"]}


def _from_confluent(message: Any) -> Message:
    return Message(
        message.value(), message.key(), message.timestamp()[1], tuple(message.headers() or ())
    )


def _from_python(record: Any) -> tuple[int, Message]:
    return record.offset, Message(record.value, record.key, record.timestamp, tuple(record.headers))


def _kcat_kind(message: Message) -> tuple[tuple[tuple[str, bytes | None], ...], bool, bool]:
    return tuple(message.headers), message.key is None, message.value is None


def _from_kcat(output: bytes) -> Iterable[tuple[int, Message]]:
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        offset, timestamp, key_size, value_size, headers = output[position:end].split(b" ", 4)
        position = end + 1
        parts: list[bytes | None] = []
        for size in (int(key_size), int(value_size)):
            parts.append(None if size < 0 else output[position : position + size])
            position += max(size, 0)
        position += 1
        pairs = tuple(
            (name.decode(), value)
            for name, _, value in (pair.partition(b"=") for pair in headers.split(b",") if pair)
        )
        key, value = parts
        yield int(offset), Message(value, key, int(timestamp), pairs)
