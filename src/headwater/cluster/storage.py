"""Sets up the storage of new nodes with Kafka's own tool."""

from __future__ import annotations

import base64
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater.cluster.errors import ClusterError
from headwater.cluster.kafka import SMALL_JVM, java_command
from headwater.java.tool import run_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cluster.directory import NodeDirectory

# Each is a JVM of its own.
_AT_ONCE = 4


def new_cluster_id() -> str:
    """Return an id as Kafka makes them: a UUID in 22 characters, none of them first a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def format_storage(
    cluster_id: str, nodes: Sequence[NodeDirectory], options: Sequence[str] = ()
) -> None:
    """Format the data directories of nodes that have none yet, by JVMs with these options."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda node: _format(cluster_id, node, options), nodes))


def _format(cluster_id: str, node: NodeDirectory, options: Sequence[str]) -> None:
    arguments = ("format", "-t", cluster_id, "-c", str(node.properties))
    done = run_tool(
        java_command("kafka.tools.StorageTool", *arguments, options=(*SMALL_JVM, *options))
    )
    if done.returncode != 0:
        raise ClusterError(
            f"the storage of {node.path.name} cannot be formatted with {node.properties}:\n"
            f"{done.stdout.strip()}"
        )
