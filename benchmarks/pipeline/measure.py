"""One run of everything: throughput over what is in a topic, then latency of running programs."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING

from pyspark.errors import StreamingQueryException

from benchmarks.pipeline import by_hand, checks, delays, programs, rows
from benchmarks.pipeline.flink import PYFLINK
from benchmarks.pipeline.kafka_streams import KAFKA_STREAMS
from benchmarks.pipeline.peer import PeerFailed, PeerJob, Run
from benchmarks.pipeline.programs import GUARANTEES, KINDS, Topics
from benchmarks.pipeline.python_peers import FAUST, QUIX_STREAMS
from benchmarks.pipeline.rows import BY_HAND, HEADWATER, PEERS
from benchmarks.pipeline.workload import (
    CHECKS,
    LIMITS,
    READINGS,
    WARM_CHECKS,
    WARM_LIMITS,
    WARM_READINGS,
    Workload,
    create_topics,
    delete_topics,
    delete_topics_of,
)
from benchmarks.targets import HEADWATER_OS, running
from headwater.spark.jobs.job import JobFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import SparkSession

    from benchmarks.pipeline.peer import Peer
    from benchmarks.pipeline.programs import Guarantee, Kind
    from benchmarks.pipeline.workload import Expected
    from benchmarks.results import Results

    Say = Callable[[str], None]

SECTION = "pipeline"


def measure(rounds: int, results: Results, say: Say, wanted: Sequence[str] = ("",)) -> None:
    """Measure on one broker and in one warm Spark session, each in turn, several times.

    Of the jobs and of the delays, only those whose rows have a `wanted` text.
    """
    from headwater.spark.session import spark_session, stop_session

    workload = Workload.from_environment()
    for peer in PEERS:
        peer.install(say)
    spark = spark_session("benchmarks")
    try:
        with running(HEADWATER_OS) as broker:
            run = _Run(spark, broker.bootstrap_servers, workload, results, say, wanted)
            say(f"writing {workload.records:,} records")
            workload.fill(broker.bootstrap_servers)
            say("warming up")
            run.warm_up()
            for number in range(rounds):
                say(f"round {number + 1} of {rounds}: throughput")
                run.throughput(hand_first=bool(number % 2))
            delete_topics(broker.bootstrap_servers, READINGS, LIMITS, CHECKS)
            for number in range(rounds):
                say(f"round {number + 1} of {rounds}: latency")
                run.latency()
    finally:
        stop_session()


class _Run:
    """The jobs of one run, each with an output topic of its own.

    A job that fails, or whose results are not right, has no figure and is told of; what was
    measured before and after it stays.
    """

    def __init__(
        self,
        spark: SparkSession,
        bootstrap_servers: str,
        workload: Workload,
        results: Results,
        say: Say,
        wanted: Sequence[str],
    ) -> None:
        self._spark = spark
        self._servers = bootstrap_servers
        self._workload = workload
        self._results = results
        self._say = say
        self._wanted = wanted
        self._jobs = [
            each for each in product(KINDS, GUARANTEES) if self._is_wanted(rows.job(*each))
        ]
        self._outputs = 0

    def warm_up(self) -> None:
        by_hand.read_once(self._spark, self._servers, WARM_READINGS)
        for kind, guarantee in self._jobs:
            with self._told():
                self._ours(kind, guarantee, warm=True)
                if by_hand.has(kind, guarantee):
                    self._by_hand(kind, guarantee, warm=True)

    def throughput(self, *, hand_first: bool) -> None:
        self._clean()
        taken = by_hand.read_once(self._spark, self._servers, READINGS)
        read = self._workload.records / taken
        self._rate(rows.READ, BY_HAND, read)
        for kind, guarantee in self._jobs:
            rates = self._rates(kind, guarantee, hand_first=hand_first)
            if HEADWATER in rates:
                self._compare(kind, guarantee, rates, read)

    def latency(self) -> None:
        for (guarantee, kind), row in rows.DELAYS.items():
            if not self._is_wanted(row):
                continue
            self._say(f"  {row}")
            self._clean()
            with self._told():
                found = delays.measure(
                    self._spark,
                    kind,
                    guarantee,
                    self._servers,
                    self._workload.latency_s,
                    self._say,
                )
                self._add(f"{row}, median", "ms", found.median)
                self._add(f"{row}, 99 %", "ms", found.p99)

    def _is_wanted(self, row: str) -> bool:
        return any(text in row for text in self._wanted)

    def _rates(self, kind: Kind, guarantee: Guarantee, *, hand_first: bool) -> dict[str, float]:
        """Measure a job with each of those who have it, and tell each figure as it comes."""
        runs: dict[str, Callable[[], float]] = {HEADWATER: lambda: self._ours(kind, guarantee)}
        if by_hand.has(kind, guarantee):
            hand = {BY_HAND: lambda: self._by_hand(kind, guarantee)}
            runs = hand | runs if hand_first else runs | hand
        for peer in PEERS:
            if peer.has(kind, guarantee):
                runs[peer.name] = lambda peer=peer: self._peer(peer, kind, guarantee)  # type: ignore[misc]
        rates = {}
        for column, run in runs.items():
            with self._told():
                rates[column] = run()
                self._rate(rows.job(kind, guarantee), column, rates[column])
        return rates

    def _compare(
        self, kind: Kind, guarantee: Guarantee, rates: dict[str, float], read: float
    ) -> None:
        ours = rates[HEADWATER]
        by_jvm = [rates[peer.name] for peer in (KAFKA_STREAMS, PYFLINK) if peer.name in rates]
        if by_jvm:
            self._add(rows.times_jvm(kind, guarantee), "x", ours / max(by_jvm))
        if guarantee == "exactly_once":
            return
        if BY_HAND in rates:
            self._add(rows.share_of_hand(kind), "%", 100 * ours / rates[BY_HAND])
        self._add(rows.share_of_read(kind), "%", 100 * ours / read)
        by_python = [rates[peer.name] for peer in (QUIX_STREAMS, FAUST) if peer.name in rates]
        if by_python:
            self._add(rows.times_python(kind), "x", ours / max(by_python))

    def _ours(self, kind: Kind, guarantee: Guarantee, *, warm: bool = False) -> float:
        with self._output() as output:
            self._clean()
            taken = programs.run_once(
                *(self._spark, kind, self._servers, self._topics(output, warm=warm), guarantee),
                say=self._say,
            )
            self._check(kind, output, warm=warm)
        return self._records(kind) / taken

    def _by_hand(self, kind: Kind, guarantee: Guarantee, *, warm: bool = False) -> float:
        assert by_hand.has(kind, guarantee)
        with self._output() as output:
            self._clean()
            topics = self._topics(output, warm=warm)
            taken = by_hand.run_once(self._spark, kind, self._servers, topics)
            self._check(kind, output, warm=warm)
        return self._records(kind) / taken

    def _records(self, kind: Kind) -> int:
        """Return how many records a job reads, but for those of its table."""
        return self._workload.records * (2 if kind == "pair" else 1)

    def _peer(self, peer: Peer, kind: Kind, guarantee: Guarantee) -> float:
        with self._output() as warm_up, self._output() as output:
            measured = _read_by(kind, self._workload.expected)
            records = self._records(kind)
            if not peer.has_warm_up:
                measured = records = self._workload.peer_records
            taken = peer.run(
                PeerJob(
                    kind,
                    guarantee,
                    self._servers,
                    Run(
                        self._topics(warm_up, warm=True),
                        _read_by(kind, self._workload.warm_up.expected),
                    ),
                    Run(self._topics(output, warm=False), measured),
                )
            )
            if peer.has_warm_up:
                self._check(kind, output, warm=False)
        return records / taken

    def _check(self, kind: Kind, output: str, *, warm: bool) -> None:
        workload = self._workload.warm_up if warm else self._workload
        checks.check(kind, self._servers, output, workload.expected)

    def _topics(self, output: str, *, warm: bool) -> Topics:
        workload = self._workload.warm_up if warm else self._workload
        names = (WARM_READINGS, WARM_LIMITS, WARM_CHECKS) if warm else (READINGS, LIMITS, CHECKS)
        return Topics(*names, output, workload.pair_within_ms)

    @contextmanager
    def _output(self) -> Iterator[str]:
        self._outputs += 1
        output = f"output-{self._outputs}-"
        create_topics(self._servers, output)
        try:
            yield output
        finally:
            # Some have topics of their own beside it, which begin with its name.
            delete_topics_of(self._servers, output)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (JobFailed, PeerFailed, StreamingQueryException, checks.WrongResult) as failure:
            self._say(f"  no figure: {failure}")

    def _clean(self) -> None:
        """Let Spark forget what is left of earlier jobs: gigabytes of shuffled rows on disk."""
        self._spark._jvm.System.gc()  # type: ignore[union-attr]  # noqa: SLF001

    def _rate(self, row: str, column: str, rate: float) -> None:
        self._say(f"    {row}, {column}: {rate:,.0f} records/s")
        self._results.add(row, "records/s", column, rate)

    def _add(self, row: str, unit: str, value: float) -> None:
        self._say(f"    {row}: {value:.3g} {unit}")
        self._results.add(row, unit, HEADWATER, value)


def _read_by(kind: Kind, expected: Expected) -> int:
    """Return how many records a job reads in all."""
    other = {"join": expected.updates, "tables": expected.updates, "pair": expected.records}
    return expected.records + other.get(kind, 0)
