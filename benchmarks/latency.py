"""End-to-end latency at light load: one record at a time, from produce until it is consumed."""

from __future__ import annotations

import time
from typing import NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

RECORDS = 5_000
RECORD_BYTES = 100
PAUSE_S = 0.002


class Latency(NamedTuple):
    """Percentiles in milliseconds."""

    median: float
    p99: float
    p999: float


def measure(bootstrap_servers: str, topic: str, acks: str) -> Latency:
    """Send records one by one, about 400 a second, and wait for each."""
    producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 0, "acks": acks})
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "latency"})
    payload = b"x" * RECORD_BYTES
    producer.produce(topic, payload)
    producer.flush()
    consumer.assign([TopicPartition(topic, 0, 0)])
    _next(producer, consumer)
    taken = []
    for number in range(RECORDS + RECORDS // 10):
        started = time.perf_counter()
        producer.produce(topic, payload)
        _next(producer, consumer)
        if number >= RECORDS // 10:  # the first tenth warms up, which the JVM needs
            taken.append((time.perf_counter() - started) * 1000)
        time.sleep(PAUSE_S)
    consumer.close()
    producer.flush()
    taken.sort()
    return Latency(*(taken[int(len(taken) * q)] for q in (0.5, 0.99, 0.999)))


def _next(producer: Producer, consumer: Consumer) -> None:
    while True:
        producer.poll(0)
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            return
