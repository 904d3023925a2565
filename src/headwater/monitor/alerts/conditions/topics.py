"""Conditions on topics: partitions without leader or replicas, and silence."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwater.monitor.alerts.conditions.condition import ANY, Condition, Finding, selector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.metrics.cluster_state import PartitionState
    from headwater.monitor.cluster_monitor import Observation


@dataclass(frozen=True)
class _PartitionsLack(Condition):
    topic: str = ANY

    lack: ClassVar[str]

    @abstractmethod
    def is_lacking(self, partition: PartitionState) -> bool:
        """Tell whether a partition is one of them."""

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the topics."""
        for topic in seen.cluster.topics:
            lacking = [each.index for each in topic.partitions if self.is_lacking(each)]
            if lacking and re.fullmatch(self.topic, topic.name):
                text = f"topic {topic.name}: {_some(lacking)} {self.lack}"
                yield Finding({"topic": topic.name}, len(lacking), text)


@dataclass(frozen=True)
class PartitionUnderReplicated(_PartitionsLack):
    """A partition has replicas that are not in sync."""

    lack = "with replicas out of sync"

    def is_lacking(self, partition: PartitionState) -> bool:
        """Tell whether some are not in sync."""
        return len(partition.in_sync) < len(partition.replicas)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = "kafka_topic_partition_under_replicated_partition"
        return f"sum by (topic) ({metric}{selector('topic', self.topic)}) > 0"


@dataclass(frozen=True)
class PartitionOffline(_PartitionsLack):
    """A partition has no leader: nobody can read or write it."""

    lack = "without a leader"

    def is_lacking(self, partition: PartitionState) -> bool:
        """Tell whether it has none."""
        return partition.leader < 0

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = f"kafka_topic_partition_leader{selector('topic', self.topic)}"
        return f"count by (topic) ({metric} < 0) > 0"


@dataclass(frozen=True)
class TopicIdle(Condition):
    """Nothing was written to a topic that is never quiet, for as long as the rule says."""

    topic: str
    seconds: float

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the topics."""
        for topic, since in seen.quiet_since.items():
            quiet = seen.time_s - since
            if quiet >= self.seconds and re.fullmatch(self.topic, topic):
                text = f"nothing was written to topic {topic} for {quiet:.0f} s"
                yield Finding({"topic": topic}, quiet, text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = f"kafka_partition_latest_offset{selector('topic', self.topic)}"
        return f"sum by (topic) (delta({metric}[{self.seconds:g}s])) == 0"


def _some(partitions: list[int]) -> str:
    named = ", ".join(map(str, partitions[:5])) + (", ..." if len(partitions) > 5 else "")
    return f"{len(partitions)} partitions ({named})" if partitions[1:] else f"partition {named}"
