"""A cluster of this process's own: made, started, and gone with it."""

from __future__ import annotations

import logging
import signal
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Self

from headwater.cluster import kafka
from headwater.cluster.class_archive import archive_options
from headwater.cluster.control import STOPPED_WITHIN_S, ClusterControl
from headwater.cluster.directory import ClusterDirectory
from headwater.cluster.errors import ClusterError
from headwater.cluster.growth import wanted_roles
from headwater.cluster.node import BROKER, Node, NodeOptions
from headwater.cluster.server_properties import configure
from headwater.cluster.storage import format_storage, new_cluster_id
from headwater.processes.guard import Guard
from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from headwater.processes.child import ChildProcess

logger = logging.getLogger("headwater.cluster")

_GUARD_KILLS_AFTER_S = 10.0


class KafkaCluster(ClusterControl):
    """Apache Kafka nodes on this machine, from `start` (or `with`) to `close`.

        with KafkaCluster(tmp_path, brokers=3, racks=("a", "b", "c")) as cluster:
            admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})

    Brokers have the ids 1, 2, 3, ...; controllers 101, 102, ... One broker without controllers is
    both. A directory that holds a cluster already is used again, with more brokers if there shall
    be more. Should this process die, a guard ends the nodes.
    """

    def __init__(
        self,
        directory: Path,
        *,
        brokers: int | None = None,
        controllers: int | None = None,
        racks: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        nodes: Mapping[int, NodeOptions] | None = None,
        restarts: bool = False,
    ) -> None:
        """Make the cluster, or find it, with its storage formatted; start nothing yet.

        Without `brokers` there are as many as the directory has, or else one.
        `settings` are Kafka's properties for all nodes, `nodes` says what single ones have of their
        own, `racks` are dealt out to the brokers in turn. `restarts` tells other processes that
        the caller starts nodes again by itself.
        """
        kafka.require()
        self._free: dict[str, FreePorts] = {}
        self._started: dict[int, ChildProcess] = {}
        self._guard: Guard | None = None
        files = ClusterDirectory(directory.absolute())
        self._lock: IO[str] = files.take(restarts=restarts)
        try:
            wanted = wanted_roles(files, brokers, controllers)
            options = _options(wanted, racks, nodes or {})
            _make(files, [
                self._node(number, kind, options[number], settings or {})
                for number, kind in wanted.items()
            ])  # fmt: skip
            super().__init__(files)
        except BaseException:
            self._give_back()
            raise

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the nodes that were not started yet, and return when all are ready for clients."""
        try:
            for node in reversed(self.nodes):
                if node.id not in self._started or not self.is_running(node.id):
                    self.start_node(node.id, wait=False)
            self.wait_until_ready()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop the brokers, then the controllers; what cannot stop any more is killed."""
        try:
            if self._has_majority():
                for is_broker in (True, False):
                    self._stop([node for node in self.nodes if node.is_broker is is_broker])
        finally:
            try:
                self._end(self.nodes, signal.SIGKILL)
            finally:
                self._give_back()

    def _stop(self, nodes: Sequence[Node]) -> None:
        try:
            self._end(nodes, signal.SIGTERM)
        except ClusterError as failure:
            logger.warning("killing what does not stop: %s", failure)
            self._end(nodes, signal.SIGKILL)

    def _launch(self, node: Node) -> ChildProcess:
        """Start a node that ends with this process."""
        self._forget(node.id)
        self._guard = self._guard or Guard(_GUARD_KILLS_AFTER_S)
        started = self._start_process(node, self._guard)
        self._started[node.id] = started
        return started

    def _node(
        self, number: int, kind: tuple[str, ...], own: NodeOptions, settings: Mapping[str, str]
    ) -> Node:
        is_both = len(kind) > 1
        return Node(
            id=number,
            roles=kind,
            host=own.host,
            port=own.port or self._free_port(own.host),
            controller_port=(own.controller_port or self._free_port(own.host)) if is_both else None,
            rack=own.rack,
            settings={**settings, **own.settings},
            prefix=tuple(own.prefix),
        )

    def _free_port(self, host: str) -> int:
        # Kept while the cluster is: a node that is down for a while must find its port free.
        return self._free.setdefault(host, FreePorts(host)).pick()

    def _has_majority(self) -> bool:
        controllers = [node for node in self.nodes if node.is_controller]
        return 2 * sum(self.is_running(node.id) for node in controllers) > len(controllers)

    def _forget(self, node_id: int) -> None:
        ended = self._started.pop(node_id, None)
        if ended is not None:
            ended.wait(STOPPED_WITHIN_S)

    def _give_back(self) -> None:
        for node_id in list(self._started):
            self._forget(node_id)
        if self._guard is not None:
            self._guard.close()
            self._guard = None
        for ports in self._free.values():
            ports.close()
        self._lock.close()


def _options(
    wanted: Mapping[int, tuple[str, ...]], racks: Sequence[str], own: Mapping[int, NodeOptions]
) -> dict[int, NodeOptions]:
    if unknown := own.keys() - wanted.keys():
        raise ClusterError(f"there are settings for the nodes {sorted(unknown)}, and no such nodes")
    options = {}
    for position, (number, kind) in enumerate(wanted.items()):
        chosen = own.get(number, NodeOptions())
        if racks and BROKER in kind and chosen.rack is None:
            chosen = replace(chosen, rack=racks[position % len(racks)])
        options[number] = chosen
    return options


def _make(files: ClusterDirectory, nodes: Sequence[Node]) -> None:
    cluster_id = files.load()[0] if files.exists else new_cluster_id()
    files.save(cluster_id, nodes)
    for node in nodes:
        own = files.of(node)
        own.path.mkdir(exist_ok=True)
        own.release()
        configure(node, nodes, own)
    new = [files.of(node) for node in nodes if not files.of(node).is_formatted]
    if new:
        format_storage(cluster_id, new, archive_options())
