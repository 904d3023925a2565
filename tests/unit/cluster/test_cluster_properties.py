"""What a node is started with: listeners, voters, replication for the cluster's size, escapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cluster.node import Node, roles
from headwater.cluster.server_properties import (
    as_text,
    client_address,
    logging_properties,
    server_properties,
)


def nodes_of(brokers: int, controllers: int | None, host: str = "127.0.0.1") -> list[Node]:
    return [
        Node(
            id=number,
            roles=kind,
            host=host,
            port=9000 + number,
            controller_port=9500 if len(kind) > 1 else None,
        )
        for number, kind in roles(brokers, controllers).items()
    ]


def test_one_node_is_both() -> None:
    (node,) = nodes_of(1, None)
    properties = server_properties(node, [node], Path("/data"))
    assert properties["process.roles"] == "broker,controller"
    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:9001,CONTROLLER://127.0.0.1:9500"
    assert properties["advertised.listeners"] == "PLAINTEXT://127.0.0.1:9001"
    assert properties["controller.quorum.voters"] == "1@127.0.0.1:9500"
    assert properties["log.dirs"] == "/data"
    assert (node.name, node.is_broker, node.is_controller) == ("broker-1", True, True)


def test_separate_brokers_and_controllers() -> None:
    nodes = nodes_of(2, 3)
    assert [node.name for node in nodes] == [
        *("broker-1", "broker-2"),
        *("controller-101", "controller-102", "controller-103"),
    ]
    broker = server_properties(nodes[0], nodes, Path("/b"))
    controller = server_properties(nodes[2], nodes, Path("/c"))
    assert broker["listeners"] == "PLAINTEXT://127.0.0.1:9001"
    assert controller["listeners"] == "CONTROLLER://127.0.0.1:9101"
    assert "advertised.listeners" not in controller
    voters = "101@127.0.0.1:9101,102@127.0.0.1:9102,103@127.0.0.1:9103"
    assert broker["controller.quorum.voters"] == controller["controller.quorum.voters"] == voters


def test_one_broker_may_have_a_controller_beside_it() -> None:
    assert roles(1, 1) == {1: ("broker",), 101: ("controller",)}


@pytest.mark.parametrize(
    ("brokers", "replicas", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (5, "3", "2")]
)
def test_replication_suits_the_size(brokers: int, replicas: str, in_sync: str) -> None:
    nodes = nodes_of(brokers, 1)
    properties = server_properties(nodes[0], nodes, Path("/data"))
    assert properties.get("default.replication.factor", "1") == replicas
    assert properties["offsets.topic.replication.factor"] == replicas
    assert properties["transaction.state.log.replication.factor"] == replicas
    assert properties.get("min.insync.replicas", "1") == in_sync
    assert properties["transaction.state.log.min.isr"] == in_sync


def test_racks_and_settings_of_a_node() -> None:
    node = Node(1, ("broker",), "127.0.0.1", 9001, rack="a", settings={"min.insync.replicas": "3"})
    properties = server_properties(node, [node], Path("/data"))
    assert properties["broker.rack"] == "a"
    assert properties["min.insync.replicas"] == "3"


@pytest.mark.parametrize(
    ("host", "listener", "address"),
    [
        ("0.0.0.0", "PLAINTEXT://:9001", "127.0.0.1:9001"),
        ("::", "PLAINTEXT://[::]:9001", "[::1]:9001"),
        ("10.1.2.3", "PLAINTEXT://10.1.2.3:9001", "10.1.2.3:9001"),
    ],
)
def test_where_it_listens_and_is_reached(host: str, listener: str, address: str) -> None:
    node = nodes_of(1, 1, host)[0]
    properties = server_properties(node, [node], Path("/data"))
    assert properties["listeners"] == listener
    assert properties["advertised.listeners"] == f"PLAINTEXT://{address}"
    assert client_address(node) == address


def test_escapes() -> None:
    assert as_text({"log.dirs": "/dätä\\x\U0001f600"}) == (
        "log.dirs=/d\\u00e4t\\u00e4\\\\x\\ud83d\\ude00\n"
    )
    assert "fileName=/l\\u00f6g/server.log\n" in logging_properties(Path("/lög"))
