"""A broker with many partitions: how long it takes to start and stop, and what it holds on to."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.targets import HEADWATER, Running, running_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from confluent_kafka import KafkaError, Message

    from benchmarks.results import Results

PARTITIONS = 20_000
_IN_A_TOPIC = 500
_TOPICS = [f"many-{number}" for number in range(PARTITIONS // _IN_A_TOPIC)]
_READY_WITHIN_S = 300.0

GOALS = {
    "clean start": "3,000 ms",
    "clean start, a record in each": "3,000 ms",
    "start after a kill": "20,000 ms",
    "stop, a record in each": "5,000 ms",
    "resident memory, after the first records": "150 MB",
    "open files, after the first records": "10,000",
    "first record to each partition, a producer for each topic": "2,000/s",
}


def measure(rounds: int, results: Results, say: Callable[[str], None]) -> None:
    """Go through the life of a broker with many partitions."""
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}: {PARTITIONS:,} partitions")
        directory = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
        try:
            _measure_once(directory, results)
        finally:
            shutil.rmtree(directory)


def _measure_once(directory: Path, results: Results) -> None:
    with running_in(directory, HEADWATER) as broker:
        started = time.perf_counter()
        _create(broker)
        rate = PARTITIONS / (time.perf_counter() - started)
        results.add("partitions made", "partitions/s", HEADWATER, rate)
        _stop(broker, "stop, all empty", results)
    with running_in(directory, HEADWATER, _READY_WITHIN_S) as broker:
        results.add("clean start", "ms", HEADWATER, broker.ready_s * 1000)
        rate = _write_to_each(broker, [[topic] for topic in _TOPICS])
        row = "first record to each partition, a producer for each topic"
        results.add(row, "partitions/s", HEADWATER, rate)
        memory, files = broker.resident_mb(), float(broker.process.num_fds())
        results.add("resident memory, after the first records", "MB", HEADWATER, memory)
        results.add("open files, after the first records", "files", HEADWATER, files)
        _stop(broker, "stop, a record in each", results)
    with running_in(directory, HEADWATER, _READY_WITHIN_S) as broker:
        results.add("clean start, a record in each", "ms", HEADWATER, broker.ready_s * 1000)
        broker.process.kill()
        broker.process.wait()
    with running_in(directory, HEADWATER, _READY_WITHIN_S) as broker:
        results.add("start after a kill", "ms", HEADWATER, broker.ready_s * 1000)
        cpu_s = broker.cpu_s()
        rate = _write_to_each(broker, [_TOPICS])
        row = "another record to each partition, one producer for all"
        results.add(row, "partitions/s", HEADWATER, rate)
        used_ms = 1000 * (broker.cpu_s() - cpu_s) / PARTITIONS
        results.add("CPU of the broker for each of these", "ms", HEADWATER, used_ms)


def _create(broker: Running) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for first in range(0, len(_TOPICS), 4):
        topics = [NewTopic(name, _IN_A_TOPIC, 1) for name in _TOPICS[first : first + 4]]
        for created in admin.create_topics(topics, request_timeout=120).values():
            created.result()


def _write_to_each(broker: Running, shares: Sequence[Sequence[str]]) -> float:
    """Write a record to each partition, each share of the topics with a producer of its own.

    librdkafka looks through all partitions that a producer has written to whenever it looks for
    something to send: with too many of them it is the client that is measured.
    """
    failed: list[KafkaError] = []

    def note(error: KafkaError | None, _: Message) -> None:
        if error is not None:
            failed.append(error)

    settings = {"bootstrap.servers": broker.bootstrap_servers, "acks": "all", "linger.ms": 5}
    started = time.perf_counter()
    for topics in shares:
        producer = Producer(settings)
        for topic in topics:
            for partition in range(_IN_A_TOPIC):
                producer.produce(topic, b"the first", partition=partition, on_delivery=note)
            producer.poll(0)
        producer.flush()
    if failed:
        raise RuntimeError(f"{len(failed)} records were not taken: {failed[0]}")
    return PARTITIONS / (time.perf_counter() - started)


def _stop(broker: Running, row: str, results: Results) -> None:
    started = time.perf_counter()
    broker.process.terminate()
    broker.process.wait(300)
    results.add(row, "ms", HEADWATER, (time.perf_counter() - started) * 1000)
