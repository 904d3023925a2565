"""What transactions cost: the same records by the same program, with and without them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from confluent_kafka import Producer

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDS = 1_000_000
COMMIT_EVERY_S = 0.1

_RECORD = b"x" * 100
_POLL_EVERY = 1000


def idempotent(bootstrap_servers: str, topic: str) -> float:
    """Send with an idempotent producer and return records per second."""
    producer = _producer(bootstrap_servers, {"enable.idempotence": True})
    return _send(producer, topic, lambda: None)


def transactional(bootstrap_servers: str, topic: str) -> float:
    """Do the same in transactions of a tenth of a second each."""
    producer = _producer(bootstrap_servers, {"transactional.id": topic})
    producer.init_transactions()
    producer.begin_transaction()
    committed = time.perf_counter()

    def commit_if_due() -> None:
        nonlocal committed
        if time.perf_counter() - committed >= COMMIT_EVERY_S:
            producer.commit_transaction()
            producer.begin_transaction()
            committed = time.perf_counter()

    return _send(producer, topic, commit_if_due, producer.commit_transaction)


def _producer(bootstrap_servers: str, settings: dict[str, object]) -> Producer:
    return Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "linger.ms": 5,
            "batch.size": 1_000_000,
            "batch.num.messages": 100_000,
            "queue.buffering.max.messages": 2 * RECORDS,
            **settings,
        }
    )


def _send(
    producer: Producer,
    topic: str,
    between: Callable[[], None],
    finish: Callable[[], None] = lambda: None,
) -> float:
    producer.list_topics(topic)
    started = time.perf_counter()
    produce = producer.produce
    for number in range(RECORDS):
        produce(topic, _RECORD)
        if not number % _POLL_EVERY:
            producer.poll(0)
            between()
    producer.flush()
    finish()
    return RECORDS / (time.perf_counter() - started)
