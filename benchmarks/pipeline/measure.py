"""One run of everything: throughput over what is in a topic, then latency of running programs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import StreamingQueryException

from benchmarks.pipeline import by_hand, delays, peer_programs, programs
from benchmarks.pipeline.peer_programs import FAUST, PEERS, QUIX_STREAMS, REQUIREMENTS, PeerFailed
from benchmarks.pipeline.programs import KINDS, Topics
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
)
from benchmarks.targets import HEADWATER_OS, running
from headwater.spark.jobs.job import JobFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from benchmarks.pipeline.programs import Guarantee, Kind
    from benchmarks.results import Results

    Say = Callable[[str], None]

HEADWATER = "Headwater"
BY_HAND = "PySpark by hand"
COLUMNS = (HEADWATER, BY_HAND, QUIX_STREAMS.name, FAUST.name)

READ = "read only, Spark's Kafka connector"
JOBS: dict[Kind, str] = {
    "filter": "filter",
    "count": "count per key and minute",
    "join": "stream-table join",
    "pair": "stream-stream join",
}
EXACTLY_ONCE = "filter, exactly once"
EXACTLY_ONCE_SHARE = "filter, exactly once: share of at least once"
_DELAYS: dict[tuple[Guarantee, Kind], str] = {
    ("exactly_once", "filter"): "exactly once, filter: topic to topic",
    ("exactly_once", "count"): "exactly once, windowed count: topic to topic",
    ("at_least_once", "filter"): "real-time mode, filter: topic to topic",
    ("at_least_once", "join"): "real-time mode, stream-table join: topic to topic",
}

INTRODUCTION = f"""Programs of `headwater.streams` next to the same query in PySpark without
Headwater, which the ratio is about, and next to {" and ".join(REQUIREMENTS[:2])} from
PyPI. All read from and write to one Headwater broker with `flush=os`. Headwater and PySpark run in
one warm Spark session in local mode; in both, a record that is no JSON fails the query.

Throughput is over 10 million JSON records of 100 bytes with 100,000 keys, which are in a topic of
4 partitions already, from the start of the job to its end, results in a topic. The filter keeps
half of them. The count is of tumbling minutes, and the records lie in ten of them. The table of
the join has 100,000 keys, and an update for every hundred records; a record meets the table as it
stood at the record's time, which PySpark has no join for. The join of two streams reads as many
checks of the same keys as there are readings, and a reading meets one of them, on average; its rate
is of the records of both.

Quix Streams and Faust process the first 200,000 records; the clock runs from the first record to
the last, so that their start is not in it. They run as they do by default: one process, at least
once, Quix Streams with RocksDB, Faust with its default store, memory, and uvloop. The
windows of Quix Streams come out when they close. Faust's counts are the changelog of its table, and
its join meets the table as far as it has been read.

Latency is from the call that sends a record to the call that receives what became of it
(`read_committed`), at {delays.RECORDS_PER_S} records/s into {delays.PARTITIONS} partitions, after
a warm-up. Exactly once runs in micro-batches, at least once in Spark's real-time mode."""


def _share_of_hand(kind: Kind) -> str:
    return f"{JOBS[kind]}: share of PySpark by hand"


def _share_of_read(kind: Kind) -> str:
    return f"{JOBS[kind]}: share of the read rate"


def _times_peer(kind: Kind) -> str:
    return f"{JOBS[kind]}: times the faster of Quix Streams and Faust"


GOALS = {
    _share_of_hand("filter"): "95 %",
    _share_of_hand("count"): "95 %",
    **{_times_peer(kind): "3 x" for kind in KINDS if peer_programs.has(kind)},
    EXACTLY_ONCE_SHARE: "75 %",
    f"{_DELAYS['exactly_once', 'filter']}, median": "300 ms",
    f"{_DELAYS['exactly_once', 'count']}, median": "600 ms",
    f"{_DELAYS['at_least_once', 'filter']}, median": "20 ms",
    f"{_DELAYS['at_least_once', 'filter']}, 99 %": "100 ms",
    f"{_DELAYS['at_least_once', 'join']}, median": "50 ms",
}


