"""A cluster's directory: which nodes there are, which of them run, and who looks after them.

cluster.json           the cluster's id and its nodes, as they were started last
owner                  locked by the process that runs the cluster, if there is one
broker-1/
    server.properties, log4j2.properties
    data/              Kafka's own
    server.log         Kafka's log; output: what the process printed
    process            which process it is
    held               there while somebody wants the node to stay down
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, NamedTuple

from headwater.cluster.errors import ClusterError
from headwater.cluster.node import Node
from headwater.processes.owned_file import OwnedError, OwnedFile
from headwater.processes.process_id import ProcessId
from headwater.processes.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FILE = "cluster.json"


class Owner(NamedTuple):
    """The process that runs a cluster."""

    pid: int
    restarts: bool
    """Whether it starts nodes again by itself, as `headwater up` does."""


class ClusterDirectory:
    """Reads and writes what there is to know of a cluster; all of it is on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._owned = OwnedFile(path / "owner")

    @property
    def exists(self) -> bool:
        """Whether there is a cluster here."""
        return (self.path / _FILE).exists()

    def load(self) -> tuple[str, tuple[Node, ...]]:
        """Return the cluster's id and its nodes."""
        try:
            document = json.loads((self.path / _FILE).read_text("utf-8"))
        except FileNotFoundError:
            raise ClusterError(
                f"there is no cluster in {self.path}. "
                "Start one with: headwater up --engine kafka --brokers 3"
            ) from None
        return document["cluster_id"], tuple(
            Node(**{**node, "roles": tuple(node["roles"]), "prefix": tuple(node["prefix"])})
            for node in document["nodes"]
        )

    def save(self, cluster_id: str, nodes: Sequence[Node]) -> None:
        """Remember a cluster."""
        document = {"cluster_id": cluster_id, "nodes": [asdict(node) for node in nodes]}
        write_whole(self.path / _FILE, json.dumps(document, indent=2) + "\n")

    def of(self, node: Node) -> NodeDirectory:
        """Return a node's part of the directory."""
        return NodeDirectory(self.path / node.name)

    def take(self, *, restarts: bool) -> IO[str]:
        """Become the owner for as long as the returned file is open."""
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            return self._owned.take({"restarts": restarts})
        except OwnedError as failure:
            raise ClusterError(
                f"the cluster in {self.path} is run by process {failure.owner['pid']} already. "
                "Stop it first, or use another directory"
            ) from None

    def owner(self) -> Owner | None:
        """Return who runs the cluster, if somebody does."""
        document = self._owned.owner()
        return None if document is None else Owner(**document)


class NodeDirectory:
    """One node's files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path / "data"
        self.properties = path / "server.properties"
        self.logging = path / "log4j2.properties"
        self.log = path / "server.log"
        self.output = path / "output"
        self.process_file = path / "process"
        self._held = path / "held"

    @property
    def is_formatted(self) -> bool:
        """Whether Kafka's storage was set up."""
        return (self.data / "meta.properties").exists()

    def is_wanted(self) -> bool:
        """Whether this node should run; not while somebody holds it down."""
        return not self._held.exists()

    def hold(self) -> None:
        """Keep it down, whoever looks after it."""
        self._held.touch()

    def release(self) -> None:
        """Let it run again."""
        self._held.unlink(missing_ok=True)

    def process(self) -> ProcessId | None:
        """Return the node's process, if it runs."""
        return ProcessId.read(self.process_file)

    def last_lines(self, count: int = 20) -> str:
        """Return the end of what the node had to say."""
        lines: list[str] = []
        for path in (self.output, self.log):
            if path.exists():
                lines += path.read_text("utf-8", "replace").splitlines()[-count:]
        return "\n".join(lines)
