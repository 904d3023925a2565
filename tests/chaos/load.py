"""Writers that load a broker until it is killed, and enter each answer in the books."""

from __future__ import annotations

import random
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import confluent_kafka

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.broker_process import BrokerProcess
    from tests.chaos.keyed_ledger import Change, KeyedLedger
    from tests.chaos.ledger import Ledger

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
MOST_UNANSWERED = 500


class Writer(ABC):
    """A thread with a librdkafka producer of its own: acks=all, no retries.

    Subclasses say what to send. `started` is set by the first acknowledgement, so that a test
    can kill while writes are under way.
    """

    batch_sizes = (1, 10, 500)

    def __init__(self, broker: BrokerProcess, chance: random.Random) -> None:
        self.started = threading.Event()
        self._chance = random.Random(chance.random())
        self._stopping = threading.Event()
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "acks": "all",
                "enable.idempotence": False,
                "message.send.max.retries": 0,
                "linger.ms": self._chance.choice([0, 1, 5]),
                "batch.num.messages": self._chance.choice(self.batch_sizes),
                "compression.type": self._chance.choice(CODECS),
                "log_level": 0,
                "logger": None,
                "error_cb": lambda _: None,
            }
        )
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Called once the broker is dead: what has no answer by now will never get one."""
        self._stopping.set()
        self._thread.join()
        # A request that fails to leave while the purge is under way puts its messages back, and
        # what is left here would turn up in a later life of the broker.
        self._producer.purge()
        while self._producer.flush(0.1):
            self._producer.purge()

    @abstractmethod
    def send_one(self) -> None: ...

    def produce(self, topic: str, on_acknowledged: Callable[[Any], None], **record: Any) -> None:
        def delivered(error: object, message: Any) -> None:
            if error is None:
                on_acknowledged(message)
                self.started.set()

        self._producer.produce(topic, on_delivery=delivered, **record)

    def _run(self) -> None:
        while not self._stopping.is_set():
            for _ in range(self._chance.randrange(1, 50)):
                self.send_one()
            self._producer.poll(0.004)
            while len(self._producer) > MOST_UNANSWERED and not self._stopping.is_set():
                self._producer.poll(0.001)


class AppendingWriter(Writer):
    """Writes numbered records to all partitions of a topic."""

    def __init__(
        self,
        broker: BrokerProcess,
        chance: random.Random,
        *,
        ledger: Ledger,
        number: int,
        topic: str,
        partitions: int,
    ) -> None:
        super().__init__(broker, chance)
        self._ledger, self._number, self._topic = ledger, number, topic
        self._partitions = partitions

    def send_one(self) -> None:
        partition = self._chance.randrange(self._partitions)
        value = self._ledger.send(self._number, partition)
        self.produce(
            self._topic,
            lambda m: self._ledger.acknowledge(m.partition(), m.offset(), value),
            value=value,
            partition=partition,
        )


class KeyedWriter(Writer):
    """Writes and deletes a few keys of a compacted topic again and again."""

    batch_sizes = (1, 10, 60)

    def __init__(
        self,
        broker: BrokerProcess,
        chance: random.Random,
        *,
        ledger: KeyedLedger,
        topic: str,
        keys: int,
    ) -> None:
        super().__init__(broker, chance)
        self._ledger, self._topic, self._keys = ledger, topic, keys

    def send_one(self) -> None:
        key = b"key-%d" % self._chance.randrange(self._keys)
        change = self._ledger.send(key, delete=self._chance.random() < 0.05)
        self.produce(
            self._topic,
            self._acknowledged(change),
            key=change.key,
            value=change.value,
            partition=0,
            headers=[("number", b"%d" % change.number)],
        )

    def _acknowledged(self, change: Change) -> Callable[[Any], None]:
        return lambda message: self._ledger.acknowledge(message.offset(), change)
