"""What a rule can check: in what the monitor saw, and as an expression of Prometheus."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from headwater.monitor.verdicts import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.monitor.cluster_monitor import Observation

_ANY = ".*"


class Finding(NamedTuple):
    """Something for which a condition holds."""

    labels: Mapping[str, str]
    """What it is, under the labels that the expression's results have as well."""
    value: float
    message: str


class Condition(ABC):
    """One kind of check; its fields are what a rule can say of it."""

    @abstractmethod
    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return everything for which it holds."""

    @property
    @abstractmethod
    def expression(self) -> str:
        """The same for Prometheus."""


@dataclass(frozen=True)
class GroupStatus(Condition):
    """A group's verdict is one of these."""

    status: tuple[str, ...]
    group: str = _ANY

    def __post_init__(self) -> None:
        for name in self.status:
            if name not in Status.__members__:
                known = ", ".join(status.name for status in Status)
                raise ValueError(f"status has no '{name}'; there are {known}")

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the groups."""
        for group, verdict in seen.verdicts.items():
            if verdict.status.name in self.status and re.fullmatch(self.group, group):
                text = f"group {group} is {verdict.status.name}: {verdict.reason}"
                yield Finding({"group": group}, verdict.status, text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = f"burrow_kafka_consumer_status{_selector('consumer_group', self.group)}"
        anyone = " or ".join(f"({metric} == {Status[name]:d})" for name in self.status)
        return f'label_replace({anyone}, "group", "$1", "consumer_group", "(.*)")'


@dataclass(frozen=True)
class GroupLagSeconds(Condition):
    """A group has not read a record that is older than so many seconds."""

    above: float
    group: str = _ANY

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the groups."""
        for group, lags in seen.lags.items():
            ages = [lag.seconds(seen.times, seen.time_s) for lag in lags]
            oldest = max((age for age in ages if age is not None), default=0.0)
            if oldest > self.above and re.fullmatch(self.group, group):
                text = f"group {group} is {oldest:.0f} s behind, more than {self.above:g} s"
                yield Finding({"group": group}, oldest, text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = "kafka_consumergroup_group_max_lag_seconds"
        return f"{metric}{_selector('group', self.group)} > {self.above:g}"


@dataclass(frozen=True)
class GroupLag(Condition):
    """A group is behind by more than so many records."""

    above: float
    group: str = _ANY

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the groups."""
        for group, lags in seen.lags.items():
            records = sum(lag.records for lag in lags)
            if records > self.above and re.fullmatch(self.group, group):
                text = f"group {group} is {records} records behind, more than {self.above:g}"
                yield Finding({"group": group}, records, text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = "kafka_consumergroup_group_sum_lag"
        return f"{metric}{_selector('group', self.group)} > {self.above:g}"


@dataclass(frozen=True)
class PartitionUnderReplicated(Condition):
    """A partition has replicas that are not in sync."""

    topic: str = _ANY

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the topics."""
        for topic in seen.cluster.topics:
            lacking = [p.index for p in topic.partitions if len(p.in_sync) < len(p.replicas)]
            if lacking and re.fullmatch(self.topic, topic.name):
                text = f"topic {topic.name}: {_some(lacking)} with replicas out of sync"
                yield Finding({"topic": topic.name}, len(lacking), text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = "kafka_topic_partition_under_replicated_partition"
        return f"sum by (topic) ({metric}{_selector('topic', self.topic)}) > 0"


@dataclass(frozen=True)
class PartitionOffline(Condition):
    """A partition has no leader: nobody can read or write it."""

    topic: str = _ANY

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the topics."""
        for topic in seen.cluster.topics:
            offline = [p.index for p in topic.partitions if p.leader < 0]
            if offline and re.fullmatch(self.topic, topic.name):
                text = f"topic {topic.name}: {_some(offline)} without a leader"
                yield Finding({"topic": topic.name}, len(offline), text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        metric = f"kafka_topic_partition_leader{_selector('topic', self.topic)}"
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
        metric = f"kafka_partition_latest_offset{_selector('topic', self.topic)}"
        return f"sum by (topic) (delta({metric}[{self.seconds:g}s])) == 0"


CONDITIONS: dict[str, type[Condition]] = {
    "group-status": GroupStatus,
    "group-lag-seconds": GroupLagSeconds,
    "group-lag": GroupLag,
    "partition-under-replicated": PartitionUnderReplicated,
    "partition-offline": PartitionOffline,
    "topic-idle": TopicIdle,
}
"""By the names that rules have for them."""


def _selector(label: str, pattern: str) -> str:
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return "" if pattern == _ANY else f'{{{label}=~"{escaped}"}}'


def _some(partitions: list[int]) -> str:
    named = ", ".join(map(str, partitions[:5])) + (", ..." if len(partitions) > 5 else "")
    return f"{len(partitions)} partitions ({named})" if partitions[1:] else f"partition {named}"
