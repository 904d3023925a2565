"""The state of a broker at one moment, copied on the event loop as quickly as that can be done.

Turning it into text takes many times longer, and so happens in a thread, which must not look at
what the event loop may be changing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.quotas.client_quotas import clock_ms
from headwater.protocol.errors import KafkaError

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.metrics.durations import Durations
    from headwater.broker.network.listener import Listener
    from headwater.broker.quotas.limit import Client
    from headwater.broker.quotas.quota import Quota
    from headwater.broker.quotas.rate import SampledRate
    from headwater.broker.topics.partition import Partition
    from headwater.protocol.acls import AclOperation, ResourceType
    from headwater.protocol.api_keys import ApiKey


class PartitionSnapshot(NamedTuple):
    """One partition."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses
    log_start_offset: int
    high_watermark: int
    log_end_offset: int
    size: int
    segments: int


class TopicSnapshot(NamedTuple):
    """One topic, and what has passed through it since the broker started."""

    name: str
    partitions: list[PartitionSnapshot]
    traffic: Traffic


class Traffic(NamedTuple):
    """Bytes and records in, bytes out."""

    bytes_in: int
    records_in: int
    bytes_out: int

    def plus(self, other: Traffic) -> Traffic:
        """Return both together."""
        return Traffic(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class GroupSnapshot(NamedTuple):
    """One group: how many members it has and how far it has come, by topic and partition."""

    group_id: str
    state: str
    members: int
    offsets: dict[str, dict[int, int]]


class ListenerSnapshot(NamedTuple):
    """One listener's connections."""

    name: str
    connections: int
    accepted: int
    by_software: dict[tuple[str, str], int]
    """Open connections by the name and the version of the client's software."""
    authenticated: int
    not_authenticated: int
    """Clients that have proved who they are, and those that could not."""
    certificate_expires_at: float | None
    """None where there is no TLS."""


class QuotaSnapshot(NamedTuple):
    """What those who share a limit use of it."""

    resource: str
    user: str
    client_id: str
    rate: float
    throttle_ms: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is shown."""

    node_id: int
    address: tuple[str, int]
    topics: list[TopicSnapshot]
    deleted: Traffic
    """What has passed through topics that are gone."""
    groups: list[GroupSnapshot]
    listeners: list[ListenerSnapshot]
    unsent_bytes: int
    quotas: list[QuotaSnapshot]
    request_times: dict[tuple[ApiKey, int], Durations]
    flush_times: Durations
    corrupt_batches: int
    rebuilt_indexes: int
    journal_gaps: int
    fetch_sessions: int
    fetch_session_partitions: int
    fetch_session_evictions: int
    acls: int
    denials: dict[tuple[AclOperation, ResourceType], int]
    """What clients were refused since the broker started."""


def take_snapshot(broker: Broker, deleted: Traffic) -> Snapshot:
    """Copy what is to be shown; to be called on the event loop."""
    sessions = broker.fetch_sessions
    return Snapshot(
        node_id=broker.node_id,
        address=broker.advertised(broker.listeners[0].name),
        topics=[
            TopicSnapshot(
                topic.name, [_state(p) for p in topic.partitions], traffic(topic.partitions)
            )
            for topic in broker.topics.by_name.values()
        ],
        deleted=deleted,
        groups=_groups(broker),
        listeners=[_listener(listener) for listener in broker.listeners],
        unsent_bytes=broker.answer_budget.held,
        quotas=[
            *_quota("Produce", broker.quotas.produced_bytes),
            *_quota("Fetch", broker.quotas.fetched_bytes),
            *_quota("Request", broker.quotas.request_time),
        ],
        request_times={key: times.copy() for key, times in broker.request_times.items()},
        flush_times=broker.commits.flush_times.copy(),
        corrupt_batches=broker.logs.faults.corrupt_batches,
        rebuilt_indexes=broker.logs.faults.rebuilt_indexes,
        journal_gaps=broker.logs.faults.journal_gaps,
        fetch_sessions=len(sessions),
        fetch_session_partitions=sessions.partition_count,
        fetch_session_evictions=sessions.evictions,
        acls=0 if broker.acls is None else len(broker.acls.acls),
        denials={} if broker.acls is None else dict(broker.acls.denials.counts),
    )


def traffic(partitions: list[Partition]) -> Traffic:
    """Return what has passed through some partitions."""
    return Traffic(
        sum(partition.bytes_in for partition in partitions),
        sum(partition.records_in for partition in partitions),
        sum(partition.bytes_out for partition in partitions),
    )


def _state(partition: Partition) -> PartitionSnapshot:
    log = partition.log
    return PartitionSnapshot(
        partition.index,
        log.log_start_offset,
        partition.high_watermark,
        log.log_end_offset,
        log.size,
        len(log.segments),
    )


def _listener(listener: Listener) -> ListenerSnapshot:
    return ListenerSnapshot(
        listener.name,
        len(listener.connections),
        listener.accepted,
        Counter(
            (session.client_software_name, session.client_software_version)
            for session in (connection.session for connection in listener.connections)
        ),
        listener.security.counts.succeeded,
        listener.security.counts.failed,
        None if listener.security.tls is None else listener.security.tls.expires_at,
    )


def _groups(broker: Broker) -> list[GroupSnapshot]:
    try:
        shards = list(broker.groups.all_shards())
    except KafkaError:
        # Half of the groups would look as if the others had been deleted; soon there are all.
        return []
    return [
        GroupSnapshot(
            group_id,
            group.state.value,
            len(group.members),
            {
                topic: {index: committed.offset for index, committed in partitions.items()}
                for topic, partitions in shard.groups.offsets.of_group(group_id).items()
            },
        )
        for shard in shards
        for group_id, group in shard.groups.groups.items()
    ]


def _quota(resource: str, quota: Quota[Client, SampledRate]) -> list[QuotaSnapshot]:
    now_ms = clock_ms()
    return [
        QuotaSnapshot(
            resource,
            client.user,
            client.client_id,
            usage.measure.per_second(now_ms),
            max(0, usage.throttled_at_ms + usage.throttle_ms - now_ms),
        )
        for client, usage in quota.usages(now_ms).items()
    ]
