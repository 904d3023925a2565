"""Asks brokers what confluent-kafka's admin client has no call for, over sockets of its own."""

from __future__ import annotations

import socket
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.cli.connection import REQUEST_WITHIN_S
from headwater.cli.errors import CommandError
from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey, is_flexible
from headwater.protocol.errors import ErrorCode
from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cli.connection import Connection

_CLIENT_ID = b"headwater"
_HEADER = Struct(">hhih")
_SIZE = Struct(">i")
_MOST_BYTES = 64 << 20
_TRANSACTION_COORDINATOR = 1


class Node(NamedTuple):
    """A broker of the cluster."""

    id: int
    host: str
    port: int


class RawAdmin:
    """Sends single requests to chosen brokers; the cluster is found by the connection's client."""

    def __init__(self, connection: Connection) -> None:
        protocol = connection.properties.get("security.protocol", "PLAINTEXT").upper()
        if protocol != "PLAINTEXT":
            raise CommandError(
                f"this command cannot use security.protocol={protocol} yet. "
                "Run it against a plaintext listener of the broker"
            )
        self._connection = connection

    def brokers(self) -> list[Node]:
        """Return all brokers of the cluster."""
        described = self._connection.result(self._connection.admin.describe_cluster())
        return [Node(node.id, node.host, node.port) for node in described.nodes]

    def leader_of(self, topic: str, partition: int) -> Node:
        """Return the broker that leads a partition."""
        partitions = self._connection.describe_topic(topic).partitions
        if partition >= len(partitions):
            raise CommandError(f"{topic} has {len(partitions)} partitions, and no {partition}")
        leader = partitions[partition].leader
        if leader is None:
            raise CommandError(f"{topic}-{partition} has no leader at the moment. Try again later")
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

    def ask(self, node: Node, api_key: ApiKey, version: int, body: Mapping[str, Any]) -> Any:
        """Send one request and return the answer; raises CommandError if there is none."""
        flexible = is_flexible(api_key, version)
        head = _HEADER.pack(api_key, version, 1, len(_CLIENT_ID)) + _CLIENT_ID
        frame = head + (b"\0" if flexible else b"")
        frame += messages.encode_request(api_key, version, body)
        where = f"{node.host}:{node.port}"
        try:
            with socket.create_connection((node.host, node.port), REQUEST_WITHIN_S) as peer:
                peer.sendall(_SIZE.pack(len(frame)) + frame)
                (size,) = _SIZE.unpack(_read(peer, _SIZE.size))
                if not 0 < size <= _MOST_BYTES:
                    raise CommandError(f"{where} answered with {size} bytes: is it a broker?")
                answer = memoryview(_read(peer, size))
            return messages.decode_response(api_key, version, answer, 5 if flexible else 4)
        except OSError as failure:
            raise CommandError(f"asking {where} failed: {failure}") from failure
        except ProtocolError as failure:
            raise CommandError(f"the answer of {where} makes no sense: {failure}") from failure


def check(error_code: int, doing: str) -> None:
    """Raise CommandError for anything but success."""
    if error_code != ErrorCode.NONE:
        raise CommandError(f"{doing} failed: {error_name(error_code)}")


def error_name(error_code: int) -> str:
    """Return Kafka's name of an error code."""
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return f"error {error_code}, which only a later version knows"


def _read(peer: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            raise ConnectionError("it hung up; it may not know this request")
        data += part
    return bytes(data)
