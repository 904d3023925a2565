"""The parts of `make bench`: what each measures, next to whom, and what it is to reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks import (
    apache_kafka,
    broker,
    connect,
    disk,
    idle,
    kafka_tools,
    partitions,
    registry,
    rest,
    sql,
    stores,
    tls,
)
from benchmarks.pipeline import measure as pipeline
from benchmarks.pipeline import rows as pipeline_rows
from benchmarks.pipeline.kafka_streams import KAFKA_STREAMS
from benchmarks.targets import FORGETFUL, HEADWATER, HEADWATER_OS, KAFKA, ONE_FLUSH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.results import Results, Row

    Say = Callable[[str], None]

BROKERS = [HEADWATER, HEADWATER_OS, KAFKA]
TOOL_TARGETS = [*BROKERS, ONE_FLUSH, FORGETFUL]


class Section(NamedTuple):
    """One table of the page, measured in one run."""

    name: str
    title: str
    introduction: str
    columns: tuple[str, ...]
    ours: tuple[str, ...]
    """The columns that a ratio is about: the first of them that has a figure."""
    peer: str | None
    """The column that ours is compared with."""
    goals: Mapping[str, str]
    measure: Callable[[int, Results, Say], None]
    measure_rows: Callable[[int, Results, Say, Sequence[str]], None] | None = None
    """Measures only the rows with one of some texts; None where it is all or nothing."""

    def compared(self, row: Row) -> str | None:
        """Return which of our columns stands against the peer in a row."""
        return next((column for column in self.ours if column in row.medians), None)


SECTIONS = {
    section.name: section
    for section in (
        Section(
            "broker",
            "The broker",
            f"""Headwater's broker next to Apache Kafka {apache_kafka.VERSION}, one combined KRaft
node with its default settings and a heap of 1 GB.

Kafka answers `acks=all` from the page cache, since its safety comes from replicas. Headwater with
`flush=fsync` answers it from the disk. `flush=os` does what Kafka does.

Producers and consumers are librdkafka through kcat (batches of up to 1 MB, one partition). Latency
is one record at a time through confluent-kafka, from produce until it is consumed.""",
            tuple(target.name for target in BROKERS),
            (HEADWATER.name, HEADWATER_OS.name),
            KAFKA.name,
            broker.GOALS,
            lambda rounds, results, say: broker.measure(BROKERS, rounds, results, say),
        ),
        Section(
            kafka_tools.SECTION,
            "Kafka's own tools",
            """`kafka-producer-perf-test`, `kafka-consumer-perf-test` and `kafka-e2e-latency`, in
Java, with their default settings. All brokers are up and warm, and take turns row by row.
The ratio compares `flush=os` with Kafka: both answer from the page cache. With `flush=fsync`, what
`acks=all` asks for is on disk before it is answered, and consumers see nothing that is not.

"One flush, nothing else" is the limit that this disk sets for that: our broker with everything left
out but one synced write, past the page cache and over a file that was written before, of as many
bytes as have arrived together. Where that is slower than Kafka's page cache, no design that waits
for the disk can be faster with this tool, which has five requests of 16 KB for each partition under
way and then waits.

The tools share the two cores with the broker and take most of them, so that what a broker saves
shows only in part. "Keeps nothing" is the end of that scale: our broker with everything left out
that costs, neither checksums nor writing, and no peer of anybody's. With 100-byte records it is
1.3 to 1.5 times as fast as Kafka, although it takes 2.5 to 4 times less CPU; a broker that keeps
records cannot be that fast, so that 1.3x is reached with this tool only here and there. With
librdkafka, whose client takes less, see the table above.

