"""Kafka Streams in Java, by its Maven coordinates, in a JVM of the size that Spark's has here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.apache_kafka import VERSION, class_path
from benchmarks.pipeline.peer import PROGRAMS, Peer
from headwater.cluster.kafka import OLDEST_JAVA
from headwater.java.artifacts import fetch
from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.pipeline.peer import PeerJob
    from benchmarks.pipeline.programs import Guarantee, Kind

# What Apache Kafka's own libraries lack for it.
LIBRARIES = (f"org.apache.kafka:kafka-streams:{VERSION}", "org.rocksdb:rocksdbjni:10.1.3")
HEAP = "2g"


class KafkaStreams(Peer):
    """What runs the program of a source file, which the launcher compiles."""

    name = "Kafka Streams"

    def install(self, say: Callable[[str], None]) -> None:
        """Fetch what is not in the cache."""
        self._jars()

    def has(self, kind: Kind, guarantee: Guarantee) -> bool:
        """It has all of them."""
        return True

    def command(self, job: PeerJob, state: Path) -> list[str]:
        """Return a JVM with the program."""
        return [
            *(str(find_java(OLDEST_JAVA).java), f"-Xmx{HEAP}", "-cp", self._jars()),
            *(str(PROGRAMS / "KafkaStreamsJobs.java"), job.kind, job.guarantee),
            *(job.bootstrap_servers, str(state)),
            *(*job.warm_up.arguments, *job.measured.arguments),
        ]

    def _jars(self) -> str:
        jars = fetch("kafka-streams", LIBRARIES, transitive=False)
        return ":".join([class_path(), *map(str, jars)])


KAFKA_STREAMS = KafkaStreams()
