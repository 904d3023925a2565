"""Conditions on consumer groups: how they are judged, and how far they are behind."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwater.monitor.alerts.conditions.condition import ANY, Condition, Finding, selector
from headwater.monitor.verdicts import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.monitor.cluster_monitor import Observation
    from headwater.monitor.lags import PartitionLag


@dataclass(frozen=True)
class GroupStatus(Condition):
    """A group's verdict is one of these."""

    status: tuple[str, ...]
    group: str = ANY

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
        metric = f"burrow_kafka_consumer_status{selector('consumer_group', self.group)}"
        anyone = " or ".join(f"({metric} == {Status[name]:d})" for name in self.status)
        return f'label_replace({anyone}, "group", "$1", "consumer_group", "(.*)")'


@dataclass(frozen=True)
class _GroupBehind(Condition):
    above: float
    group: str = ANY

    unit: ClassVar[str]
    metric: ClassVar[str]

    @abstractmethod
    def behind(self, lags: Sequence[PartitionLag], seen: Observation) -> float:
        """Return how far a group is behind."""

    def findings(self, seen: Observation) -> Iterator[Finding]:
        """Return the groups."""
        for group, lags in seen.lags.items():
            behind = self.behind(lags, seen)
            if behind > self.above and re.fullmatch(self.group, group):
                text = f"group {group} is {behind:.0f} {self.unit} behind, more than {self.above:g}"
                yield Finding({"group": group}, behind, text)

    @property
    def expression(self) -> str:
        """The same for Prometheus."""
        return f"{self.metric}{selector('group', self.group)} > {self.above:g}"


@dataclass(frozen=True)
class GroupLagSeconds(_GroupBehind):
    """A group has not read a record that is older than so many seconds."""

    unit = "s"
    metric = "kafka_consumergroup_group_max_lag_seconds"

    def behind(self, lags: Sequence[PartitionLag], seen: Observation) -> float:
        """Return the age of the oldest record that it has not read."""
        ages = [lag.seconds(seen.times, seen.time_s) for lag in lags]
        return max((age for age in ages if age is not None), default=0.0)


@dataclass(frozen=True)
class GroupLag(_GroupBehind):
    """A group is behind by more than so many records."""

    unit = "records"
    metric = "kafka_consumergroup_group_sum_lag"

    def behind(self, lags: Sequence[PartitionLag], seen: Observation) -> float:
        """Return how many records it has not read."""
        return sum(lag.records for lag in lags)
