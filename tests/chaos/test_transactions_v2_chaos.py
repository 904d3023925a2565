"""Transaction version 2 under kills: clients that give up at any step, and a broker that dies.

No client on PyPI or npm speaks this version yet, so these ones speak the raw protocol. Each
counts: it writes the next numbers and commits how far it has come, in one transaction.
"""

from __future__ import annotations

import random
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition
from kio.schema.errors import ErrorCode
from tests.chaos.seeds import seeds
from tests.effort import often
from tests.integration.raw_client import ConnectionClosedError, RawClient
from tests.integration.raw_groups import find_coordinator
from tests.integration.raw_requests import Topic, create_topic
from tests.integration.raw_transactions import TRY_AGAIN, RawProducer, is_final
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

CLIENTS = 3
BROKER_KILLS = often(8, in_soak=25)
LEAST_CRASHES = often(25, in_soak=100)
PARTITIONS = 2

pytestmark = pytest.mark.chaos


class CrashError(Exception):
    """The client ends here, without a word to anyone."""


class Counter(threading.Thread):
    """A client that crashes often and then begins again with what the broker knows of it."""

    def __init__(self, broker: BrokerProcess, topic: Topic, name: str, seed: float) -> None:
        super().__init__(name=name)
        self._broker = broker
        self._topic = topic
        self._chance = random.Random(seed)
        self._stopping = threading.Event()
        self.crashes = 0
        self.has_committed = threading.Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        while not self._stopping.is_set():
            try:
                with RawClient(self._broker) as client:
                    self._live(client)
            except (CrashError, ConnectionClosedError, OSError):
                self.crashes += 1
            except Exception as failure:
                self.failure = failure
                return

    def stop(self) -> None:
        self._stopping.set()
        self.join()
        if self.failure is not None:
            raise self.failure

    def committed(self, client: RawClient) -> int:
        """How far the group has come, once no transaction can change it any more."""
        find_coordinator(client, self.name)

        def ask() -> Any:
            answer = client.call(
                "offset_fetch",
                7,
                group_id=self.name,
                topics=[{"name": self._topic.name, "partition_indexes": [0]}],
                require_stable=True,
            )
            if answer.error_code in TRY_AGAIN:
                return answer
            assert answer.error_code is ErrorCode.none, answer
            partition = answer.topics[0].partitions[0]
            is_known = partition.error_code in (ErrorCode.none, ErrorCode.unstable_offset_commit)
            assert is_known, partition
            return partition

        found = wait_for(ask, until=lambda told: told.error_code is ErrorCode.none)
        return max(int(found.committed_offset), 0)

    def _live(self, client: RawClient) -> None:
        producer = RawProducer(client, self.name)
        assert producer.init().error_code is ErrorCode.none
        number = self.committed(client)
        while not self._stopping.is_set():
            until = number + self._chance.randint(1, 5)
            for value in range(number, until):
                self._maybe_crash()
                partition = self._chance.randrange(PARTITIONS)
                text = f"{self.name}/{value}".encode()
                answer = producer.send(self._topic, text, partition=partition)
                assert answer.error_code is ErrorCode.none, answer
            self._maybe_crash()
            self._commit_offset(producer, until)
            self._maybe_crash()
            if self._chance.random() < 0.1:
                assert producer.end(committed=False).error_code is ErrorCode.none
            elif self._chance.random() < 0.1:
                self._ask_and_hang_up(producer)
            else:
                ended = wait_for(lambda: producer.end(committed=True), until=is_final)
                assert ended.error_code is ErrorCode.none
                number = until
                self.has_committed.set()

    def _commit_offset(self, producer: RawProducer, offset: int) -> None:
        topics = [
            {
                "name": self._topic.name,
                "partitions": [{"partition_index": 0, "committed_offset": offset}],
            }
        ]
        while True:
            answer = producer.call(
                "txn_offset_commit", 5, group_id=self.name, generation_id=-1, topics=topics
            )
            code = answer.topics[0].partitions[0].error_code
            if code not in TRY_AGAIN:
                assert code is ErrorCode.none
                return

    def _ask_and_hang_up(self, producer: RawProducer) -> None:
        """Ask for the commit and never learn what became of it."""
        producer.client.send(
            "end_txn",
            5,
            transactional_id=self.name,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=True,
        )
        raise CrashError

    def _maybe_crash(self) -> None:
        if self._chance.random() < 0.02:
            raise CrashError


@pytest.mark.parametrize("seed", seeds(1))
def test_every_number_is_counted_once(start_broker: StartBroker, seed: int) -> None:
    chance = random.Random(seed)
    broker = start_broker(
        {"offsets.topic.num.partitions": "2", "transaction.state.log.num.partitions": "2"}
    )
    with RawClient(broker) as client:
        topic = create_topic(client, "numbers", PARTITIONS)
    counters = [
        Counter(broker, topic, f"counter-{number}", chance.random()) for number in range(CLIENTS)
    ]
    for counter in counters:
        counter.start()
    kills = 0
    while kills < BROKER_KILLS or sum(each.crashes for each in counters) < LEAST_CRASHES:
        time.sleep(chance.expovariate(3))
        broker.kill()
        broker.start()
        kills += 1
        assert all(each.failure is None for each in counters), counters
    for counter in counters:
        # On a busy machine a client may not have got that far between two kills.
        wait_for(partial(_has_committed, counter))
        counter.stop()

    with RawClient(broker) as client:
        for counter in counters:
            # Takes over, so that what was open is aborted before the books are checked.
            assert RawProducer(client, counter.name).init().error_code is ErrorCode.none
        expected = {counter.name: counter.committed(client) for counter in counters}
    found: dict[str, list[int]] = {counter.name: [] for counter in counters}
    for partition in range(PARTITIONS):
        last = dict.fromkeys(found, -1)
        for value in committed_values(broker, topic, partition):
            name, _, number = value.partition("/")
            assert int(number) > last[name], f"{value} is out of order"
            last[name] = int(number)
            found[name].append(int(number))
    for name, numbers in found.items():
        assert sorted(numbers) == list(range(expected[name])), name
    assert min(expected.values()) > 0


def _has_committed(counter: Counter) -> bool:
    assert counter.is_alive(), counter.failure
    return counter.has_committed.is_set()


def committed_values(broker: BrokerProcess, topic: Topic, partition: int) -> list[str]:
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "not-joined",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    try:
        consumer.assign([TopicPartition(topic.name, partition, 0)])
        values: list[str] = []
        while True:
            message = consumer.poll(30)
            assert message is not None
            if message.error() is not None:
                assert message.error().code() == KafkaError._PARTITION_EOF
                return values
            values.append(message.value().decode())
    finally:
        consumer.close()
