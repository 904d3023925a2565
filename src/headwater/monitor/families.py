"""Lags under the names of Kafka Lag Exporter, and verdicts under Burrow's.

What kafka_exporter shows is in `headwater.metrics`, since the broker shows it as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.metrics.gauges import Gauges, Labels
from headwater.metrics.kafka_exporter import exporter_families

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.monitor.cluster_monitor import ClusterMonitor, Observation
    from headwater.monitor.lags import PartitionLag

_PARTITION = ("cluster_name", "topic", "partition")
_GROUP = ("cluster_name", "group")
_GROUP_TOPIC = ("cluster_name", "group", "topic")
_GROUP_PARTITION = (*_GROUP_TOPIC, "partition", "member_host", "consumer_id", "client_id")


def cluster_families(monitor: ClusterMonitor) -> Iterator[Gauges]:
    """Return what was seen last; of a cluster that does not answer, that alone."""
    name, seen = monitor.name, monitor.latest
    alone = Labels(("cluster_name",), [(name,)])
    yield Gauges(
        "headwater_monitor_cluster_up",
        "Whether the cluster answered when it was last asked.",
        alone,
        [seen is not None],
    )
    if seen is not None:
        yield from exporter_families(seen.cluster)
        yield from _partitions(name, seen)
        yield from _lags(name, seen)
        yield from _verdicts(name, seen)
        yield from _servers(name, seen)
        yield Gauges(
            "kafka_consumergroup_poll_time_ms",
            "Milliseconds that it took to ask the cluster.",
            alone,
            [seen.took_s * 1000],
        )


def _partitions(name: str, seen: Observation) -> Iterator[Gauges]:
    topics = seen.cluster.topics
    partitions = [each for topic in topics for each in topic.partitions]
    labels = Labels(
        _PARTITION,
        [(name, topic.name, str(each.index)) for topic in topics for each in topic.partitions],
    )
    yield Gauges(
        "kafka_partition_latest_offset",
        "The offset up to which consumers may read.",
        labels,
        [each.high_watermark for each in partitions],
    )
    yield Gauges(
        "kafka_partition_earliest_offset",
        "The first offset that is still there.",
        labels,
        [each.log_start_offset for each in partitions],
    )


def _lags(name: str, seen: Observation) -> Iterator[Gauges]:
    lags = [(group, each) for group, partitions in seen.lags.items() for each in partitions]
    labels = Labels(_GROUP_PARTITION, [_labels(name, group, each) for group, each in lags])
    records = [each.records for _, each in lags]
    ages = [each.seconds(seen.times, seen.time_s) for _, each in lags]
    yield _gauges(
        "group_offset",
        "The offset that the group has committed.",
        labels,
        [each.offset for _, each in lags],
    )
    yield _gauges("group_lag", "How many records the group is behind.", labels, records)
    yield _gauges(
        "group_lag_seconds",
        "The age of the first record that the group has not read, by its timestamp.",
        labels,
        ages,
    )
    yield from _sums(name, seen, records, ages)


def _sums(
    name: str, seen: Observation, records: Sequence[int], ages: Sequence[float | None]
) -> Iterator[Gauges]:
    """Sum up by group, and by group and topic, what there is of partitions in the same order."""
    groups: list[tuple[str, str]] = []
    most: list[int] = []
    longest: list[float | None] = []
    total: list[int] = []
    of_topics: dict[tuple[str, str, str], int] = {}
    start = 0
    for group, partitions in seen.lags.items():
        if not partitions:
            continue
        part = slice(start, start := start + len(partitions))
        groups.append((name, group))
        most.append(max(records[part]))
        longest.append(max((age for age in ages[part] if age is not None), default=None))
        total.append(sum(records[part]))
        for each, behind in zip(partitions, records[part], strict=True):
            place = (name, group, each.topic)
            of_topics[place] = of_topics.get(place, 0) + behind
    labels = Labels(_GROUP, groups)
    yield _gauges("group_max_lag", "The greatest lag of its partitions.", labels, most)
    yield _gauges("group_max_lag_seconds", "The same in seconds.", labels, longest)
    yield _gauges("group_sum_lag", "The lags of its partitions together.", labels, total)
    yield _gauges(
        "group_topic_sum_lag",
        "The same of one topic.",
        Labels(_GROUP_TOPIC, list(of_topics)),
        list(of_topics.values()),
    )


def _verdicts(name: str, seen: Observation) -> Iterator[Gauges]:
    yield Gauges(
        "burrow_kafka_consumer_status",
        "The group's status: 1 OK, 2 WARN, 4 STOP, 5 STALL, 6 REWIND.",
        Labels(("cluster", "consumer_group"), [(name, group) for group in seen.verdicts]),
        [verdict.status for verdict in seen.verdicts.values()],
    )


def _servers(name: str, seen: Observation) -> Iterator[Gauges]:
    places = [disk.place for disk in seen.disks]
    labels = Labels(
        ("cluster_name", "broker", "log_dir"),
        [(name, str(place.broker), place.path) for place in places],
    )
    yield Gauges(
        "kafka_log_dir_total_bytes",
        "How large the disk of the directory is.",
        labels,
        [place.total_bytes for place in places],
    )
    yield Gauges(
        "kafka_log_dir_usable_bytes",
        "How much of it is left.",
        labels,
        [place.usable_bytes for place in places],
    )
    yield Gauges(
        "probe_ssl_earliest_cert_expiry",
        "When the server's certificate expires, in seconds since 1970.",
        Labels(("cluster_name", "address"), [(name, address) for address in seen.certificates]),
        list(seen.certificates.values()),
    )


def _gauges(name: str, doc: str, labels: Labels, values: Sequence[float | None]) -> Gauges:
    return Gauges(f"kafka_consumergroup_{name}", doc, labels, values)


def _labels(name: str, group: str, lag: PartitionLag) -> tuple[str, ...]:
    owner = ("", "", "") if lag.owner is None else lag.owner
    consumer_id, host, client_id = owner
    return (name, group, lag.topic, str(lag.partition), host, consumer_id, client_id)
