"""Topics: listed, described, created, changed, emptied and deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.clients.connection import REQUEST_WITHIN_S, check_topic_name
from headwater.clients.errors import UnknownTopicError
from headwater.clients.raw.config_documentation import DocumentedSetting, documented_settings
from headwater.console.model.paging import Page, Wanted, page_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Future

    from headwater.console.model.cluster import Cluster
    from headwater.metrics.cluster_state import PartitionState, TopicState


@dataclass(frozen=True)
class TopicRow:
    """A topic in a list."""

    name: str
    partitions: int
    replication: int
    records: int
    size: int | None
    rate: float | None
    under_replicated: int

    @property
    def is_internal(self) -> bool:
        """Whether it is the platform's own affair."""
        return self.name.startswith("_")


@dataclass(frozen=True)
class PartitionRow:
    """A partition, with its bytes where its leader tells."""

    state: PartitionState
    size: int | None

    @property
    def records(self) -> int | None:
        """How many offsets there are; fewer records, where some were compacted."""
        first, end = self.state.log_start_offset, self.state.high_watermark
        return None if first is None or end is None else end - first


@dataclass(frozen=True)
class Prefix:
    """Topics whose names start alike: a branch of the tree."""

    name: str
    topics: int


class Topics:
    """All methods block."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def page(
        self, wanted: Wanted, *, prefix: str = "", with_internal: bool = False
    ) -> Page[TopicRow]:
        """Return a page of the list."""
        rows = [
            row
            for row in self.all()
            if (with_internal or not row.is_internal) and row.name.startswith(prefix)
        ]
        columns = {
            "name": lambda row: row.name,
            "partitions": lambda row: row.partitions,
            "records": lambda row: row.records,
            "size": lambda row: row.size,
            "rate": lambda row: row.rate,
        }
        return page_of(rows, wanted, lambda row: row.name, columns)

    def all(self) -> list[TopicRow]:
        """Return all topics."""
        look, sizes = self._cluster.look(), self._cluster.sizes()
        return [
            TopicRow(
                topic.name,
                len(topic.partitions),
                max((len(each.replicas) for each in topic.partitions), default=0),
                records_of(topic),
                sizes.get(topic.name),
                look.rates.get(topic.name),
                sum(is_under_replicated(each) for each in topic.partitions),
            )
            for topic in look.state.topics
        ]

    def prefixes(self, prefix: str = "", *, with_internal: bool = False) -> list[Prefix]:
        """Return the next branches of the tree, by what stands before the next dot, - or _."""
        counts: dict[str, int] = {}
        for name in self._cluster.look().topics:
            if not name.startswith(prefix) or (name.startswith("_") and not with_internal):
                continue
            branch = _branch(name, len(prefix))
            if branch is not None:
                counts[branch] = counts.get(branch, 0) + 1
        return [Prefix(name, count) for name, count in sorted(counts.items()) if count > 1]

    def state(self, topic: str) -> TopicState:
        """Return a topic; raises UnknownTopicError."""
        topics = self._cluster.look().topics
        if topic not in topics:
            topics = self._cluster.look_again().topics
        if topic not in topics:
            raise UnknownTopicError(topic, topics)
        return topics[topic]

    def partitions(self, topic: str) -> list[PartitionRow]:
        """Return a topic's partitions."""
        sizes = {
            (directory.broker, place): size
            for directory in self._cluster.directories()
            for place, size in directory.partitions.items()
            if place[0] == topic
        }
        return [
            PartitionRow(each, sizes.get((each.leader, (topic, each.index))))
            for each in self.state(topic).partitions
        ]

    def settings(self, topic: str) -> Sequence[DocumentedSetting]:
        """Return a topic's settings, with what they mean."""
        return documented_settings(self._cluster.raw, check_topic_name(topic))

    def create(self, topic: str, partitions: int, replication: int, settings: str) -> None:
        """Create a topic; settings are lines of NAME=VALUE."""
        from confluent_kafka.admin import NewTopic

        wanted = NewTopic(
            check_topic_name(topic),
            num_partitions=partitions,
            replication_factor=replication,
            config=assignments(settings),
        )
        self._wait(self._cluster.connection.admin.create_topics([wanted]))

    def set(self, topic: str, changes: Mapping[str, str | None]) -> None:
        """Change settings; None takes a topic's own back."""
        from confluent_kafka.admin import (
            AlterConfigOpType,
            ConfigEntry,
            ConfigResource,
            ResourceType,
        )

        entries = [
            ConfigEntry(
                name,
                value,
                incremental_operation=(
                    AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
                ),
            )
            for name, value in changes.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
        self._wait(self._cluster.connection.admin.incremental_alter_configs([resource]))

    def purge(self, topic: str) -> None:
        """Delete all records up to now, and leave the topic."""
        from confluent_kafka import TopicPartition

        places = [
            TopicPartition(topic, each.index, each.high_watermark)
            for each in self._cluster.look_again().topics[topic].partitions
            if each.high_watermark is not None
        ]
        self._wait(self._cluster.connection.admin.delete_records(places))

    def delete(self, topic: str) -> None:
        """Delete a topic with all that is in it."""
        self._wait(self._cluster.connection.admin.delete_topics([check_topic_name(topic)]))

    def _wait(self, futures: Mapping[object, Future[object]]) -> None:
        for future in futures.values():
            self._cluster.connection.result(future, REQUEST_WITHIN_S)
        self._cluster.changed()


def records_of(topic: TopicState) -> int:
    """Return how many offsets a topic has."""
    return sum(
        (each.high_watermark or 0) - (each.log_start_offset or 0) for each in topic.partitions
    )


def is_under_replicated(partition: PartitionState) -> bool:
    """Whether some replica is not in sync."""
    return len(partition.in_sync) < len(partition.replicas)


def assignments(text: str) -> dict[str, str]:
    """Read lines of NAME=VALUE; raises ValueError.

    >>> assignments("retention.ms=1000")
    {'retention.ms': '1000'}
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"'{line.strip()}' is not of the form NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


def _branch(name: str, start: int) -> str | None:
    ends = [place for mark in ".-_" if (place := name.find(mark, start + 1)) >= 0]
    return name[: min(ends) + 1] if ends else None
