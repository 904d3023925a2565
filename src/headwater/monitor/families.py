"""Lags under the names of Kafka Lag Exporter, and verdicts under Burrow's.

What kafka_exporter shows is in `headwater.metrics`, since the broker shows it as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from headwater.metrics.kafka_exporter import exporter_families

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.monitor.cluster_monitor import ClusterMonitor, Observation
    from headwater.monitor.lags import PartitionLag

_PARTITION = ("cluster_name", "topic", "partition")
_GROUP = ("cluster_name", "group")
_GROUP_TOPIC = ("cluster_name", "group", "topic")
_GROUP_PARTITION = (*_GROUP_TOPIC, "partition", "member_host", "consumer_id", "client_id")


class ClusterFamilies:
    """What a registry of Prometheus asks at each scrape."""

    def __init__(self, monitor: ClusterMonitor) -> None:
        self._monitor = monitor

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return what was seen last; of a cluster that does not answer, that alone."""
        name, seen = self._monitor.name, self._monitor.latest
        up = GaugeMetricFamily(
            "headwater_monitor_cluster_up",
            "Whether the cluster answered when it was last asked.",
            labels=("cluster_name",),
        )
        up.add_metric((name,), seen is not None)
        yield up
        if seen is not None:
            yield from exporter_families(seen.cluster)
            yield from _partitions(name, seen)
            yield from _lags(name, seen)
            yield from _verdicts(name, seen)
            yield from _servers(name, seen)
            took = GaugeMetricFamily(
                "kafka_consumergroup_poll_time_ms",
                "Milliseconds that it took to ask the cluster.",
                labels=("cluster_name",),
            )
            took.add_metric((name,), seen.took_s * 1000)
            yield took


def _partitions(name: str, seen: Observation) -> Iterator[GaugeMetricFamily]:
    latest = GaugeMetricFamily(
        "kafka_partition_latest_offset",
        "The offset up to which consumers may read.",
        labels=_PARTITION,
    )
    earliest = GaugeMetricFamily(
        "kafka_partition_earliest_offset",
        "The first offset that is still there.",
        labels=_PARTITION,
    )
    for topic in seen.cluster.topics:
        for partition in topic.partitions:
            labels = (name, topic.name, str(partition.index))
            if partition.high_watermark is not None:
                latest.add_metric(labels, partition.high_watermark)
            if partition.log_start_offset is not None:
                earliest.add_metric(labels, partition.log_start_offset)
    yield from (latest, earliest)


def _lags(name: str, seen: Observation) -> Iterator[GaugeMetricFamily]:
    offset = _family("group_offset", "The offset that the group has committed.", _GROUP_PARTITION)
    lag = _family("group_lag", "How many records the group is behind.", _GROUP_PARTITION)
    seconds = _family(
        "group_lag_seconds",
        "The age of the first record that the group has not read, by its timestamp.",
        _GROUP_PARTITION,
    )
    most = _family("group_max_lag", "The greatest lag of its partitions.", _GROUP)
    longest = _family("group_max_lag_seconds", "The same in seconds.", _GROUP)
    total = _family("group_sum_lag", "The lags of its partitions together.", _GROUP)
    of_topic = _family("group_topic_sum_lag", "The same of one topic.", _GROUP_TOPIC)
    for group, partitions in seen.lags.items():
        topics: dict[str, int] = {}
        ages = []
        for each in partitions:
            labels = _labels(name, group, each)
            offset.add_metric(labels, each.offset)
            lag.add_metric(labels, each.records)
            topics[each.topic] = topics.get(each.topic, 0) + each.records
            age = each.seconds(seen.times, seen.time_s)
            if age is not None:
                seconds.add_metric(labels, age)
                ages.append(age)
        if partitions:
            most.add_metric((name, group), max(each.records for each in partitions))
            total.add_metric((name, group), sum(topics.values()))
        if ages:
            longest.add_metric((name, group), max(ages))
        for topic, records in topics.items():
            of_topic.add_metric((name, group, topic), records)
    yield from (offset, lag, seconds, most, longest, total, of_topic)


def _verdicts(name: str, seen: Observation) -> Iterator[GaugeMetricFamily]:
    status = GaugeMetricFamily(
        "burrow_kafka_consumer_status",
        "The group's status: 1 OK, 2 WARN, 4 STOP, 5 STALL, 6 REWIND.",
        labels=("cluster", "consumer_group"),
    )
    for group, verdict in seen.verdicts.items():
        status.add_metric((name, group), verdict.status)
    yield status


def _servers(name: str, seen: Observation) -> Iterator[GaugeMetricFamily]:
    labels = ("cluster_name", "broker", "log_dir")
    total = GaugeMetricFamily(
        "kafka_log_dir_total_bytes", "How large the disk of the directory is.", labels=labels
    )
    usable = GaugeMetricFamily(
        "kafka_log_dir_usable_bytes", "How much of it is left.", labels=labels
    )
    for place, _ in seen.disks:
        of_place = (name, str(place.broker), place.path)
        total.add_metric(of_place, place.total_bytes)
        usable.add_metric(of_place, place.usable_bytes)
    yield from (total, usable)
    expiry = GaugeMetricFamily(
        "probe_ssl_earliest_cert_expiry",
        "When the server's certificate expires, in seconds since 1970.",
        labels=("cluster_name", "address"),
    )
    for address, expires_s in seen.certificates.items():
        expiry.add_metric((name, address), expires_s)
    yield expiry


def _family(name: str, doc: str, labels: Sequence[str]) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"kafka_consumergroup_{name}", doc, labels=labels)


def _labels(name: str, group: str, lag: PartitionLag) -> tuple[str, ...]:
    owner = ("", "", "") if lag.owner is None else lag.owner
    consumer_id, host, client_id = owner
    return (name, group, lag.topic, str(lag.partition), host, consumer_id, client_id)
