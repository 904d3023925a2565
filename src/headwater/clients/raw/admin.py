"""Asks brokers what confluent-kafka's admin client has no call for, over sockets of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.clients.errors import ClientError
from headwater.clients.raw.broker_socket import ask, open_socket
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients.connection import Connection

_TRANSACTION_COORDINATOR = 1


class Node(NamedTuple):
    """A broker of the cluster."""

    id: int
    host: str
    port: int


class UnansweredError(ClientError):
    """A broker did not answer."""


class RawAdmin:
    """Sends single requests to chosen brokers; the cluster is found by the connection's client."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._settings = connection.access.librdkafka()

    def brokers(self) -> list[Node]:
        """Return all brokers of the cluster."""
        described = self._connection.result(self._connection.admin.describe_cluster())
        return [Node(node.id, node.host, node.port) for node in described.nodes]

    def leader_of(self, topic: str, partition: int) -> Node:
        """Return the broker that leads a partition."""
        partitions = self._connection.describe_topic(topic).partitions
        if partition >= len(partitions):
            raise ClientError(f"{topic} has {len(partitions)} partitions, and no {partition}")
        leader = partitions[partition].leader
        if leader is None:
            raise ClientError(f"{topic}-{partition} has no leader at the moment. Try again later")
        return Node(leader.id, leader.host, leader.port)

    def coordinator_of(self, transactional_id: str) -> Node:
        """Return the broker that coordinates a transactional id."""
        answer = self.ask(
            self.brokers()[0],
            ApiKey.FIND_COORDINATOR,
            4,
            {"key_type": _TRANSACTION_COORDINATOR, "coordinator_keys": [transactional_id]},
        )
        (found,) = answer.coordinators
        check(found.error_code, f"finding the coordinator of '{transactional_id}'")
        return Node(found.node_id, found.host, found.port)

    def ask_any(self, api_key: ApiKey, version: int, body: Mapping[str, Any]) -> Any:
        """Ask one broker after the other until one answers: one may just have died."""
        *others, last = self.brokers()
        for node in others:
            try:
                return self.ask(node, api_key, version, body)
            except UnansweredError:
                continue
        return self.ask(last, api_key, version, body)

    def ask(self, node: Node, api_key: ApiKey, version: int, body: Mapping[str, Any]) -> Any:
        """Send one request and return the answer; raises ClientError if there is none."""
        where = f"{node.host}:{node.port}"
        try:
            with open_socket(node.host, node.port, self._settings) as peer:
                return ask(peer, api_key, version, body)
        except OSError as failure:
            raise UnansweredError(f"asking {where} failed: {failure}") from failure
        except ProtocolError as failure:
            raise ClientError(f"the answer of {where} makes no sense: {failure}") from failure


def check(error_code: int, doing: str) -> None:
    """Raise ClientError for anything but success."""
    if error_code != ErrorCode.NONE:
        raise ClientError(f"{doing} failed: {error_name(error_code)}")


def error_name(error_code: int) -> str:
    """Return Kafka's name of an error code."""
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return f"error {error_code}, which only a later version knows"
