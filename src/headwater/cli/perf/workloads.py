"""What the perf commands do: produce in bulk, consume in bulk, and time single round trips."""

from __future__ import annotations

import random
import string
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.cli.errors import CommandError
from headwater.cli.perf.workers import Outcome
from headwater.clients.connection import POLL_S, Connection
from headwater.clients.errors import describe
from headwater.clients.undelivered import why_undelivered

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka import KafkaError, Message, Producer

    from headwater.clients import ClusterAccess

_SAMPLE_EVERY = 100
_WARM_UP = 100
_CHUNK_RECORDS = 1000
_CHUNK_BYTES = 1_000_000
_REPORT_EVERY_S = 0.5
_STALLED_S = 30.0


@dataclass(frozen=True)
class ProduceJob:
    """So many records of one size, as fast as possible or at a given rate."""

    access: ClusterAccess
    topic: str
    records: int
    record_size: int
    throughput: float | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ConsumeJob:
    """Partitions with the offsets to start from; ends at their ends or after so many records."""

    access: ClusterAccess
    topic: str
    starts: dict[int, int]
    records: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def produce_in_bulk(
    job: ProduceJob, ready: Callable[[], object], report: Callable[[int], object]
) -> Outcome:
    """Send one chunk of records over and over; only so can Python keep a fast client busy."""
    connection = Connection(job.access)
    producer = connection.producer({"linger.ms": 5, **job.settings})
    samples = _Samples(connection, job.topic)
    chunk = _chunk(job, samples.take)
    ready()
    started = next_report = time.monotonic()
    sent = 0
    while sent < job.records:
        if job.throughput is not None:
            _wait_until(producer, started + sent / job.throughput)
        part = chunk if job.records - sent >= len(chunk) else chunk[: job.records - sent]
        accepted = producer.produce_batch(job.topic, part)
        if accepted < len(part):
            _raise_unless_full(part)
            producer.poll(0.005)
        sent += accepted
        producer.poll(0)
        samples.raise_failure()
        if time.monotonic() >= next_report:
            report(sent)
            next_report += _REPORT_EVERY_S
    while producer.flush(POLL_S):
        samples.raise_failure()
    samples.raise_failure()
    report(sent)
    return Outcome(sent, sent * job.record_size, started, time.monotonic(), samples.latencies_ms)


def consume_in_bulk(
    job: ConsumeJob, ready: Callable[[], object], report: Callable[[int], object]
) -> Outcome:
    """Read partitions to their ends; the values are counted and dropped."""
    from confluent_kafka import TopicPartition

    settings = {
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "fetch.queue.backoff.ms": 1,
        "queued.min.messages": 500_000,
        **job.settings,
    }
    consumer = Connection(job.access).consumer(settings)
    ready()
    consumer.assign([TopicPartition(job.topic, *item) for item in job.starts.items()])
    started = last = next_report = time.monotonic()
    ended: set[int] = set()
    records = size = 0
    try:
        while len(ended) < len(job.starts) and (job.records is None or records < job.records):
            messages = consumer.consume(500, POLL_S)
            events = [message for message in messages if message.error() is not None]
            for event in events:
                if event.error().name() != "_PARTITION_EOF":
                    raise CommandError(f"{job.topic}: {describe(event.error())}")
                ended.add(event.partition())
            if events:
                messages = [message for message in messages if message.error() is None]
            records += len(messages)
            size += sum(map(len, messages))
            now = time.monotonic()
            if messages:
                last = now
            elif now - last > _STALLED_S:
                raise CommandError(f"{job.topic}: no record came for {_STALLED_S:g} s")
            if now >= next_report:
                report(records)
                next_report += _REPORT_EVERY_S
        report(records)
        return Outcome(records, size, started, last, [])
    finally:
        consumer.close()


