"""The cluster's nodes: who leads what, who controls, and which partitions lack replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from headwater.console.model.topics import is_under_replicated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.cluster import Cluster
    from headwater.metrics.cluster_state import PartitionState

_MOST_SHOWN = 200


@dataclass(frozen=True)
class BrokerRow:
    """A broker."""

    id: int
    address: str
    rack: str | None
    is_controller: bool
    leads: int
    replicas: int
    in_sync: int
    bytes_used: int | None
    bytes_free: int | None


class Lacking(NamedTuple):
    """A partition whose replicas are not all in sync."""

    topic: str
    partition: PartitionState


@dataclass(frozen=True)
class Nodes:
    """All brokers of a cluster."""

    cluster_id: str
    brokers: Sequence[BrokerRow]
    lacking: Sequence[Lacking]
    lacking_count: int


def nodes(cluster: Cluster) -> Nodes:
    """Return the brokers; blocks, and raises ClientError."""
    look = cluster.look()
    connection = cluster.connection
    described = connection.result(connection.admin.describe_cluster())
    racks = {node.id: node.rack for node in described.nodes}
    controller = described.controller.id if described.controller is not None else -1
    leads: dict[int, int] = {}
    replicas: dict[int, int] = {}
    in_sync: dict[int, int] = {}
    lacking: list[Lacking] = []
    for topic in look.state.topics:
        for partition in topic.partitions:
            leads[partition.leader] = leads.get(partition.leader, 0) + 1
            for node in partition.replicas:
                replicas[node] = replicas.get(node, 0) + 1
            for node in partition.in_sync:
                in_sync[node] = in_sync.get(node, 0) + 1
            if is_under_replicated(partition):
                lacking.append(Lacking(topic.name, partition))
    directories = cluster.directories()
    rows = []
    for broker in look.state.brokers:
        own = [each for each in directories if each.broker == broker.id]
        rows.append(
            BrokerRow(
                broker.id,
                broker.address,
                racks.get(broker.id),
                broker.id == controller,
                leads.get(broker.id, 0),
                replicas.get(broker.id, 0),
                in_sync.get(broker.id, 0),
                sum(sum(each.partitions.values()) for each in own) if own else None,
                min((each.usable_bytes for each in own), default=None),
            )
        )
    shown = lacking[:_MOST_SHOWN]
    return Nodes(described.cluster_id or "", rows, shown, len(lacking))
