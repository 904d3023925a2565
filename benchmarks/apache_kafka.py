"""Apache Kafka as one combined KRaft node: the peer that everything is held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cluster import VERSION
from headwater.cluster.directory import NodeDirectory
from headwater.cluster.kafka import OLDEST_JAVA, class_path, java_command, node_command
from headwater.cluster.node import Node, roles
from headwater.cluster.server_properties import configure
from headwater.cluster.storage import format_storage, new_cluster_id
from headwater.java.runtime import JavaNotFound, find_java

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["VERSION", "class_path", "java", "missing", "prepare"]

# What Kafka's own start scripts use: not the small JVM that headwater gives to nodes on a laptop.
_COLLECTOR = ("-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20")


def missing() -> str | None:
    """Say what this machine lacks to run Kafka, if anything."""
    try:
        find_java(OLDEST_JAVA)
    except JavaNotFound as failure:
        return str(failure)
    return None


def java(main: str, *arguments: str, heap: str = "512m") -> list[str]:
    """Return the command that runs one of Kafka's classes."""
    return java_command(main, *arguments, options=(f"-Xmx{heap}", *_COLLECTOR))


def prepare(
    directory: Path, port: int, controller_port: int, settings: Mapping[str, str]
) -> list[str]:
    """Format a data directory and return the command that starts a node on it."""
    node = Node(1, roles(1, None)[1], "127.0.0.1", port, controller_port, settings=settings)
    files = NodeDirectory(directory)
    configure(node, [node], files)
    format_storage(new_cluster_id(), [files])
    return node_command(files, ("-Xmx1g", *_COLLECTOR))
