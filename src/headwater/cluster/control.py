"""Starts, stops and kills single nodes of a cluster, from any process of the machine."""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cluster import metadata
from headwater.cluster.class_archive import archive_options
from headwater.cluster.errors import ClusterError
from headwater.cluster.kafka import jvm_options, node_command
from headwater.cluster.server_properties import client_address
from headwater.processes.child import ChildProcess
from headwater.processes.ports import reachable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.cluster.directory import ClusterDirectory
    from headwater.cluster.node import Node
    from headwater.processes.guard import Guard

READY_WITHIN_S = 180.0
STOPPED_WITHIN_S = 60.0

_POLL_S = 0.05


@dataclass(frozen=True)
class NodeStatus:
    """How a node is."""

    node: Node
    state: str
    """running, starting, stopped (on purpose) or down."""
    pid: int | None
    leads_quorum: bool


class ClusterControl:
    """A cluster that exists, found by its directory."""

    def __init__(self, directory: ClusterDirectory) -> None:
        """Find the cluster; raises ClusterError if there is none."""
        self.directory = directory
        self.cluster_id, self.nodes = directory.load()

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect to."""
        return ",".join(client_address(node) for node in self.nodes if node.is_broker)

    def node(self, node_id: int) -> Node:
        """Return a node by its id."""
        for node in self.nodes:
            if node.id == node_id:
                return node
        known = ", ".join(f"{node.id} ({node.name})" for node in self.nodes)
        raise ClusterError(f"there is no node {node_id}; there are {known}")

    def is_running(self, node_id: int) -> bool:
        """Whether a node's process is there."""
        return self.directory.of(self.node(node_id)).process() is not None

    def status(self) -> list[NodeStatus]:
        """Return how all nodes are."""
        members, leader = self._view()
        return [self._status(node, members, leader) for node in self.nodes]

    def quorum_leader(self) -> int | None:
        """Return the controller that leads, if there is one and a broker runs that knows it."""
        return self._view()[1]

    def known_brokers(self, node_id: int) -> frozenset[int]:
        """Return the brokers that this broker counts as alive; raises OSError if it is silent."""
        node = self.node(node_id)
        return metadata.broker_ids(reachable(node.host), node.port)

    def start_node(self, node_id: int, *, wait: bool = True) -> None:
        """Start a node on the ports and the data that it had, and wait until it is ready."""
        node = self.node(node_id)
        files = self.directory.of(node)
        if files.process() is not None:
            raise ClusterError(f"{node.name} runs already")
        files.release()
        owner = self.directory.owner()
        if owner is None or not owner.restarts:
            self._launch(node)
        if wait:
            self.wait_until_ready([node_id])

    def stop_node(self, node_id: int) -> None:
        """Stop a node as an operator does: a broker hands its leaderships over first."""
        self._end([self._running(node_id)], signal.SIGTERM)

    def kill_node(self, node_id: int) -> None:
        """Kill a node at once (SIGKILL), as a crash does."""
        self._end([self._running(node_id)], signal.SIGKILL)

    def pause_node(self, node_id: int) -> None:
        """Freeze a node (SIGSTOP): it is there, and says nothing."""
        self._signal(self._running(node_id), signal.SIGSTOP)

    def resume_node(self, node_id: int) -> None:
        """Let a frozen node go on."""
        self._signal(self._running(node_id), signal.SIGCONT)

    def wait_until_ready(
        self, node_ids: Iterable[int] | None = None, within_s: float = READY_WITHIN_S
    ) -> None:
        """Wait until nodes, all by default, answer, and the brokers among them know each other."""
        nodes = self.nodes if node_ids is None else [self.node(each) for each in node_ids]
        brokers = {node.id for node in nodes if node.is_broker}
        deadline = time.monotonic() + within_s
        for node in nodes:
            self._wait_for_answer(node, brokers, deadline)

    def command(self, node: Node) -> list[str]:
        """Return the command that starts a node."""
        files = self.directory.of(node)
        return [
            *node.prefix,
            # -P: the working directory is the user's and must not shadow modules.
            *(sys.executable, "-P", "-m", "headwater.cluster.launch", str(files.process_file)),
            *node_command(files, (*jvm_options(), *archive_options())),
        ]

    def _launch(self, node: Node) -> ChildProcess:
        """Start a node that stays when this process ends."""
        return self._start_process(node, None)

    def _start_process(self, node: Node, guard: Guard | None) -> ChildProcess:
        files = self.directory.of(node)
        files.process_file.unlink(missing_ok=True)
        with files.output.open("ab") as output:
            started = ChildProcess(self.command(node), guard=guard, output=output)
        try:
            while not files.process_file.exists():
                if not started.running:
                    raise ClusterError(f"{node.name} cannot be started:\n{files.last_lines()}")
                time.sleep(_POLL_S)
        except BaseException:  # Ctrl-C as well: nobody knows of it yet, so nobody else would end it
            started.kill()
            started.wait()
            raise
        return started

    def _end(self, nodes: Iterable[Node], number: signal.Signals) -> None:
        ending = []
        for node in nodes:
            self.directory.of(node).hold()
            process = self.directory.of(node).process()
            if process is not None:
                process.signal(number)
                process.signal(signal.SIGCONT)  # a frozen one would not hear it
                ending.append((node, process))
        deadline = time.monotonic() + STOPPED_WITHIN_S
        for node, process in ending:
            while process.is_running:
                if time.monotonic() > deadline:
                    raise ClusterError(
                        f"{node.name} did not stop within {STOPPED_WITHIN_S:g} s. Without a "
                        "majority of the controllers a broker cannot leave; kill it instead"
                    )
                time.sleep(_POLL_S)

    def _signal(self, node: Node, number: signal.Signals) -> None:
        process = self.directory.of(node).process()
        if process is not None:
            process.signal(number)

    def _running(self, node_id: int) -> Node:
        node = self.node(node_id)
        if not self.is_running(node_id):
            raise ClusterError(f"{node.name} does not run")
        return node

    def _wait_for_answer(self, node: Node, brokers: set[int], deadline: float) -> None:
        host = reachable(node.host)
        files = self.directory.of(node)
        owner = self.directory.owner()
        # A supervisor has to notice first that the node is wanted again.
        has_started = owner is None or not owner.restarts
        reason = "no answer yet"
        while True:
            try:
                if not node.is_broker:
                    metadata.check_alive(host, node.quorum_port)
                    return
                missing = brokers - metadata.broker_ids(host, node.port)
                if not missing:
                    return
                reason = f"it does not know of {', '.join(map(str, sorted(missing)))} yet"
            except OSError as failure:
                reason = str(failure)
            if has_started and files.process() is None:
                raise ClusterError(f"{node.name} ended before it was ready:\n{files.last_lines()}")
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{node.name} is not ready in time ({reason}):\n{files.last_lines()}"
                )
            time.sleep(_POLL_S)

    def _view(self) -> tuple[frozenset[int], int | None]:
        members: frozenset[int] = frozenset()
        leader: int | None = None
        for node in self.nodes:
            if not node.is_broker or not self.is_running(node.id):
                continue
            host = reachable(node.host)
            try:
                members |= metadata.broker_ids(host, node.port)
                leader = leader or metadata.quorum_leader(host, node.port)
            except OSError:
                continue  # one that starts, or is frozen; the others are asked as well
        return members, leader

    def _status(self, node: Node, members: frozenset[int], leader: int | None) -> NodeStatus:
        files = self.directory.of(node)
        process = files.process()
        if process is None:
            state = "down" if files.is_wanted() else "stopped"
        else:
            state = "starting" if node.is_broker and node.id not in members else "running"
        return NodeStatus(
            node, state, process.pid if process else None, leads_quorum=node.id == leader
        )
