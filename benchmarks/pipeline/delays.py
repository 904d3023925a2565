"""How long a record takes from topic to topic through a running program, at a light load."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.pipeline.workload import create_topics, delete_topics, send
from headwater.spark.jobs.job import Job, JobFailed
from headwater.streams import App, count, functions, tumbling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from benchmarks.pipeline.programs import Guarantee, Kind

RECORDS_PER_S = 200
PARTITIONS = 2
TABLE_KEYS = 10_000

_UPDATE_EVERY = 10
_WARM_UP_S = 10.0
_FIRST_OUTPUT_WITHIN_S = 180.0


class Delays(NamedTuple):
    """Percentiles in milliseconds."""

    median: float
    p99: float


def measure(
    spark: SparkSession,
    kind: Kind,
    guarantee: Guarantee,
    bootstrap_servers: str,
    seconds: float,
    say: Callable[[str], None],
) -> Delays:
    """Run a program, feed it, and measure after a warm-up for so many seconds.

    Each record has a key of its own and carries the time at which it was sent, through the count
    as well, so that every one of them is measured. Raises JobFailed, also if nothing comes out.
    """
    source, table, output = topics = (f"{kind}-in", f"{kind}-table", f"{kind}-out")
    create_topics(bootstrap_servers, *topics, partitions=PARTITIONS)
    if kind == "join":
        now_ms = time.time_ns() // 1_000_000
        send(
            bootstrap_servers,
            table,
            ((_key(n), b'{"highest":1}', now_ms) for n in range(TABLE_KEYS)),
        )
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as checkpoints:
        app = App(
            f"bench-delays-{kind}-{guarantee}",
            bootstrap_servers=bootstrap_servers,
            guarantee=guarantee,
            checkpoint_dir=checkpoints,
            # By itself, a join with a table runs in micro-batches.
            spark={"spark.headwater.realTime": "true"},
        )
        _build(app, kind, source, table, output)
        job = Job(app.plan(), notice=say)
        job.start(spark)
        try:
            updated = table if kind == "join" else None
            with _fed(bootstrap_servers, source, updated):
                taken = sorted(_taken(job, bootstrap_servers, output, seconds))
            if not taken:
                raise JobFailed(f"{output}: no record within {seconds:.0f} s")
        finally:
            job.stop()
            delete_topics(bootstrap_servers, *topics)
    return Delays(*(taken[int(len(taken) * share)] for share in (0.5, 0.99)))


def _build(app: App, kind: Kind, source: str, table: str, output: str) -> None:
    records = app.stream(source, value_type="id string, value bigint, sent bigint")
    if kind == "filter":
        records.filter("value > 0").to(output)
    elif kind == "count":
        by_minute = records.group_by_key().windowed_by(tumbling("1 minute"))
        counts = by_minute.aggregate(n=count(), sent=functions.max("sent"))
        counts.to_stream().to(output)
    else:
        records.join(app.table(table, value_type="highest bigint")).to(output)


@contextmanager
def _fed(bootstrap_servers: str, source: str, table: str | None) -> Iterator[None]:
    """Send records all the while, and sometimes an update of the table."""
    stop = threading.Event()

    def feed() -> None:
        producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 0})
        started, number = time.perf_counter(), 0
        while not stop.wait(max(started + number / RECORDS_PER_S - time.perf_counter(), 0)):
            key = _key(number % TABLE_KEYS)
            value = {"id": key.decode(), "value": number + 1, "sent": time.time_ns() // 1_000}
            producer.produce(source, json.dumps(value), key)
            if table is not None and number % _UPDATE_EVERY == 0:
                producer.produce(table, json.dumps({"highest": number}), key)
            producer.poll(0)
            number += 1
        producer.flush()

    feeder = threading.Thread(target=feed, name="bench-feeder")
    feeder.start()
    try:
        yield
    finally:
        stop.set()
        feeder.join()


def _taken(job: Job, bootstrap_servers: str, output: str, seconds: float) -> Iterator[float]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "delays",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(output, number, 0) for number in range(PARTITIONS)])
    try:
        deadline = time.monotonic() + _FIRST_OUTPUT_WITHIN_S
        while consumer.poll(0.1) is None:
            job.wait(0)  # raises what made it fail
            if time.monotonic() > deadline:
                raise JobFailed(f"{output}: no record after {_FIRST_OUTPUT_WITHIN_S:.0f} s")
        begin = time.monotonic() + _WARM_UP_S
        end = begin + seconds
        while (now := time.monotonic()) < end:
            message = consumer.poll(0.1)
            arrived = time.time_ns() // 1_000
            if message is not None and message.error() is None and now >= begin:
                yield (arrived - json.loads(message.value())["sent"]) / 1_000
        job.wait(0)
    finally:
        consumer.close()


def _key(number: int) -> bytes:
    return b"%06d" % number
