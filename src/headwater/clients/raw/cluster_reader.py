"""Reads a whole cluster's state with few requests: client libraries ask for each group by itself.

A broker lists the groups that it coordinates. So it is known whom to ask for them, and one request
to each broker does for the offsets of all of its groups.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from headwater.clients.errors import ClientError
from headwater.clients.raw.admin import Node, UnansweredError
from headwater.clients.raw.broker_socket import ask, open_socket
from headwater.clients.raw.cluster_layout import METADATA_VERSION, Layouts
from headwater.clients.raw.group_members import (
    Members,
    classic_members,
    consumer_members,
    share_groups,
)
from headwater.clients.raw.offset_answers import (
    LIST_OFFSETS_VERSION,
    OFFSET_FETCH_VERSION,
    committed_offsets,
    listed_offsets,
)
from headwater.metrics.cluster_state import (
    BrokerState,
    ClusterState,
    GroupState,
    LogDirState,
    PartitionState,
    TopicState,
)
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from headwater.clients.cluster_access import ClusterAccess
    from headwater.clients.raw.broker_socket import Decode
    from headwater.clients.raw.cluster_layout import LaidOutPartition, Layout
    from headwater.metrics.cluster_state import ShareGroupState

Offsets = dict[str, dict[int, int]]

_DESCRIBE_GROUPS_VERSION = 5
_CONSUMER_GROUP_DESCRIBE_VERSION = 0
_SHARE_GROUP_DESCRIBE_VERSION = 1  # Kafka 4.0 tried another one out
_DESCRIBE_LOG_DIRS_VERSION = 4  # the first that tells of the disk
_DEFAULT_PORT = 9092  # librdkafka's as well
# The rest are Kafka's own affairs.
_TYPES = ("", "classic", "consumer")
_SHARE = "share"
_GROUPS_A_REQUEST = 500


class ClusterReader:
    """Keeps a connection to each broker; to be used by one thread at a time."""

    def __init__(
        self,
        access: ClusterAccess,
        wants_topic: Callable[[str], bool] = lambda _: True,
        wants_group: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._access = access
        self._settings = access.librdkafka()
        self._layouts = Layouts(wants_topic)
        self._wants_group = wants_group
        self._sockets: dict[Node, socket.socket] = {}
        self._newest: dict[tuple[Node, ApiKey], int] = {}
        self._nodes: list[Node] = []

    def read(self) -> ClusterState:
        """Return what the brokers say; raises ClientError if none of them answers.

        A broker that does not answer leaves gaps: its partitions have no offsets, and the groups
        that it coordinates are missing.
        """
        layout = self._layout()
        nodes = layout.nodes.values()
        self._forget_others(nodes)
        earliest = self._offsets(layout, EARLIEST_TIMESTAMP)
        latest = self._offsets(layout, LATEST_TIMESTAMP)
        listed = {node: self._listed(node) for node in nodes}
        return ClusterState(
            [BrokerState(node.id, f"{node.host}:{node.port}") for node in nodes],
            [
                _topic(name, partitions, earliest[name], latest[name])
                for name, partitions in layout.topics.items()
            ],
            [group for node, types in listed.items() for group in self._groups(node, types)],
            [place for node in nodes for place in self._log_dirs(node)],
            [group for node, types in listed.items() for group in self._share_groups(node, types)],
        )

    def close(self) -> None:
        """Hang up."""
        for peer in self._sockets.values():
            peer.close()
        self._sockets.clear()
        self._newest.clear()

    def _layout(self) -> Layout:
        failure: UnansweredError | None = None
        for node in self._known_nodes():
            try:
                body = {"topics": None, "allow_auto_topic_creation": False}
                layout: Layout = self._ask(
                    node, ApiKey.METADATA, METADATA_VERSION, body, self._layouts.read
                )
            except UnansweredError as silence:
                failure = silence
            else:
                return layout
        raise failure or ClientError("the cluster has no brokers at the moment. Try again later")

    def _known_nodes(self) -> Iterator[Node]:
        yield from self._nodes
        # At first, and when all whom we knew are gone.
        yield from bootstrap_nodes(self._access.bootstrap_servers)

    def _offsets(self, layout: Layout, time: int) -> Offsets:
        found: Offsets = {name: {} for name in layout.topics}
        for node, body in layout.offset_requests[time].items():
            api, version = ApiKey.LIST_OFFSETS, LIST_OFFSETS_VERSION
            with suppress(UnansweredError):
                for name, offsets in self._ask(node, api, version, body, listed_offsets).items():
                    found.setdefault(name, {}).update(offsets)
        return found

    def _listed(self, node: Node) -> dict[str, str]:
        """Return the types of the groups that a broker coordinates."""
        try:
            version = min(5, self._newest_version(node, ApiKey.LIST_GROUPS))
            listed = self._ask(node, ApiKey.LIST_GROUPS, version, {}).groups
        except UnansweredError:
            return {}
        return {
            each.group_id: str(getattr(each, "group_type", "")).lower()
            for each in listed
            if self._wants_group(each.group_id)
        }

    def _groups(self, node: Node, types: Mapping[str, str]) -> Iterator[GroupState]:
        try:
            for some in _parts([name for name, kind in types.items() if kind in _TYPES]):
                yield from self._described(node, {name: types[name] for name in some})
        except UnansweredError:
            return

    def _share_groups(self, node: Node, types: Mapping[str, str]) -> Iterator[ShareGroupState]:
        try:
            for some in _parts([name for name, kind in types.items() if kind == _SHARE]):
                api = ApiKey.SHARE_GROUP_DESCRIBE
                if self._newest_version(node, api) < _SHARE_GROUP_DESCRIBE_VERSION:
                    return
                body = {"group_ids": some, "include_authorized_operations": False}
                members = self._ask(node, api, _SHARE_GROUP_DESCRIBE_VERSION, body)
                api = ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS
                version = min(1, self._newest_version(node, api))
                body = {"groups": [{"group_id": name, "topics": None} for name in some]}
                offsets = self._ask(node, api, version, body)
                yield from share_groups(members, offsets)
        except UnansweredError:
            return

    def _described(self, node: Node, types: Mapping[str, str]) -> Iterator[GroupState]:
        consumer = [name for name, kind in types.items() if kind == "consumer"]
        classic = [name for name, kind in types.items() if kind != "consumer"]
        members: dict[str, Members] = {}
        if classic:
            body: dict[str, Any] = {"groups": classic}
            answer = self._ask(node, ApiKey.DESCRIBE_GROUPS, _DESCRIBE_GROUPS_VERSION, body)
            members |= classic_members(answer)
        if consumer:
            api, version = ApiKey.CONSUMER_GROUP_DESCRIBE, _CONSUMER_GROUP_DESCRIBE_VERSION
            answer = self._ask(node, api, version, {"group_ids": consumer})
            members |= consumer_members(answer)
        body = {
            "groups": [{"group_id": name, "topics": None} for name in types],
            "require_stable": False,
        }
        api, version = ApiKey.OFFSET_FETCH, OFFSET_FETCH_VERSION
        for name, offsets in self._ask(node, api, version, body, committed_offsets):
            if name in members:
                found = members[name]
                yield GroupState(name, found.state, found.count, offsets, found.owners, types[name])

    def _log_dirs(self, node: Node) -> Iterator[LogDirState]:
        api, version = ApiKey.DESCRIBE_LOG_DIRS, _DESCRIBE_LOG_DIRS_VERSION
        try:
            if self._newest_version(node, api) < version:
                return
            answer = self._ask(node, api, version, {"topics": []})
        except UnansweredError:
            return
        for place in answer.results:
            if place.error_code == ErrorCode.NONE and place.total_bytes >= 0:
                yield LogDirState(node.id, place.log_dir, place.total_bytes, place.usable_bytes)

    def _newest_version(self, node: Node, api_key: ApiKey) -> int:
        if (node, api_key) not in self._newest:
            for api in self._ask(node, ApiKey.API_VERSIONS, 0, {}).api_keys:
                self._newest[node, api.api_key] = api.max_version
        return self._newest[node, api_key]

    def _ask(
        self,
        node: Node,
        api_key: ApiKey,
        version: int,
        body: Mapping[str, Any] | bytes,
        decode: Decode | None = None,
    ) -> Any:
        """Send a request; one that a connection of before does not take is sent on a new one."""
        where = f"{node.host}:{node.port}"
        try:
            while True:
                peer = self._sockets.pop(node, None)
                is_new = peer is None
                if peer is None:
                    peer = open_socket(node.host, node.port, self._settings)
                try:
                    answer = ask(peer, api_key, version, body, decode)
                except BaseException as failure:
                    peer.close()
                    if isinstance(failure, OSError) and not is_new:
                        continue
                    raise
                self._sockets[node] = peer
                return answer
        except OSError as failure:
            raise UnansweredError(f"asking {where} failed: {failure}") from failure
        except ProtocolError as failure:
            raise ClientError(f"the answer of {where} makes no sense: {failure}") from failure

    def _forget_others(self, nodes: Iterable[Node]) -> None:
        self._nodes = list(nodes)
        for gone in self._sockets.keys() - set(self._nodes):
            self._sockets.pop(gone).close()


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _GROUPS_A_REQUEST):
        yield names[start : start + _GROUPS_A_REQUEST]


def bootstrap_nodes(servers: str) -> list[Node]:
    """Return the brokers of `bootstrap.servers`, whose ids are not known yet.

    >>> bootstrap_nodes("SSL://[::1]:9094, localhost")
    [Node(id=-1, host='::1', port=9094), Node(id=-1, host='localhost', port=9092)]
    """
    parts = [urlsplit(f"//{server.strip().rpartition('://')[2]}") for server in servers.split(",")]
    return [Node(-1, part.hostname or "", part.port or _DEFAULT_PORT) for part in parts]


def _topic(
    name: str,
    partitions: Sequence[LaidOutPartition],
    earliest: Mapping[int, int],
    latest: Mapping[int, int],
) -> TopicState:
    return TopicState(
        name,
        [
            PartitionState(index, leader, replicas, in_sync, earliest.get(index), latest.get(index))
            for index, leader, replicas, in_sync in partitions
        ],
    )
