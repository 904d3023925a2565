"""Apache Kafka as the platform's broker: each of its nodes is a service of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cluster import ClusterDirectory, KafkaCluster, Node, NodeOptions, metadata
from headwater.cluster.growth import wanted_roles
from headwater.cluster.node import BROKER, CONTROLLER
from headwater.cluster.server_properties import client_address
from headwater.processes.ports import reachable
from headwater.up.health import HealthCheck, UnhealthyError
from headwater.up.ports import PORTS
from headwater.up.service import JVM_ENDS_WELL, Endpoint, Service

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headwater.up.platform import Platform

DIRECTORY = "kafka"

_FIRST_CONTROLLER_PORT = 9192
# A broker that leads much hands it over first.
_STOP_WITHIN_S = 60.0


@dataclass(frozen=True)
class NodeCheck(HealthCheck):
    """A broker is healthy once it counts itself among the cluster's; a controller if it answers."""

    node: Node

    async def _ask(self) -> None:
        host, node = reachable(self.node.host), self.node
        if not node.is_broker:
            await asyncio.to_thread(metadata.check_alive, host, node.port)
        elif node.id not in await asyncio.to_thread(metadata.broker_ids, host, node.port):
            raise UnhealthyError("the cluster does not know it yet")


def make(platform: Platform) -> list[Service]:
    """Return a service for each node: controllers first, so that they stop last.

    The cluster is made as the platform's settings ask for it, or found where it was.
    """
    cluster = _cluster(platform)
    platform.when_closed(cluster.close)
    nodes = sorted(cluster.nodes, key=lambda node: (node.is_broker, node.id))
    brokers = [node for node in nodes if node.is_broker]
    return [_service(cluster, node, BROKER if brokers == [node] else node.name) for node in nodes]


def node_names(data: Path, brokers: int | None, controllers: int | None) -> list[str]:
    """Return the names under which nodes, or all nodes of a kind, can have settings."""
    kinds = wanted_roles(ClusterDirectory(data / DIRECTORY), brokers, controllers)
    return [BROKER, CONTROLLER, *(f"{kind[0]}-{number}" for number, kind in kinds.items())]


def _cluster(platform: Platform) -> KafkaCluster:
    settings = platform.settings
    directory = (settings.data / DIRECTORY).absolute()
    kinds = wanted_roles(ClusterDirectory(directory), settings.brokers, settings.controllers)
    return KafkaCluster(
        directory,
        brokers=settings.brokers,
        controllers=settings.controllers,
        racks=settings.racks,
        nodes=_options(platform, kinds),
        restarts=True,
    )


def _service(cluster: KafkaCluster, node: Node, name: str) -> Service:
    return Service(
        name=name,
        command=cluster.command(node),
        endpoints=[Endpoint(name, client_address(node), _description(node), NodeCheck(node))],
        stop_within_s=_STOP_WITHIN_S,
        ends_well_with=JVM_ENDS_WELL,
        is_wanted=cluster.directory.of(node).is_wanted,
    )


def _options(platform: Platform, kinds: Mapping[int, tuple[str, ...]]) -> dict[int, NodeOptions]:
    options = {}
    ports = {BROKER: PORTS["broker"], CONTROLLER: _FIRST_CONTROLLER_PORT}
    for number, kind in kinds.items():
        name = f"{kind[0]}-{number}"
        settings: dict[str, str] = {}
        for source in (*reversed(kind), name):
            settings |= platform.settings.properties.get(source, {})
        options[number] = NodeOptions(
            host=platform.settings.host,
            port=platform.port(name, ports[kind[0]]),
            controller_port=platform.port(name, ports[CONTROLLER]) if len(kind) > 1 else None,
            settings=settings,
        )
        ports[kind[0]] += 1
    return options


def _description(node: Node) -> str:
    what = "Apache Kafka" if node.is_broker else "Apache Kafka, controller"
    return f"{what}, rack {node.rack}" if node.rack else what
