"""What a cluster is made of, by an answer to Metadata: it changes seldom and is looked at often.

So an answer that is the same as the one before is not read again, and what is asked of leaders is
not written again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.clients.raw.admin import Node
from headwater.clients.raw.offset_answers import LIST_OFFSETS_VERSION
from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

METADATA_VERSION = 9


class LaidOutPartition(NamedTuple):
    """Where a partition is."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    leader: int
    replicas: Sequence[int]
    in_sync: Sequence[int]


class Layout:
    """The brokers, the topics that are wanted, and who leads what of them."""

    def __init__(self, metadata: Any, wants_topic: Callable[[str], bool]) -> None:
        self.nodes = {
            each.node_id: Node(each.node_id, each.host, each.port) for each in metadata.brokers
        }
        topics = [topic for topic in metadata.topics if wants_topic(topic.name)]
        self.topics = {
            topic.name: _partitions(topic) for topic in topics if topic.error_code == ErrorCode.NONE
        }
        led: dict[Node, dict[str, list[int]]] = {}
        for topic in topics:
            for partition in topic.partitions:
                if partition.leader_id in self.nodes:
                    of_node = led.setdefault(self.nodes[partition.leader_id], {})
                    of_node.setdefault(topic.name, []).append(partition.partition_index)
        self.offset_requests = {
            time: {node: _list_offsets(wanted, time) for node, wanted in led.items()}
            for time in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP)
        }
        """What to ask each leader to be told where all of its partitions start and end."""


class Layouts:
    """Reads answers to Metadata, and remembers the last one."""

    def __init__(self, wants_topic: Callable[[str], bool]) -> None:
        self._wants_topic = wants_topic
        self._last: tuple[bytes, Layout] | None = None

    def read(self, answer: memoryview) -> Layout:
        """Return what an answer says; raises ProtocolError."""
        told = bytes(answer)
        if self._last is None or self._last[0] != told:
            metadata = messages.decode_response(ApiKey.METADATA, METADATA_VERSION, answer)
            self._last = told, Layout(metadata, self._wants_topic)
        return self._last[1]


def _partitions(topic: Any) -> list[LaidOutPartition]:
    return sorted(
        LaidOutPartition(each.partition_index, each.leader_id, each.replica_nodes, each.isr_nodes)
        for each in topic.partitions
    )


def _list_offsets(wanted: Mapping[str, Sequence[int]], time: int) -> bytes:
    body = {
        "replica_id": -1,
        "isolation_level": 0,
        "topics": [
            {
                "name": name,
                "partitions": [
                    {"partition_index": index, "current_leader_epoch": -1, "timestamp": time}
                    for index in partitions
                ],
            }
            for name, partitions in wanted.items()
        ],
    }
    return messages.encode_request(ApiKey.LIST_OFFSETS, LIST_OFFSETS_VERSION, body)
