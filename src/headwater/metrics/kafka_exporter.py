"""Topics and groups under the names of kafka_exporter, which most dashboards are made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.metrics.cluster_state import ClusterState, GroupState

_TOPIC = ("topic",)
_PARTITION = ("topic", "partition")
_GROUP = ("consumergroup",)
_GROUP_TOPIC = ("consumergroup", "topic")
_GROUP_PARTITION = ("consumergroup", "topic", "partition")

_NOTHING_COMMITTED = -1


def exporter_families(cluster: ClusterState) -> Iterator[GaugeMetricFamily]:
    """Return the brokers, the topics and the groups."""
    yield GaugeMetricFamily("kafka_brokers", "Brokers in the cluster.", len(cluster.brokers))
    info = GaugeMetricFamily(
        "kafka_broker_info", "Id and address of each broker.", labels=("id", "address")
    )
    for broker in cluster.brokers:
        info.add_metric((str(broker.id), broker.address), 1)
    yield info
    yield from _topics(cluster)
    yield from _groups(cluster)


def _topics(cluster: ClusterState) -> Iterator[GaugeMetricFamily]:
    partitions = GaugeMetricFamily(
        "kafka_topic_partitions", "Partitions of the topic.", labels=_TOPIC
    )
    newest = _gauge("current_offset", "The offset up to which consumers may read.")
    oldest = _gauge("oldest_offset", "The first offset that is still there.")
    leader = _gauge("leader", "The broker that leads the partition.")
    preferred = _gauge("leader_is_preferred", "Whether that is the preferred one.")
    replicas = _gauge("replicas", "Replicas of the partition.")
    in_sync = _gauge("in_sync_replica", "Replicas that are in sync.")
    lacking = _gauge("under_replicated_partition", "Whether some are not in sync.")
    for topic in cluster.topics:
        partitions.add_metric((topic.name,), len(topic.partitions))
        for partition in topic.partitions:
            labels = (topic.name, str(partition.index))
            if partition.high_watermark is not None:
                newest.add_metric(labels, partition.high_watermark)
            if partition.log_start_offset is not None:
                oldest.add_metric(labels, partition.log_start_offset)
            leader.add_metric(labels, partition.leader)
            preferred.add_metric(labels, partition.leader == partition.replicas[0])
            replicas.add_metric(labels, len(partition.replicas))
            in_sync.add_metric(labels, len(partition.in_sync))
            lacking.add_metric(labels, len(partition.in_sync) < len(partition.replicas))
    yield from (partitions, newest, oldest, leader, preferred, replicas, in_sync, lacking)


def _groups(cluster: ClusterState) -> Iterator[GaugeMetricFamily]:
    ends = {
        topic.name: {p.index: p.high_watermark for p in topic.partitions}
        for topic in cluster.topics
    }
    families = _GroupFamilies()
    for group in cluster.groups:
        families.add(group, ends)
    yield from families.all()


class _GroupFamilies:
    """The families of groups, filled group by group."""

    def __init__(self) -> None:
        self._members = GaugeMetricFamily(
            "kafka_consumergroup_members", "Members of the group.", labels=_GROUP
        )
        self._offset = GaugeMetricFamily(
            "kafka_consumergroup_current_offset",
            "The offset that the group has committed; -1 without one.",
            labels=_GROUP_PARTITION,
        )
        self._offset_sum = GaugeMetricFamily(
            "kafka_consumergroup_current_offset_sum",
            "The committed offsets of all partitions of the topic.",
            labels=_GROUP_TOPIC,
        )
        self._lag = GaugeMetricFamily(
            "kafka_consumergroup_lag",
            "How far the group is behind; -1 where it has committed nothing.",
            labels=_GROUP_PARTITION,
        )
        self._lag_sum = GaugeMetricFamily(
            "kafka_consumergroup_lag_sum",
            "How far the group is behind in all partitions of the topic.",
            labels=_GROUP_TOPIC,
        )

    def add(self, group: GroupState, ends: dict[str, dict[int, int | None]]) -> None:
        """Add a group; of each topic that it has committed to, all partitions are shown."""
        name = group.group_id
        self._members.add_metric((name,), group.members)
        for topic, committed in group.offsets.items():
            if topic not in ends:
                continue
            offset_sum = lag_sum = 0
            for index, end in ends[topic].items():
                if end is None:
                    continue
                labels = (name, topic, str(index))
                offset = committed.get(index, _NOTHING_COMMITTED)
                lag = end - offset if index in committed else _NOTHING_COMMITTED
                self._offset.add_metric(labels, offset)
                self._lag.add_metric(labels, lag)
                if index in committed:
                    offset_sum += offset
                    lag_sum += lag
            self._offset_sum.add_metric((name, topic), offset_sum)
            self._lag_sum.add_metric((name, topic), lag_sum)

    def all(self) -> tuple[GaugeMetricFamily, ...]:
        """Return what was added."""
        return self._members, self._offset, self._offset_sum, self._lag, self._lag_sum


def _gauge(name: str, doc: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"kafka_topic_partition_{name}", doc, labels=_PARTITION)
