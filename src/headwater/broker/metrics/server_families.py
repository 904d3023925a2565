"""The broker's own numbers, under the names that Kafka's get from Prometheus' JMX exporter."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from headwater.broker.metrics.snapshot import Traffic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.broker.metrics.durations import Durations
    from headwater.broker.metrics.snapshot import Snapshot
    from headwater.protocol.api_keys import ApiKey

_SHORTEST_US = 64
_LONGEST_US = 1 << 26
"""The bounds of the histograms: from 64 microseconds to 67 seconds."""

_GROUP_STATES = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead")


def server_families(snapshot: Snapshot) -> Iterator[Metric]:
    """Return traffic, logs, requests, connections, fetch sessions, groups, quotas and rights."""
    yield from _traffic(snapshot)
    yield from _logs(snapshot)
    yield from _requests(snapshot)
    yield from _connections(snapshot)
    yield from _authentications(snapshot)
    yield from _singles(snapshot)
    yield from _quotas(snapshot)
    yield from _rights(snapshot)


def _traffic(snapshot: Snapshot) -> Iterator[Metric]:
    total = snapshot.deleted
    for topic in snapshot.topics:
        total = total.plus(topic.traffic)
    docs = {
        "bytes_in": ("bytesin", "Bytes of record batches that were appended."),
        "records_in": ("messagesin", "Records that were appended."),
        "bytes_out": ("bytesout", "Bytes of record batches that were fetched."),
    }
    for at, field in enumerate(Traffic._fields):
        name, doc = docs[field]
        family = CounterMetricFamily(f"kafka_server_brokertopicmetrics_{name}", doc)
        # As with Kafka, the sum over all topics has the same name and no label.
        family.add_metric((), total[at])
        sample = f"kafka_server_brokertopicmetrics_{name}_total"
        for topic in snapshot.topics:
            family.add_sample(sample, {"topic": topic.name}, topic.traffic[at])
        yield family


def _logs(snapshot: Snapshot) -> Iterator[Metric]:
    labels = ("topic", "partition")
    size = GaugeMetricFamily("kafka_log_log_size", "Bytes of the log.", labels=labels)
    segments = GaugeMetricFamily(
        "kafka_log_log_numlogsegments", "Segments of the log.", labels=labels
    )
    start = GaugeMetricFamily(
        "kafka_log_log_logstartoffset", "The first offset of the log.", labels=labels
    )
    end = GaugeMetricFamily(
        "kafka_log_log_logendoffset", "The offset that the next record gets.", labels=labels
    )
    for topic in snapshot.topics:
        for partition in topic.partitions:
            values = (topic.name, str(partition.index))
            size.add_metric(values, partition.size)
            segments.add_metric(values, partition.segments)
            start.add_metric(values, partition.log_start_offset)
            end.add_metric(values, partition.log_end_offset)
    yield from (size, segments, start, end)
    flushes = HistogramMetricFamily(
        "kafka_log_logflushstats_logflushrateandtimems",
        "Milliseconds that it took to bring appended records to disk.",
        labels=(),
    )
    _add_times(flushes, (), [snapshot.flush_times])
    yield flushes
    yield CounterMetricFamily(
        "kafka_log_logmanager_corruptbatchreads",
        "Reads that ended at a damaged record batch.",
        snapshot.corrupt_batches,
    )
    yield CounterMetricFamily(
        "kafka_log_logmanager_indexrebuilds",
        "Indexes that did not fit their segment and were built anew.",
        snapshot.rebuilt_indexes,
    )
    yield CounterMetricFamily(
        "kafka_log_logmanager_journalgaps",
        "Damaged or missing parts of the journal that the start had to do without.",
        snapshot.journal_gaps,
    )


def _requests(snapshot: Snapshot) -> Iterator[Metric]:
    requests = CounterMetricFamily(
        "kafka_network_requestmetrics_requests",
        "Requests that were answered.",
        labels=("request", "version"),
    )
    times = HistogramMetricFamily(
        "kafka_network_requestmetrics_totaltimems",
        "Milliseconds from a request's arrival to its answer, long polls included.",
        labels=("request",),
    )
    by_api: dict[str, list[Durations]] = {}
    for (api_key, version), durations in sorted(snapshot.request_times.items()):
        for name in _names(api_key):
            requests.add_metric((name, str(version)), durations.count)
            by_api.setdefault(name, []).append(durations)
    for name, durations_of in by_api.items():
        _add_times(times, (name,), durations_of)
    yield requests
    yield times


def _connections(snapshot: Snapshot) -> Iterator[Metric]:
    prefix = "kafka_server_socket_server_metrics_connection"
    count = GaugeMetricFamily(f"{prefix}_count", "Open connections.", labels=("listener",))
    created = CounterMetricFamily(
        f"{prefix}_creation", "Connections that were accepted.", labels=("listener",)
    )
    by_software = GaugeMetricFamily(
        f"{prefix}s",
        "Open connections by what their clients said of their software.",
        labels=("listener", "clientSoftwareName", "clientSoftwareVersion"),
    )
    for listener in snapshot.listeners:
        count.add_metric((listener.name,), listener.connections)
        created.add_metric((listener.name,), listener.accepted)
        for software, connections in listener.by_software.items():
            by_software.add_metric((listener.name, *software), connections)
    yield from (count, created, by_software)
    yield GaugeMetricFamily(
        "headwater_broker_unsent_answer_bytes",
        "Bytes of answers that clients have not taken yet.",
        snapshot.unsent_bytes,
    )


def _authentications(snapshot: Snapshot) -> Iterator[Metric]:
    prefix = "kafka_server_socket_server_metrics"
    succeeded = CounterMetricFamily(
        f"{prefix}_successful_authentication",
        "Clients that have proved who they are, or shown that they speak TLS.",
        labels=("listener",),
    )
    failed = CounterMetricFamily(
        f"{prefix}_failed_authentication",
        "Clients whose TLS handshake or login has failed.",
        labels=("listener",),
    )
    expiry = GaugeMetricFamily(
        "headwater_broker_certificate_expiry_timestamp_seconds",
        "When the certificate of a listener expires, in seconds since 1970.",
        labels=("listener",),
    )
    for listener in snapshot.listeners:
        succeeded.add_metric((listener.name,), listener.authenticated)
        failed.add_metric((listener.name,), listener.not_authenticated)
        if listener.certificate_expires_at is not None:
            expiry.add_metric((listener.name,), listener.certificate_expires_at)
    yield from (succeeded, failed, expiry)


def _singles(snapshot: Snapshot) -> Iterator[Metric]:
    partitions = sum(len(topic.partitions) for topic in snapshot.topics)
    offsets = sum(len(o) for group in snapshot.groups for o in group.offsets.values())
    sessions = "kafka_server_fetchsessioncache"
    groups = "kafka_coordinator_group_groupmetadatamanager"
    for name, doc, value in (
        ("kafka_server_replicamanager_partitioncount", "Partitions.", partitions),
        ("kafka_server_replicamanager_leadercount", "Partitions led.", partitions),
        ("kafka_server_replicamanager_underreplicatedpartitions", "Always 0 on one node.", 0),
        ("kafka_server_replicamanager_offlinereplicacount", "Always 0 on one node.", 0),
        ("kafka_controller_kafkacontroller_activecontrollercount", "Always 1 on one node.", 1),
        ("kafka_controller_kafkacontroller_offlinepartitionscount", "Always 0 on one node.", 0),
        ("kafka_controller_kafkacontroller_globaltopiccount", "Topics.", len(snapshot.topics)),
        ("kafka_controller_kafkacontroller_globalpartitioncount", "Partitions.", partitions),
        (f"{sessions}_numincrementalfetchsessions", "Fetch sessions.", snapshot.fetch_sessions),
        (
            f"{sessions}_numincrementalfetchpartitionscached",
            "Partitions in fetch sessions.",
            snapshot.fetch_session_partitions,
        ),
        (f"{groups}_numgroups", "Groups.", len(snapshot.groups)),
        (f"{groups}_numoffsets", "Committed offsets.", offsets),
    ):
        yield GaugeMetricFamily(name, doc, value)
    states = Counter(group.state for group in snapshot.groups)
    for state in _GROUP_STATES:
        yield GaugeMetricFamily(
            f"{groups}_numgroups{state.lower()}", f"Groups in state {state}.", states[state]
        )
    yield CounterMetricFamily(
        f"{sessions}_incrementalfetchsessionevictions",
        "Fetch sessions that had to make room.",
        snapshot.fetch_session_evictions,
    )


def _quotas(snapshot: Snapshot) -> Iterator[Metric]:
    labels = ("resource", "user", "clientId")
    byte_rate = GaugeMetricFamily(
        "kafka_server_quota_byte_rate", "Bytes a second of those who share a quota.", labels=labels
    )
    request_time = GaugeMetricFamily(
        "kafka_server_quota_request_time",
        "Percent of the broker's time that those who share a quota use.",
        labels=labels,
    )
    throttle_time = GaugeMetricFamily(
        "kafka_server_quota_throttle_time",
        "Milliseconds that those who share a quota still have to wait.",
        labels=labels,
    )
    for quota in snapshot.quotas:
        values = (quota.resource, quota.user, quota.client_id)
        rate = request_time if quota.resource == "Request" else byte_rate
        rate.add_metric(values, quota.rate)
        throttle_time.add_metric(values, quota.throttle_ms)
    yield from (byte_rate, request_time, throttle_time)


def _rights(snapshot: Snapshot) -> Iterator[Metric]:
    yield GaugeMetricFamily("headwater_broker_acls", "ACLs that there are.", snapshot.acls)
    denials = CounterMetricFamily(
        "headwater_broker_authorization_denials",
        "Times that a client was refused what it asked for, by what it has no right to.",
        labels=("operation", "resource"),
    )
    for (operation, resource_type), count in snapshot.denials.items():
        denials.add_metric((operation.name, resource_type.name), count)
    yield denials


def _names(api_key: ApiKey) -> tuple[str, ...]:
    name = "".join(word.capitalize() for word in api_key.name.split("_"))
    # Kafka counts a fetch under both; the other kind, of followers, there is none of here.
    return (name, "FetchConsumer") if name == "Fetch" else (name,)


def _add_times(
    family: HistogramMetricFamily, labels: Sequence[str], durations: Sequence[Durations]
) -> None:
    counts: Counter[int] = Counter()
    for times in durations:
        counts.update(dict(times.cumulative(_SHORTEST_US, _LONGEST_US)))
    buckets = [(str(bound_us / 1000), float(count)) for bound_us, count in counts.items()]
    buckets.append(("+Inf", float(sum(times.count for times in durations))))
    family.add_metric(labels, buckets, sum(times.total_ns for times in durations) / 1e6)
