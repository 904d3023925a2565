"""Four real clients behind one face: each writes in transactions, with offsets if need be."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
from typing import TYPE_CHECKING, Any, Protocol

import confluent_kafka
from aiokafka import AIOKafkaProducer
from aiokafka import TopicPartition as AioTopicPartition
from aiokafka.errors import ProducerFenced as AioProducerFenced
from kafka import KafkaProducer
from kafka import TopicPartition as PyTopicPartition
from kafka.errors import KafkaError as PyKafkaError
from kafka.structs import OffsetAndMetadata as PyOffset
from tests.integration import kafkajs_client

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

WITHIN_S = 60.0


class FencedError(Exception):
    """Another producer has taken the transactional id over."""


class TransactionalProducer(Protocol):
    """Starts a transaction with `begin`; everything returns when it is acknowledged."""

    def begin(self) -> None: ...

    def send(self, topic: str, value: str, partition: int = 0) -> None: ...

    def send_offset(self, topic: str, offset: int, group: str) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class Confluent:
    """librdkafka, which keeps to the old protocol of transactions."""

    def __init__(self, servers: str, transactional_id: str) -> None:
        self._servers = servers
        self._producer = confluent_kafka.Producer(
            {"bootstrap.servers": servers, "transactional.id": transactional_id}
        )
        self._producer.init_transactions(WITHIN_S)

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, value: str, partition: int = 0) -> None:
        failed: list[Any] = []
        self._producer.produce(
            topic,
            value.encode(),
            partition=partition,
            on_delivery=lambda error, _: failed.append(error) if error else None,
        )
        self._producer.flush(WITHIN_S)
        if failed:
            raise FencedError(failed[0].str())

    def send_offset(self, topic: str, offset: int, group: str) -> None:
        consumer = confluent_kafka.Consumer({"bootstrap.servers": self._servers, "group.id": group})
        try:
            self._producer.send_offsets_to_transaction(
                [confluent_kafka.TopicPartition(topic, 0, offset)],
                consumer.consumer_group_metadata(),
                WITHIN_S,
            )
        finally:
            consumer.close()

    def commit(self) -> None:
        try:
            self._producer.commit_transaction(WITHIN_S)
        except confluent_kafka.KafkaException as error:
            if error.args[0].fatal():
                raise FencedError(str(error)) from error
            raise

    def abort(self) -> None:
        self._producer.abort_transaction(WITHIN_S)

    def close(self) -> None:
        del self._producer


class KafkaPython:
    """kafka-python."""

    def __init__(self, servers: str, transactional_id: str) -> None:
        self._producer = KafkaProducer(bootstrap_servers=servers, transactional_id=transactional_id)
        self._producer.init_transactions()

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send(self, topic: str, value: str, partition: int = 0) -> None:
        try:
            self._producer.send(topic, value.encode(), partition=partition).get(WITHIN_S)
        except PyKafkaError as error:
            raise FencedError(repr(error)) from error

    def send_offset(self, topic: str, offset: int, group: str) -> None:
        self._producer.send_offsets_to_transaction(
            {PyTopicPartition(topic, 0): PyOffset(offset, "", -1)}, group
        )

    def commit(self) -> None:
        try:
            self._producer.commit_transaction()
        except PyKafkaError as error:
            raise FencedError(repr(error)) from error

    def abort(self) -> None:
        self._producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(timeout=1)


class AioKafka:
    """aiokafka, each step on a loop of its own."""

    def __init__(self, servers: str, transactional_id: str) -> None:
        self._runner = asyncio.Runner()

        async def start() -> AIOKafkaProducer:
            producer = AIOKafkaProducer(
                bootstrap_servers=servers, transactional_id=transactional_id
            )
            await producer.start()
            return producer

        self._producer: Any = self._run(start())

    def begin(self) -> None:
        self._run(self._producer.begin_transaction())

    def send(self, topic: str, value: str, partition: int = 0) -> None:
        self._run(self._producer.send_and_wait(topic, value.encode(), partition=partition))

    def send_offset(self, topic: str, offset: int, group: str) -> None:
        place = AioTopicPartition(topic, 0)
        self._run(self._producer.send_offsets_to_transaction({place: offset}, group))

    def commit(self) -> None:
        self._run(self._producer.commit_transaction())

    def abort(self) -> None:
        self._run(self._producer.abort_transaction())

    def close(self) -> None:
        self._run(self._producer.stop())
        self._runner.close()

    def _run(self, step: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self._runner.run(asyncio.wait_for(step, WITHIN_S))
        except AioProducerFenced as error:
            raise FencedError(repr(error)) from error


class KafkaJs:
    """kafkajs in a process of its own, told what to do line by line."""

    def __init__(self, servers: str, transactional_id: str) -> None:
        kafkajs_client.install()
        self._process = subprocess.Popen(
            ["node", str(kafkajs_client.HERE / "transactions.js"), servers, transactional_id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._numbers = itertools.count()
        self._ask("connect")

    def begin(self) -> None:
        self._ask("begin")

    def send(self, topic: str, value: str, partition: int = 0) -> None:
        self._ask("send", topic=topic, value=value, partition=partition)

    def send_offset(self, topic: str, offset: int, group: str) -> None:
        self._ask("offset", topic=topic, offset=offset, group=group)

    def commit(self) -> None:
        self._ask("commit")

    def abort(self) -> None:
        self._ask("abort")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(WITHIN_S)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _ask(self, action: str, **arguments: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"action": action, **arguments}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if answer["error"]:
            raise FencedError(answer["error"])


CLIENTS: dict[str, Callable[[str, str], TransactionalProducer]] = {
    "confluent-kafka": Confluent,
    "aiokafka": AioKafka,
    "kafka-python": KafkaPython,
    "kafkajs": KafkaJs,
}
