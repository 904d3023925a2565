"""Queries that wait for records: what they cost, and how soon the first record is through."""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.pipeline.workload import create_topics
from benchmarks.targets import HEADWATER_OS, Running, running
from headwater.spark.jobs.job import Job, JobFailed
from headwater.streams import App

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from benchmarks.results import Results

    Say = Callable[[str], None]

COLUMN = "Headwater"
QUERIES = 30

# In real-time mode, a count holds a slot for its partition and one for each shuffle partition.
_MASTER = "local[150,4]"
# A real-time query waits for long only after a batch with records and one without.
_SETTLED_AFTER_S = 45.0
_MEASURED_S = 20.0
_RECORD_WITHIN_S = 120.0

Kind = Literal["filter", "count"]


class Case(NamedTuple):
    """So many queries of a kind, all in the same of Spark's modes."""

    kind: Kind
    real_time: bool

    @property
    def name(self) -> str:
        mode = "real-time mode" if self.real_time else "micro-batches"
        return f"{QUERIES} {self.kind}s, {mode}"


CASES = tuple(Case(kind, real_time) for real_time in (False, True) for kind in ("filter", "count"))

GOALS = {f"{case.name}: JVM and broker": "10 %" for case in CASES}

INTRODUCTION = f"""{QUERIES} programs in one session and on one broker, each with a topic of its own
of one partition, after each has processed a record and then nothing for a while. CPU time is of
{_MEASURED_S:.0f} s, in percent of one core. The first record is sent to one program after the
other, from the call that sends it to the call that receives what became of it.

Before queries waited to be told of records, the four cases took 148, 151, 32 and 68 %, with the
first record after 829, 893, 6 and 102 ms, on a busy machine. What is left of the counts in
real-time mode is Spark's shuffle between source and state: both ends look for rows every 10 ms."""


def measure(rounds: int, results: Results, say: Say) -> None:
    """Start the queries of each case anew, several times."""
    from headwater.spark.session import spark_session, stop_session

    spark = spark_session("benchmarks", master=_MASTER)
    try:
        for number in range(rounds):
            for case in CASES:
                say(f"round {number + 1} of {rounds}: {case.name}")
                try:
                    _measure_case(spark, case, results, say)
                except JobFailed as failure:
                    say(f"  no figure: {failure}")
    finally:
        stop_session()


def _measure_case(spark: SparkSession, case: Case, results: Results, say: Say) -> None:
    def add(row: str, unit: str, value: float) -> None:
        say(f"    {case.name}: {row}: {value:.3g} {unit}")
        results.add(f"{case.name}: {row}", unit, COLUMN, value)

    with running(HEADWATER_OS) as broker, _queries(spark, case, broker, say) as waiting:
        for query in waiting:
            query.send_and_receive()
        time.sleep(_SETTLED_AFTER_S)
        jvm, ours, of_broker = _cpu_shares(spark, broker)
        add("JVM", "%", jvm)
        add("broker", "%", of_broker)
        add("JVM and broker", "%", jvm + of_broker)
        add("Python", "%", ours)
        add("first record, median", "ms", median(each.send_and_receive() for each in waiting))


def _cpu_shares(spark: SparkSession, broker: Running) -> tuple[float, ...]:
    pid = int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]  # noqa: SLF001
    processes = (psutil.Process(pid), psutil.Process(), broker.process)
    before = [_cpu_s(process) for process in processes]
    started = time.perf_counter()
    time.sleep(_MEASURED_S)
    lasted = time.perf_counter() - started
    used = zip(processes, before, strict=True)
    return tuple(100 * (_cpu_s(process) - then) / lasted for process, then in used)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def _queries(
    spark: SparkSession, case: Case, broker: Running, say: Say
) -> Iterator[list[_WaitingQuery]]:
    with ExitStack() as stack:
        checkpoints = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hw-bench-")))
        names = [f"idle-{case.kind}-{number}" for number in range(QUERIES)]
        for name in names:
            create_topics(broker.bootstrap_servers, name, f"{name}-out", partitions=1)
            app = App(
                name,
                bootstrap_servers=broker.bootstrap_servers,
                checkpoint_dir=checkpoints / name,
                spark={"spark.headwater.realTime": str(case.real_time).lower()},
            )
            records = app.stream(name, value_type="id string, value bigint")
            if case.kind == "filter":
                records.filter("value > 0").to(f"{name}-out")
            else:
                records.group_by_key().count(emit="record").to_stream().to(f"{name}-out")
            job = Job(app.plan(), notice=say)
            job.start(spark)
            stack.callback(job.stop)
        yield [_WaitingQuery(broker.bootstrap_servers, name) for name in names]


class _WaitingQuery:
    """A query as its neighbours see it: the topic before it and the topic after it."""

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        self._servers = bootstrap_servers
        self._topic = topic
        self._received = 0

    def send_and_receive(self) -> float:
        """Send a record, and return after how many milliseconds its result was there."""
        producer = Producer({"bootstrap.servers": self._servers, "linger.ms": 0})
        producer.list_topics(self._topic)  # connected before the clock runs
        consumer = Consumer({"bootstrap.servers": self._servers, "group.id": "idle"})
        try:
            consumer.assign([TopicPartition(f"{self._topic}-out", 0, self._received)])
            consumer.poll(0.2)
            started = time.perf_counter()
            producer.produce(self._topic, json.dumps({"id": "a", "value": 1}), b"a")
            producer.flush()
            deadline = started + _RECORD_WITHIN_S
            while (message := consumer.poll(0.1)) is None or message.error() is not None:
                if time.perf_counter() > deadline:
                    raise JobFailed(f"{self._topic}: no result in {_RECORD_WITHIN_S:.0f} s")
            offset = message.offset()
            assert offset is not None, "it was received"
            self._received = offset + 1
            return (time.perf_counter() - started) * 1000
        finally:
            consumer.close()
