"""Topics and groups under the names of kafka_exporter, which most dashboards are made for."""

from __future__ import annotations

from operator import lt
from typing import TYPE_CHECKING

from headwater.metrics.gauges import Gauges, Labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from headwater.metrics.cluster_state import ClusterState, GroupState

_TOPIC = ("topic",)
_PARTITION = ("topic", "partition")
_GROUP = ("consumergroup",)
_GROUP_TOPIC = ("consumergroup", "topic")
_GROUP_PARTITION = ("consumergroup", "topic", "partition")

_NOTHING_COMMITTED = -1


def exporter_families(cluster: ClusterState) -> Iterator[Gauges]:
    """Return the brokers, the topics and the groups."""
    yield Gauges.single("kafka_brokers", "Brokers in the cluster.", len(cluster.brokers))
    addresses = [(str(broker.id), broker.address) for broker in cluster.brokers]
    yield Gauges(
        "kafka_broker_info",
        "Id and address of each broker.",
        Labels(("id", "address"), addresses),
        [1] * len(addresses),
    )
    yield from _topics(cluster)
    yield from _groups(cluster)


def _topics(cluster: ClusterState) -> Iterator[Gauges]:
    topics = cluster.topics
    yield Gauges(
        "kafka_topic_partitions",
        "Partitions of the topic.",
        Labels(_TOPIC, [(topic.name,) for topic in topics]),
        [len(topic.partitions) for topic in topics],
    )
    labels = Labels(
        _PARTITION, [(topic.name, str(each.index)) for topic in topics for each in topic.partitions]
    )
    partitions = [each for topic in topics for each in topic.partitions]

    def gauges(name: str, doc: str, values: Sequence[float | None]) -> Gauges:
        return Gauges(f"kafka_topic_partition_{name}", doc, labels, values)

    yield gauges(
        "current_offset",
        "The offset up to which consumers may read.",
        [each.high_watermark for each in partitions],
    )
    yield gauges(
        "oldest_offset",
        "The first offset that is still there.",
        [each.log_start_offset for each in partitions],
    )
    yield gauges(
        "leader", "The broker that leads the partition.", [each.leader for each in partitions]
    )
    yield gauges(
        "leader_is_preferred",
        "Whether that is the preferred one.",
        [each.leader == each.replicas[0] for each in partitions],
    )
    replicas = [len(each.replicas) for each in partitions]
    in_sync = [len(each.in_sync) for each in partitions]
    yield gauges("replicas", "Replicas of the partition.", replicas)
    yield gauges("in_sync_replica", "Replicas that are in sync.", in_sync)
    yield gauges(
        "under_replicated_partition",
        "Whether some are not in sync.",
        list(map(lt, in_sync, replicas)),
    )


def _groups(cluster: ClusterState) -> Iterator[Gauges]:
    ends = {
        topic.name: {p.index: p.high_watermark for p in topic.partitions}
        for topic in cluster.topics
    }
    columns = _GroupColumns()
    for group in cluster.groups:
        columns.add(group, ends)
    yield Gauges(
        "kafka_consumergroup_members",
        "Members of the group.",
        Labels(_GROUP, [(group.group_id,) for group in cluster.groups]),
        [group.members for group in cluster.groups],
    )
    yield from columns.families()


class _GroupColumns:
    """The columns of groups' offsets, filled group by group."""

    def __init__(self) -> None:
        self._partitions: list[tuple[str, str, str]] = []
        self._offsets: list[int] = []
        self._lags: list[int] = []
        self._topics: list[tuple[str, str]] = []
        self._offset_sums: list[int] = []
        self._lag_sums: list[int] = []

    def add(self, group: GroupState, ends: Mapping[str, Mapping[int, int | None]]) -> None:
        """Add a group; of each topic that it has committed to, all partitions are shown."""
        name = group.group_id
        for topic, committed in group.offsets.items():
            if topic not in ends:
                continue
            offset_sum = lag_sum = 0
            for index, end in ends[topic].items():
                if end is None:
                    continue
                offset = lag = _NOTHING_COMMITTED
                if index in committed:
                    offset = committed[index]
                    lag = end - offset
                    offset_sum += offset
                    lag_sum += lag
                self._partitions.append((name, topic, str(index)))
                self._offsets.append(offset)
                self._lags.append(lag)
            self._topics.append((name, topic))
            self._offset_sums.append(offset_sum)
            self._lag_sums.append(lag_sum)

    def families(self) -> Iterator[Gauges]:
        """Return what was added."""
        partitions = Labels(_GROUP_PARTITION, self._partitions)
        topics = Labels(_GROUP_TOPIC, self._topics)
        yield Gauges(
            "kafka_consumergroup_current_offset",
            "The offset that the group has committed; -1 without one.",
            partitions,
            self._offsets,
        )
        yield Gauges(
            "kafka_consumergroup_current_offset_sum",
            "The committed offsets of all partitions of the topic.",
            topics,
            self._offset_sums,
        )
        yield Gauges(
            "kafka_consumergroup_lag",
            "How far the group is behind; -1 where it has committed nothing.",
            partitions,
            self._lags,
        )
        yield Gauges(
            "kafka_consumergroup_lag_sum",
            "How far the group is behind in all partitions of the topic.",
            topics,
            self._lag_sums,
        )
