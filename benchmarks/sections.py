"""The parts of `make bench`: what each measures, next to whom, and what it is to reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from benchmarks import apache_kafka, broker, kafka_tools, registry
from benchmarks.pipeline import measure as pipeline
from benchmarks.targets import FORGETFUL, HEADWATER, HEADWATER_OS, KAFKA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.results import Results, Row

    Say = Callable[[str], None]

BROKERS = [HEADWATER, HEADWATER_OS, KAFKA]
TOOL_TARGETS = [*BROKERS, FORGETFUL]


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
            "tools",
            "Kafka's own tools",
            """`kafka-producer-perf-test`, `kafka-consumer-perf-test` and `kafka-e2e-latency`, in
Java, with their default settings. All brokers are up and warm, and take turns row by row.
The ratio compares `flush=os` with Kafka: both answer from the page cache. With `flush=fsync`, what
`acks=all` asks for is on disk before it is answered, and consumers see nothing that is not.

The tools share the two cores with the broker and take most of them, so that what a broker saves
shows only in part. "Keeps nothing" is the end of that scale: our broker with everything left out
that costs, neither checksums nor writing, and no peer of anybody's. With 100-byte records it is
1.3 to 1.5 times as fast as Kafka, although it takes 2.5 to 4 times less CPU; a broker that keeps
records cannot be that fast, so that 1.3x is reached with this tool only here and there. With
librdkafka, whose client takes less, see the table above.

Where we are below 1.0x, a request has sixteen batches of about 10 KB: one record each without
compression, or ten thousand bytes of lz4. A batch costs us some 17 microseconds in Python and as
much in the kernel, whatever its size, and Kafka's compiled code less than the first half. With lz4
even the broker that keeps nothing is ahead by only 2 to 5 %. What was tried: to write the entries of
indexes together took a tenth off, and is done; larger receive buffers made no difference. Kafka does
not receive a connection's next request while it works on one either. From round to round a row
differs by 10 to 20 %.""",
            tuple(target.name for target in TOOL_TARGETS),
            (HEADWATER_OS.name,),
            KAFKA.name,
            kafka_tools.GOALS,
            lambda rounds, results, say: kafka_tools.measure(TOOL_TARGETS, rounds, results, say),
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
            "pipeline",
            "Stream processing",
            pipeline.INTRODUCTION,
            pipeline.COLUMNS,
            (pipeline.HEADWATER,),
            pipeline.BY_HAND,
            pipeline.GOALS,
            pipeline.measure,
        ),
    )
}