def time_round_trips(
    job: ProduceJob, starts: dict[int, int], report: Callable[[int], object]
) -> Outcome:
    """Send one record, wait until a consumer has it, and so on; the first ones are not counted."""
    from confluent_kafka import TopicPartition

    connection = Connection(job.access)
    producer = connection.producer({"linger.ms": 0, "socket.nagle.disable": True, **job.settings})
    consumer = connection.consumer({"fetch.min.bytes": 1, "auto.offset.reset": "latest"})
    consumer.assign([TopicPartition(job.topic, *item) for item in starts.items()])
    samples = _Samples(connection, job.topic)
    payloads = _payloads(job.record_size, 1000)
    started = time.monotonic()
    try:
        for number in range(_WARM_UP + job.records):
            if number == _WARM_UP:
                samples.latencies_ms.clear()
                started = time.monotonic()
            if job.throughput is not None and number > _WARM_UP:
                _wait_until(producer, started + (number - _WARM_UP) / job.throughput)
            before = time.perf_counter()
            producer.produce(job.topic, payloads[number % len(payloads)], on_delivery=samples.check)
            received = _next_record(consumer, producer, samples)
            samples.latencies_ms.append((time.perf_counter() - before) * 1000)
            if received.value() != payloads[number % len(payloads)]:
                raise CommandError(f"{job.topic}: somebody else produces to this topic as well")
            if not number % 100:
                report(max(0, number - _WARM_UP))
        report(job.records)
        size = job.records * job.record_size
        latencies = sorted(samples.latencies_ms)
        return Outcome(job.records, size, started, time.monotonic(), latencies)
    finally:
        consumer.close()


class _Samples:
    """Latencies of some of the records, and the first failure among them."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self._connection = connection
        self._topic = topic
        self.latencies_ms: list[float] = []
        self._failure: KafkaError | None = None

    def take(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failure = self._failure or error
        elif (latency := message.latency()) is not None:
            self.latencies_ms.append(latency * 1000)

    def check(self, error: KafkaError | None, _message: Message) -> None:
        self._failure = self._failure or error

    def raise_failure(self) -> None:
        if self._failure is not None:
            reason = why_undelivered(self._connection, self._topic, self._failure)
            raise CommandError(f"records were not delivered: {reason}")


def _chunk(job: ProduceJob, sample: Callable[..., None]) -> list[dict[str, Any]]:
    count = max(1, min(_CHUNK_RECORDS, _CHUNK_BYTES // max(1, job.record_size)))
    if job.throughput is not None:
        # Some fifty chunks a second keep a given rate smooth.
        count = max(1, min(count, int(job.throughput / 50)))
    chunk: list[dict[str, Any]] = [{"value": value} for value in _payloads(job.record_size, count)]
    for position in range(0, count, _SAMPLE_EVERY):
        chunk[position]["callback"] = sample
    return chunk


def _payloads(size: int, count: int) -> list[bytes]:
    # Letters, as Kafka's tool sends them: compressible, yet not to nothing.
    letters = "".join(random.choices(string.ascii_uppercase, k=size + count)).encode()
    return [letters[start : start + size] for start in range(count)]


def _wait_until(producer: Producer, due: float) -> None:
    while (left := due - time.monotonic()) > 0:
        producer.poll(min(left, POLL_S))


def _raise_unless_full(chunk: list[dict[str, Any]]) -> None:
    for message in chunk:
        error = message.pop("_error", None)
        if error is not None and error.name() != "_QUEUE_FULL":
            raise CommandError(f"records were refused: {describe(error)}")


def _next_record(consumer: Any, producer: Producer, samples: _Samples) -> Message:
    deadline = time.monotonic() + _STALLED_S
    while time.monotonic() < deadline:
        message = consumer.poll(POLL_S)
        producer.poll(0)
        samples.raise_failure()
        if message is None:
            continue
        if message.error() is not None:
            raise CommandError(describe(message.error()))
        return message
    raise CommandError(f"a record that was sent did not come back within {_STALLED_S:g} s")
