"""Apache Kafka's classes: fetched by their Maven coordinates, and run with the Java of here."""

from __future__ import annotations

import os
import shlex
from importlib import resources
from typing import TYPE_CHECKING

from headwater.java.artifacts import fetch
from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.cluster.directory import NodeDirectory

VERSION = "4.3.1"
OLDEST_JAVA = 17

# Quick to start and small, at the price of the last third of throughput. Kafka's own start script
# uses G1 and the optimising compiler; its variables bring them back.
SMALL_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SMALL_HEAP = ("-Xms32m", "-Xmx256m")


def libraries() -> list[str]:
    """Return the coordinates of Kafka, its tools and all that they need, each with its version."""
    return resources.files("headwater.cluster").joinpath("libraries.txt").read_text().split()


def class_path() -> str:
    """Return Kafka's class path; the first call on a machine fetches it."""
    jars = fetch(f"kafka-{VERSION}", libraries(), transitive=False)
    return os.pathsep.join(map(str, jars))


def require() -> None:
    """Make sure that Kafka can run here; raises JavaNotFound or ArtifactError if it cannot."""
    find_java(OLDEST_JAVA)
    class_path()


def java_command(
    main: str,
    *arguments: str,
    options: Sequence[str] = SMALL_JVM,
    beside: Sequence[Path] = (),
) -> list[str]:
    """Return the command that runs one of Kafka's classes, a command-line tool for example.

    `beside` are jars that it needs beside Kafka's own.
    """
    launcher = str(find_java(OLDEST_JAVA).java)
    jars = os.pathsep.join([class_path(), *map(str, beside)])
    return [launcher, *options, "-cp", jars, main, *arguments]


def node_command(files: NodeDirectory, options: Sequence[str]) -> list[str]:
    """Return the command that runs a node with its files."""
    logging = f"-Dlog4j2.configurationFile={files.logging.as_uri()}"
    return java_command("kafka.Kafka", str(files.properties), options=(*options, logging))


def jvm_options() -> tuple[str, ...]:
    """Return a node's JVM options: small ones, or what the variables of Kafka's scripts say."""
    heap = shlex.split(os.environ.get("KAFKA_HEAP_OPTS", "")) or SMALL_HEAP
    performance = shlex.split(os.environ.get("KAFKA_JVM_PERFORMANCE_OPTS", "")) or SMALL_JVM
    return (*heap, *performance)
