"""Kafka Streams itself, as a judge: topologies of its own in one JVM, on its test driver."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headwater.cluster.kafka import OLDEST_JAVA, SMALL_JVM, class_path
from headwater.java.artifacts import fetch
from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE = Path(__file__).with_name("KafkaStreams.java")
# What Apache Kafka's own libraries lack for it. Stores are in memory, but the class is looked for.
LIBRARIES = (
    "org.apache.kafka:kafka-streams:4.3.1",
    "org.apache.kafka:kafka-streams-test-utils:4.3.1",
    "org.rocksdb:rocksdbjni:10.1.3",
)


class Given(NamedTuple):
    """A record that goes in; the time is in seconds."""

    topic: str
    key: str | None
    value: int | None
    time: int


class Came(NamedTuple):
    """A record that came out, its value as text."""

    key: str | None
    value: str | None
    time: int


class KafkaStreams:
    """One JVM, which is asked for one topology after the other."""

    def __init__(self) -> None:
        jars = [class_path(), *map(str, fetch("kafka-streams", LIBRARIES, transitive=False))]
        self._process = subprocess.Popen(
            [str(find_java(OLDEST_JAVA).java), *SMALL_JVM, "-cp", ":".join(jars), str(SOURCE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, topology: str, examples: Sequence[Sequence[Given]]) -> list[list[Came]]:
        """Return what comes out of each example, in order."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        records = [[given._asdict() for given in example] for example in examples]
        self._process.stdin.write(json.dumps({"topology": topology, "examples": records}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"Kafka Streams failed in {topology}: see what it wrote to stderr"
        return [[Came(**came) for came in example] for example in json.loads(answer)]

    def close(self) -> None:
        """End the JVM, which ends with its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