def measure(rounds: int, results: Results, say: Say) -> None:
    """Measure on one broker and in one warm Spark session, each in turn, several times."""
    from headwater.spark.session import spark_session, stop_session

    workload = Workload.from_environment()
    peer_programs.install(say)
    spark = spark_session("benchmarks")
    try:
        with running(HEADWATER_OS) as broker:
            run = _Run(spark, broker.bootstrap_servers, workload, results, say)
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

    A job that fails has no figure and is told of; what was measured before and after it stays.
    """

    def __init__(
        self,
        spark: SparkSession,
        bootstrap_servers: str,
        workload: Workload,
        results: Results,
        say: Say,
    ) -> None:
        self._spark = spark
        self._servers = bootstrap_servers
        self._workload = workload
        self._results = results
        self._say = say
        self._jobs = 0

    def warm_up(self) -> None:
        by_hand.read_once(self._spark, self._servers, WARM_READINGS)
        for kind in KINDS:
            self._ours(kind, warm=True)
            self._ours(kind, "exactly_once", warm=True)
            if by_hand.has(kind):
                self._by_hand(kind, warm=True)

    def throughput(self, *, hand_first: bool) -> None:
        self._clean()
        taken = by_hand.read_once(self._spark, self._servers, READINGS)
        read = self._workload.records / taken
        self._rate(READ, BY_HAND, read)
        for kind in KINDS:
            rates = self._rates(kind, hand_first=hand_first)
            for column in COLUMNS:
                if column in rates:
                    self._rate(JOBS[kind], column, rates[column])
            ours = rates.get(HEADWATER)
            if ours is None:
                continue
            self._compare(kind, ours, rates, read)
            if kind == "filter":
                self._exactly_once(ours)

    def latency(self) -> None:
        for (guarantee, kind), row in _DELAYS.items():
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

    def _rates(self, kind: Kind, *, hand_first: bool) -> dict[str, float]:
        sparks: dict[str, Callable[[Kind], float]] = {HEADWATER: self._ours}
        if by_hand.has(kind):
            hand = {BY_HAND: self._by_hand}
            sparks = hand | sparks if hand_first else sparks | hand
        rates = {}
        for column, run in sparks.items():
            self._say(f"  {JOBS[kind]}, {column}")
            with self._told():
                rates[column] = run(kind)
        records = self._workload.peer_records
        for peer in PEERS if peer_programs.has(kind) else ():
            self._say(f"  {JOBS[kind]}, {peer.name}")
            with self._told(), self._topics(warm=False) as topics:
                taken = peer_programs.run(peer, kind, self._servers, topics, records)
                rates[peer.name] = records / taken
        return rates

    def _compare(self, kind: Kind, ours: float, rates: dict[str, float], read: float) -> None:
        if BY_HAND in rates:
            self._add(_share_of_hand(kind), "%", 100 * ours / rates[BY_HAND])
        self._add(_share_of_read(kind), "%", 100 * ours / read)
        peers = [rates[peer.name] for peer in PEERS if peer.name in rates]
        if peers:
            self._add(_times_peer(kind), "x", ours / max(peers))

    def _exactly_once(self, at_least_once: float) -> None:
        self._say(f"  {EXACTLY_ONCE}")
        with self._told():
            rate = self._ours("filter", "exactly_once")
            self._rate(EXACTLY_ONCE, HEADWATER, rate)
            self._add(EXACTLY_ONCE_SHARE, "%", 100 * rate / at_least_once)

    def _ours(
        self, kind: Kind, guarantee: Guarantee = "at_least_once", *, warm: bool = False
    ) -> float:
        with self._topics(warm=warm) as topics:
            self._clean()
            taken = programs.run_once(
                self._spark, kind, self._servers, topics, guarantee, say=self._say
            )
        return self._records(kind) / taken

    def _by_hand(self, kind: Kind, *, warm: bool = False) -> float:
        with self._topics(warm=warm) as topics:
            self._clean()
            taken = by_hand.run_once(self._spark, kind, self._servers, topics)
        return self._records(kind) / taken

    def _records(self, kind: Kind) -> int:
        """How many records a job reads, but for those of its table."""
        return self._workload.records * (2 if kind == "pair" else 1)

    @contextmanager
    def _topics(self, *, warm: bool) -> Iterator[Topics]:
        self._jobs += 1
        output = f"output-{self._jobs}"
        create_topics(self._servers, output)
        workload = self._workload.warm if warm else self._workload
        names = (WARM_READINGS, WARM_LIMITS, WARM_CHECKS) if warm else (READINGS, LIMITS, CHECKS)
        try:
            yield Topics(*names, output, workload.pair_within_ms)
        finally:
            delete_topics(self._servers, output)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (JobFailed, PeerFailed, StreamingQueryException) as failure:
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