Four producer rows are below 1.0x, all with 16 partitions and records of 1,000 bytes and more. Their
requests have sixteen batches of 10 to 16 KB, and a batch costs our broker about 17 microseconds of
Python and 11 to 18 in the kernel (300 MB in 30,000 batches, read from the process's times). With
lz4, even the broker that keeps nothing is ahead of Kafka by only 2 to 5 %. What was tried: writing
the entries of the indexes together took a tenth off, and is done; a larger receive buffer made no
difference beyond noise. Three consumer rows with 16 partitions are at 0.85x to 0.91x; in a run
some hours before, the same rows were at 1.06x to 1.17x. From round to round a row differs by 10 to
20 %, and some by more.""",
            tuple(target.name for target in TOOL_TARGETS),
            (HEADWATER_OS.name,),
            KAFKA.name,
            kafka_tools.GOALS,
            lambda rounds, results, say: kafka_tools.measure(TOOL_TARGETS, rounds, results, say),
            lambda rounds, results, say, rows: kafka_tools.measure(
                TOOL_TARGETS, rounds, results, say, rows
            ),
        ),
        Section(
            tls.SECTION,
            "TLS",
            tls.INTRODUCTION,
            tuple(target.name for target in tls.TARGETS),
            (HEADWATER_OS.name,),
            KAFKA.name,
            tls.GOALS,
            tls.measure,
        ),
        Section(
            "disk",
            "One flush",
            disk.INTRODUCTION,
            tuple(disk.SIZES),
            (),
            None,
            {},
            disk.measure,
        ),
        Section(
            "partitions",
            "Many partitions",
            f"""{partitions.PARTITIONS:,} partitions in one broker with `flush=fsync`: made,
stopped, started, written to once each, stopped, started, killed, started and written to again. All
records are written with `acks=all`, through librdkafka. Apache Kafka is not measured in this table.

A producer of librdkafka sends a request for each partition, and looks through all partitions that
it has written to whenever it looks for something to send. One that writes to all 20,000 takes two
thirds of a core and keeps the broker waiting; so the first records are written by a producer for
each topic, one after the other.""",
            (HEADWATER.name,),
            (HEADWATER.name,),
            None,
            partitions.GOALS,
            partitions.measure,
        ),
        Section(
            "registry",
            "The schema registry",
            "On Headwater's broker, asked by one client process.",
            (HEADWATER.name,),
            (HEADWATER.name,),
            None,
            registry.GOALS,
            registry.measure,
        ),
        Section(
            "rest",
            "The REST proxy",
            f"""On Headwater's broker with `flush=fsync`: JSON records of 100 bytes, by version 2 on
{rest.CONNECTIONS} connections, and by version 3 as a stream on one. "Per core" is what one core of
the proxy would do; broker and client have the rest of the machine. Karapace, the peer in Python,
cannot be installed from PyPI.""",
            (HEADWATER.name,),
            (HEADWATER.name,),
            None,
            rest.GOALS,
            rest.measure,
        ),
        Section(
            "stores",
            "Look-ups",
            stores.INTRODUCTION,
            (HEADWATER.name,),
            (HEADWATER.name,),
            None,
            stores.GOALS,
            stores.measure,
        ),
        Section(
            sql.SECTION,
            "The SQL server",
            sql.INTRODUCTION,
            (sql.COLUMN,),
            (sql.COLUMN,),
            None,
            sql.GOALS,
            sql.measure,
        ),
        Section(
            pipeline.SECTION,
            "Stream processing",
            pipeline_rows.INTRODUCTION,
            pipeline_rows.COLUMNS,
            (pipeline_rows.HEADWATER,),
            KAFKA_STREAMS.name,
            pipeline_rows.GOALS,
            pipeline.measure,
            pipeline.measure,
        ),
        Section(
            connect.SECTION,
            "Connect",
            connect.INTRODUCTION,
            (connect.HEADWATER, connect.KAFKA_CONNECT),
            (connect.HEADWATER,),
            connect.KAFKA_CONNECT,
            connect.GOALS,
            connect.measure,
            connect.measure,
        ),
        Section(
            "idle",
            "Idle queries",
            idle.INTRODUCTION,
            (idle.COLUMN,),
            (idle.COLUMN,),
            None,
            idle.GOALS,
            idle.measure,
        ),
    )
}
