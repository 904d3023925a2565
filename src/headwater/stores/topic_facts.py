"""What there is to know of a table's topic before it is followed, and whether it still is true."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.clients.connection import REQUEST_WITHIN_S
from headwater.stores.errors import StoreError

if TYPE_CHECKING:
    from headwater.clients.connection import Connection
    from headwater.stores.table import FollowedTable


@dataclass(frozen=True)
class TopicFacts:
    """A topic as it was when it was looked at; `ends` is where its partitions ended."""

    id: str
    partitions: int
    tombstones_s: float
    """How long compaction keeps tombstones."""
    ends: dict[int, int] = field(compare=False)

    def forgets_since(self, moment: float) -> bool:
        """Tell whether keys may have been deleted since, with no tombstone left to tell."""
        return time.time() - moment > self.tombstones_s


def topic_facts(connection: Connection, table: FollowedTable) -> TopicFacts:
    """Ask the cluster; raises StoreError where there is no such topic."""
    described = connection.find_topic(table.topic)
    if described is None:
        raise StoreError(f"there is no topic {table.topic!r} yet: start the program that writes it")
    if table.batches is not None and connection.find_topic(table.batches) is None:
        raise StoreError(
            f"there is no topic {table.batches!r} yet: start the program that writes {table.topic}"
        )
    partitions = len(described.partitions)
    return TopicFacts(
        str(described.topic_id),
        partitions,
        _delete_retention_s(connection, table.topic),
        _ends(connection, table.topic, partitions),
    )


def is_same_topic(connection: Connection, table: FollowedTable, facts: TopicFacts) -> bool:
    """Tell whether a topic is the one that was looked at, with as many partitions."""
    described = connection.find_topic(table.topic)
    return described is not None and (
        (str(described.topic_id), len(described.partitions)) == (facts.id, facts.partitions)
    )


def _ends(connection: Connection, topic: str, partitions: int) -> dict[int, int]:
    from confluent_kafka import IsolationLevel, TopicPartition
    from confluent_kafka.admin import OffsetSpec

    # As the reader sees it: what is not committed yet is not there.
    asked = {TopicPartition(topic, each): OffsetSpec.latest() for each in range(partitions)}
    answers = connection.admin.list_offsets(
        asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=REQUEST_WITHIN_S
    )
    return {
        place.partition: int(connection.result(answer).offset) for place, answer in answers.items()
    }


def _delete_retention_s(connection: Connection, topic: str) -> float:
    from confluent_kafka.admin import ConfigResource, ResourceType

    resource = ConfigResource(ResourceType.TOPIC, topic)
    answer = connection.admin.describe_configs([resource])[resource]
    return float(connection.result(answer)["delete.retention.ms"].value) / 1000
