"""One worker of the transactional pipeline, a process that may be killed at any moment.

It reads its partition of the input, writes what it makes of it to the output, and commits both
the output and how far it has come in one transaction. All that it knows is in the broker.

    python -m tests.chaos.transactional_worker HOST:PORT PARTITION SEED
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from confluent_kafka import Message

INPUT, OUTPUT, GROUP = "chaos-input", "chaos-output", "chaos-group"
PARTITIONS = 3
FENCED = 3
"""The exit code of a worker that another one has taken the place of."""
STUCK = 4
"""The exit code of a worker whose client never came back from a call."""

_WITHIN_S = 20.0
_STUCK_AFTER_S = 6.0
_ABORTED_BY_CHOICE = 0.1
_PASSING = frozenset(
    {
        *("_TIMED_OUT", "_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT_QUEUE"),
        # In a cluster another broker takes over, which a look at committed offsets does not await.
        *("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"),
    }
)


class Output(NamedTuple):
    """A record of the output: which input it came from, and which part of which transaction."""

    transaction: str
    part: int
    parts: int
    partition: int
    offset: int

    def value(self) -> bytes:
        return "/".join(str(field) for field in self).encode()

    @classmethod
    def parse(cls, value: bytes) -> Output:
        transaction, *numbers = value.decode().split("/")
        return cls(transaction, *map(int, numbers))


class Worker:
    """Reads, writes and commits, again and again."""

    def __init__(self, servers: str, partition: int, seed: str) -> None:
        self._chance = random.Random(seed)
        self._partition = partition
        quick = {
            "bootstrap.servers": servers,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 100,
            "retry.backoff.ms": 20,
            "log_level": 0,
        }
        self._producer = Producer(
            {
                **quick,
                "transactional.id": f"{GROUP}-{partition}",
                "linger.ms": self._chance.choice([0, 2]),
                "batch.num.messages": self._chance.choice([1, 5, 1000]),
            }
        )
        self._consumer = Consumer(
            {
                **quick,
                "group.id": GROUP,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 50,
            }
        )

        self._busy_since: float | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def run(self) -> None:
        """Work until killed or fenced."""
        _again(lambda: self._producer.init_transactions(_WITHIN_S))
        # Only now nobody else can move the offset any more.
        self._start_from_committed()
        while True:
            messages = self._consumer.consume(self._chance.randint(1, 40), 0.1)
            if any(message.error() for message in messages):
                self._start_from_committed()
            elif messages:
                self._busy_since = time.monotonic()
                self._process(messages)
                self._busy_since = None

    def _watch(self) -> None:
        # librdkafka's send_offsets_to_transaction may wait for ever for a coordinator that was
        # restarted, whatever its timeout (its issue 5456). A new process gets over it.
        while True:
            time.sleep(0.5)
            since = self._busy_since
            if since is not None and time.monotonic() - since > _STUCK_AFTER_S:
                os._exit(STUCK)

    def _start_from_committed(self) -> None:
        place = TopicPartition(INPUT, self._partition)
        (found,) = _again(lambda: self._consumer.committed([place], _WITHIN_S))
        self._consumer.assign([TopicPartition(INPUT, self._partition, max(found.offset, 0))])

    def _process(self, messages: Sequence[Message]) -> None:
        try:
            self._producer.begin_transaction()
            self._write(messages)
            if self._chance.random() < _ABORTED_BY_CHOICE:
                self._producer.flush(self._chance.choice([0, _WITHIN_S]))
                self._abort()
                return
            done = TopicPartition(INPUT, self._partition, messages[-1].offset() + 1)
            group = self._consumer.consumer_group_metadata()
            _again(lambda: self._producer.send_offsets_to_transaction([done], group, _WITHIN_S))
            _again(lambda: self._producer.commit_transaction(_WITHIN_S))
        except KafkaException as failure:
            if not failure.args[0].txn_requires_abort():
                raise
            self._abort()

    def _write(self, messages: Sequence[Message]) -> None:
        transaction = uuid.uuid4().hex
        for part, message in enumerate(messages):
            output = Output(transaction, part, len(messages), self._partition, message.offset())
            self._producer.produce(
                OUTPUT,
                output.value(),
                key=message.key(),
                partition=message.key()[0] % PARTITIONS,
            )

    def _abort(self) -> None:
        _again(lambda: self._producer.abort_transaction(_WITHIN_S))
        self._start_from_committed()


def _again(attempt: Any) -> Any:
    """Try until it works or cannot work any more: a broker that is being restarted is no news."""
    while True:
        try:
            return attempt()
        except KafkaException as failure:
            error = failure.args[0]
            is_passing = error.retriable() or error.name() in _PASSING
            if error.txn_requires_abort() or not is_passing:
                raise


def main() -> int:
    servers, partition, seed = sys.argv[1:]
    try:
        Worker(servers, int(partition), seed).run()
    except KafkaException as failure:
        error = failure.args[0]
        if error.fatal() or error.name() in ("_FENCED", "PRODUCER_FENCED"):
            return FENCED
        raise
    return 0


if __name__ == "__main__":
    code = main()
    # librdkafka may crash when it tidies up after a fatal error, which is none of our business.
    os._exit(code)
