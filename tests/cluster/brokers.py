"""Asks the brokers of a cluster, one by one, and brings all of its nodes back to health."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil
from confluent_kafka.admin import AdminClient
from tests.integration.raw_client import ConnectionClosedError, RawClient
from tests.waiting import wait_for

if TYPE_CHECKING:
    from headwater.cluster import ClusterControl, Node

WITHIN_S = 120.0


@dataclass
class _Address:
    port: int
    output: list[str] = field(default_factory=list)


def brokers(cluster: ClusterControl) -> list[Node]:
    return [node for node in cluster.nodes if node.is_broker]


def running_brokers(cluster: ClusterControl) -> list[int]:
    return [node.id for node in brokers(cluster) if cluster.is_running(node.id)]


def ask(cluster: ClusterControl, broker: int) -> RawClient:
    """A connection to this very broker."""
    node = cluster.node(broker)
    return RawClient(_Address(node.port), host=node.host)


def freeze(cluster: ClusterControl, *nodes: int) -> None:
    """Freeze nodes and see that they are: a busy kernel delivers a signal when it comes to it."""
    for node in nodes:
        cluster.pause_node(node)
    wait_for(
        lambda: all(_process(cluster, node).status() == psutil.STATUS_STOPPED for node in nodes),
        lambda: f"{[_process(cluster, node) for node in nodes]}",
    )


def restore(cluster: ClusterControl) -> None:
    """Undo what a lesson, or its failure, left: all nodes run, and all replicas are in sync."""
    for node in reversed(cluster.nodes):
        if cluster.is_running(node.id):
            cluster.resume_node(node.id)
        else:
            cluster.start_node(node.id, wait=False)
    cluster.wait_until_ready()
    _delete_topics(cluster)
    wait_until_in_sync(cluster)


def wait_until_in_sync(cluster: ClusterControl) -> None:
    """Return when every running broker knows all replicas of all topics to be in sync."""
    wait_for(
        lambda: not any(_lagging(cluster, broker) for broker in running_brokers(cluster)),
        lambda: f"{[_lagging(cluster, broker) for broker in running_brokers(cluster)]}",
    )


def _process(cluster: ClusterControl, node: int) -> psutil.Process:
    found = cluster.directory.of(cluster.node(node)).process()
    assert found is not None
    return psutil.Process(found.pid)


def _delete_topics(cluster: ClusterControl) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    names = [name for name in admin.list_topics(timeout=WITHIN_S).topics if name[:2] != "__"]
    if names:
        for deleted in admin.delete_topics(names, request_timeout=WITHIN_S).values():
            deleted.result()


def _lagging(cluster: ClusterControl, broker: int) -> list[str]:
    try:
        with ask(cluster, broker) as client:
            topics = client.call("metadata", 12, topics=None).topics
    except (OSError, ConnectionClosedError) as failure:
        return [f"broker {broker} is silent: {failure}"]
    return [
        f"{topic.name}-{partition.partition_index}: {partition}"
        for topic in topics
        for partition in topic.partitions
        if set(partition.isr_nodes) != set(partition.replica_nodes)
    ]
