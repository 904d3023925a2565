"""The raw client's everyday requests, each reduced to the one partition a test asks about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kio.schema.errors import ErrorCode
from tests.waiting import wait_for

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping

    from tests.integration.raw_client import RawClient

PRODUCE_VERSIONS = range(3, 14)
FETCH_VERSIONS = range(4, 19)
LIST_OFFSETS_VERSIONS = range(1, 12)

TOPIC_ID_PRODUCE = 13
TOPIC_ID_FETCH = 13

NO_EPOCH = -1
NOT_YET = (
    ErrorCode.unknown_topic_or_partition,
    ErrorCode.not_leader_or_follower,
    ErrorCode.leader_not_available,
)


@dataclass(frozen=True)
class Topic:
    """A topic under both of the names it goes by on the wire."""

    name: str
    id: uuid.UUID


def create_topic(
    client: RawClient, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
) -> Topic:
    """Create a topic and wait until each of its partitions has a leader."""
    answer = client.call(
        "create_topics",
        7,
        topics=[
            {
                "name": name,
                "num_partitions": partitions,
                "replication_factor": 1,
                "configs": [{"name": n, "value": v} for n, v in (configs or {}).items()],
            }
        ],
        timeout=30_000,
    )
    (created,) = answer.topics
    assert created.error_code is ErrorCode.none, created
    topic = Topic(name, created.topic_id)
    for partition in range(partitions):
        wait_until_led(client, topic, partition)
    return topic


def wait_until_led(client: RawClient, topic: Topic, partition: int) -> None:
    """Wait until a partition can be used: Apache Kafka makes it known before it can be."""
    wait_for(
        lambda: list_offset(client, topic, -1, partition=partition),
        until=lambda found: found.error_code not in NOT_YET,
    )


def delete_topic(client: RawClient, topic: Topic) -> None:
    answer = client.call("delete_topics", 6, topics=[{"name": topic.name}], timeout=30_000)
    (deleted,) = answer.responses
    assert deleted.error_code is ErrorCode.none, deleted


def produce_body(topic: Topic, batch: bytes | None, partition: int = 0, acks: int = -1) -> Any:
    return {
        "acks": acks,
        "timeout": 30_000,
        "topic_data": [
            {
                "name": topic.name,
                "topic_id": topic.id,
                "partition_data": [{"index": partition, "records": batch}],
            }
        ],
    }


def produce(
    client: RawClient,
    topic: Topic,
    batch: bytes | None,
    *,
    version: int = 12,
    partition: int = 0,
    acks: int = -1,
) -> Any:
    """Produce one batch; the answer of its partition."""
    answer = client.call("produce", version, **produce_body(topic, batch, partition, acks))
    (topic_answer,) = answer.responses
    if version >= TOPIC_ID_PRODUCE:
        assert topic_answer.topic_id == topic.id
    else:
        assert topic_answer.name == topic.name
    (partition_answer,) = topic_answer.partition_responses
    assert partition_answer.index == partition
    return partition_answer


def fetch_topic(topic: Topic, *partitions: Mapping[str, object]) -> dict[str, object]:
    return {"topic": topic.name, "topic_id": topic.id, "partitions": partitions}


def fetch_partition(
    index: int = 0,
    offset: int = 0,
    *,
    max_bytes: int = 1 << 20,
    leader_epoch: int = NO_EPOCH,
) -> dict[str, object]:
    return {
        "partition": index,
        "fetch_offset": offset,
        "partition_max_bytes": max_bytes,
        "current_leader_epoch": leader_epoch,
    }


def fetch(
    client: RawClient,
    topic: Topic,
    offset: int = 0,
    *,
    version: int = 12,
    partition: int = 0,
    max_wait: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 50 << 20,
    partition_max_bytes: int = 1 << 20,
    leader_epoch: int = NO_EPOCH,
) -> Any:
    """Fetch from one partition without a session; the answer of that partition."""
    answer = client.call(
        "fetch",
        version,
        max_wait=max_wait,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=[
            fetch_topic(
                topic,
                fetch_partition(
                    partition, offset, max_bytes=partition_max_bytes, leader_epoch=leader_epoch
                ),
            )
        ],
    )
    (topic_answer,) = answer.responses
    if version >= TOPIC_ID_FETCH:
        assert topic_answer.topic_id == topic.id
    else:
        assert topic_answer.topic == topic.name
    (partition_answer,) = topic_answer.partitions
    assert partition_answer.partition_index == partition
    return partition_answer


def list_offset(
    client: RawClient,
    topic: Topic,
    timestamp: int,
    *,
    version: int = 11,
    partition: int = 0,
    leader_epoch: int = NO_EPOCH,
) -> Any:
    """Ask for one offset; the answer of that partition."""
    answer = client.call(
        "list_offsets",
        version,
        replica_id=-1,
        timeout=30_000,
        topics=[
            {
                "name": topic.name,
                "partitions": [
                    {
                        "partition_index": partition,
                        "timestamp": timestamp,
                        "current_leader_epoch": leader_epoch,
                    }
                ],
            }
        ],
    )
    (topic_answer,) = answer.topics
    assert topic_answer.name == topic.name
    (partition_answer,) = topic_answer.partitions
    assert partition_answer.partition_index == partition
    return partition_answer
