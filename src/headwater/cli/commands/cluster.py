"""`headwater cluster`: see the nodes of a local Apache Kafka cluster, and take them down and up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.output import json_option, note, print_json, print_table
from headwater.cli.up.platform_data import data_option, platform_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.cluster import ClusterControl, NodeStatus

node_argument: Callable[[Any], Any] = click.argument("node", metavar="ID", type=int)


@click.group(cls=LazyGroup)
def cluster() -> None:
    """Show the nodes of a local Apache Kafka cluster; stop, start and kill them.

    It is started with: headwater up --engine kafka --brokers 3
    """


@cluster.command(
    epilog="""\b
Examples:
  headwater cluster status
  headwater cluster status --data ./data --json"""
)
@data_option
@json_option
def status(data: Path | None, as_json: bool) -> None:
    """Show each node: its state, address and rack, and which controller leads."""
    control = _find(data)
    found = [_described(each) for each in control.status()]
    if as_json:
        print_json(
            {
                "cluster_id": control.cluster_id,
                "bootstrap_servers": control.bootstrap_servers,
                "nodes": found,
            }
        )
    else:
        columns = ("id", "node", "roles", "state", "address", "rack", "pid", "quorum")
        print_table(
            [column.upper() for column in columns],
            [[node[column] for column in columns] for node in found],
        )


@cluster.command(
    "stop-broker",
    epilog="""\b
Examples:
  headwater cluster stop-broker 2
  headwater cluster stop-broker 101""",
)
@node_argument
@data_option
def stop_broker(data: Path | None, node: int) -> None:
    """Stop a node (broker or controller) cleanly, and keep it down.

    This is a controlled shutdown: a broker moves the leadership of its partitions first.
    """
    _act(data, node, "Stopped", lambda control: control.stop_node(node))


@cluster.command(
    "kill-broker",
    epilog="""\b
Examples:
  headwater cluster kill-broker 2
  headwater cluster kill-broker 101""",
)
@node_argument
@data_option
def kill_broker(data: Path | None, node: int) -> None:
    """Kill a node (broker or controller) at once, as a crash does, and keep it down."""
    _act(data, node, "Killed", lambda control: control.kill_node(node))


@cluster.command(
    "start-broker",
    epilog="""\b
Examples:
  headwater cluster start-broker 2""",
)
@node_argument
@data_option
def start_broker(data: Path | None, node: int) -> None:
    """Start a node (broker or controller) again, and wait until it is ready.

    It has the ports and the data that it had.
    """
    _act(data, node, "Started", lambda control: control.start_node(node))


def _act(data: Path | None, node: int, done: str, action: Callable[[ClusterControl], None]) -> None:
    from headwater.cluster import ClusterError
    from headwater.java.artifacts import ArtifactError
    from headwater.java.runtime import JavaNotFound

    control = _find(data)
    try:
        action(control)
    except (ClusterError, ArtifactError, JavaNotFound) as failure:
        raise CommandError(str(failure)) from None
    note(f"{done} {control.node(node).name}.")


def _find(data: Path | None) -> ClusterControl:
    from headwater.cluster import ClusterControl, ClusterDirectory, ClusterError
    from headwater.up.services.kafka import DIRECTORY

    data = platform_data(data)
    # What KafkaCluster was given is the cluster's own directory; `up` keeps it among others.
    path = data if ClusterDirectory(data).exists else data / DIRECTORY
    try:
        return ClusterControl(ClusterDirectory(path.absolute()))
    except ClusterError as failure:
        raise CommandError(str(failure)) from None


def _described(status: NodeStatus) -> dict[str, Any]:
    from headwater.cluster.server_properties import client_address

    node = status.node
    quorum = None if not node.is_controller else "leader" if status.leads_quorum else "voter"
    return {
        "id": node.id,
        "node": node.name,
        "roles": list(node.roles),
        "state": status.state,
        "address": client_address(node),
        "rack": node.rack,
        "pid": status.pid,
        "quorum": quorum,
    }
