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
Java, with their default settings. All three brokers are up and warm, and take turns row by row.
The ratio compares `flush=os` with Kafka: both answer from the page cache. With `flush=fsync`, what
`acks=all` asks for is on disk before it is answered, and consumers see nothing that is not.

The tools share the two cores with the broker and take most of them, so that what a broker saves
shows only in part. The rows about CPU say how much it is with 100-byte records: the broker takes
1.2 to 1.9 times less than Kafka's, but a broker that took none at all would be ahead by about
Kafka's CPU divided by the tool's, 0.15 to 0.25. So 1.3x is not to be had with this tool on two
cores, beyond chance; with librdkafka, whose client takes less, see the table above.

With records of 1,000 bytes and more nearly all that a broker does is to let the kernel copy bytes,
which costs both the same. With 16 partitions a request has sixteen batches: our broker writes them
one after the other in the thread that also receives, and is waited for although it has nothing to
do for a third of the time; Kafka's threads receive the next request meanwhile. A profile suggests
that this is the 0.8x to 0.9x of these rows; no experiment has shown it. From
round to round a row differs by 10 to 20 %.""",
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
