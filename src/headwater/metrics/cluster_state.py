"""A cluster at one moment: its brokers, topics and groups, whoever has looked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class BrokerState(NamedTuple):
    """A broker that its cluster counts as alive."""

    id: int
    address: str


class PartitionState(NamedTuple):
    """A partition; its offsets are None where its leader did not tell."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    leader: int
    """The broker's id; -1 where there is none."""
    replicas: Sequence[int]
    in_sync: Sequence[int]
    log_start_offset: int | None
    high_watermark: int | None


class TopicState(NamedTuple):
    """A topic."""

    name: str
    partitions: Sequence[PartitionState]


class Owner(NamedTuple):
    """The member of a group that reads a partition."""

    consumer_id: str
    host: str
    client_id: str


class GroupState(NamedTuple):
    """A group: how many members it has, what they read, and how far it has come."""

    group_id: str
    state: str
    members: int
    offsets: Mapping[str, Mapping[int, int]]
    """What was committed, by topic and partition."""
    owners: Mapping[tuple[str, int], Owner]
    kind: str = ""
    """classic or consumer; empty where the broker is too old to tell."""


class SharePartition(NamedTuple):
    """A partition that a share group reads, as its coordinator tells; None is what it does not."""

    start_offset: int | None
    """All before it is done with."""
    lag: int | None
    readers: Sequence[Owner]


class ShareGroupState(NamedTuple):
    """A share group: its members read the same partitions together."""

    group_id: str
    state: str
    members: int
    partitions: Mapping[tuple[str, int], SharePartition]


class LogDirState(NamedTuple):
    """A directory in which a broker keeps its logs, and the disk that it is on."""

    broker: int
    path: str
    total_bytes: int
    usable_bytes: int


class ClusterState(NamedTuple):
    """All that was seen."""

    brokers: Sequence[BrokerState]
    topics: Sequence[TopicState]
    groups: Sequence[GroupState]
    log_dirs: Sequence[LogDirState] = ()
    """Of brokers that tell how large their disks are; Apache Kafka does from 3.3 on."""
    share_groups: Sequence[ShareGroupState] = ()
    """Of brokers that have some; Apache Kafka does from 4.1 on."""
