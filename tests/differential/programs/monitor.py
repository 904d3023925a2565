"""A cluster as the monitor sees it: topics, offsets, groups of both kinds and their members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confluent_kafka import TopicPartition
from tests.differential.program import program
from tests.integration.raw_requests import create_topic
from tests.waiting import wait_for

from headwater.clients import ClusterAccess
from headwater.clients.connection import Connection
from headwater.clients.raw.cluster_reader import ClusterReader
from headwater.monitor.record_times import Position, RecordTimes

if TYPE_CHECKING:
    from tests.differential.engine import Engine

    from headwater.metrics.cluster_state import ClusterState

WRITTEN_MS = 1_700_000_000_000


@program
def monitor_reads_topics_and_groups(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, 3)
    producer = engine.producer()
    for number in range(5):
        producer.produce(name, b"x", partition=1, timestamp=WRITTEN_MS + number)
    producer.flush()
    access = ClusterAccess(engine.bootstrap_servers)
    reader = ClusterReader(access, *[lambda each: each.startswith(name)] * 2)
    times = RecordTimes(Connection(access))
    seen: list[Any] = []
    try:
        for protocol in ("classic", "consumer"):
            settings = {"group_protocol": protocol, "client_id": protocol}
            with engine.consumer(f"{name}-{protocol}", **settings) as consumer:
                consumer.subscribe([name])
                wait_for(lambda: consumer.poll(0.1) is None and len(consumer.assignment()) == 3)
                consumer.commit(offsets=[TopicPartition(name, 1, 3)], asynchronous=False)
                seen.append(_plain(reader.read()))
        positions = [Position(name, 1, offset) for offset in (0, 3, 5)]
        seen.append(sorted(times.at(positions).items()))
    finally:
        reader.close()
        times.close()
    return seen


def _plain(cluster: ClusterState) -> Any:
    """What both engines agree on: ids of brokers and members are each one's own."""
    return [
        len(cluster.brokers),
        [
            [
                (each.index, len(each.replicas), len(each.in_sync), each.log_start_offset,
                 each.high_watermark)
                for each in topic.partitions
            ]
            for topic in cluster.topics
        ],
        sorted(
            (
                group.group_id, group.state, group.members, group.offsets,
                sorted((place, owner.client_id) for place, owner in group.owners.items()),
            )
            for group in cluster.groups
        ),
    ]  # fmt: skip
