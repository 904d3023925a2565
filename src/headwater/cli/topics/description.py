"""What `headwater topics describe` shows of a topic, gathered from three kinds of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from headwater.cli.output import print_table
from headwater.cli.topics.config_changes import configs_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from confluent_kafka.admin import ConfigEntry, TopicDescription

    from headwater.clients.connection import Connection

Described = dict[str, Any]


def describe_topics(
    connection: Connection, names: Sequence[str], *, offsets: bool
) -> list[Described]:
    """Return one dictionary per topic, ready for JSON."""
    topics = connection.describe_topics(names)
    settings = configs_of(connection, "topic", names)
    alive = {node.id for node in connection.result(connection.admin.describe_cluster()).nodes}
    described = [_describe(topic, settings[topic.name], alive) for topic in topics]
    if offsets:
        _add_offsets(connection, described)
    return described


def print_topics(topics: Iterable[Described], *, offsets: bool) -> None:
    """Print a line about each topic, and a table of its partitions."""
    columns = ["PARTITION", "LEADER", "REPLICAS", "ISR", "OFFLINE"]
    if offsets:
        columns += ["START", "END"]
    for position, topic in enumerate(topics):
        if position:
            click.echo()
        settings = ",".join(f"{name}={value}" for name, value in topic["configs"].items())
        click.echo(
            f"Topic: {topic['name']}\tTopicId: {topic['topic_id']}\t"
            f"PartitionCount: {topic['partition_count']}\t"
            f"ReplicationFactor: {topic['replication_factor']}\tConfigs: {settings or '-'}"
        )
        print_table(columns, [_row(partition, offsets) for partition in topic["partitions"]])


def _describe(
    topic: TopicDescription, settings: Mapping[str, ConfigEntry], alive: Container[int]
) -> Described:
    from confluent_kafka.admin import ConfigSource

    partitions = [
        {
            "partition": partition.id,
            "leader": partition.leader.id if partition.leader is not None else None,
            "replicas": [node.id for node in partition.replicas],
            "isr": [node.id for node in partition.isr],
            "offline": [node.id for node in partition.replicas if node.id not in alive],
        }
        for partition in topic.partitions
    ]
    return {
        "name": topic.name,
        # Kafka prints ids in the alphabet that is safe in URLs, librdkafka in the other one.
        "topic_id": str(topic.topic_id).translate(str.maketrans("+/", "-_")),
        "internal": topic.is_internal,
        "partition_count": len(partitions),
        "replication_factor": max((len(each["replicas"]) for each in partitions), default=0),
        "configs": {
            name: entry.value
            for name, entry in sorted(settings.items())
            if entry.source != ConfigSource.DEFAULT_CONFIG.value
        },
        "partitions": partitions,
    }


def _add_offsets(connection: Connection, topics: Sequence[Described]) -> None:
    from confluent_kafka.admin import OffsetSpec

    # A partition without a leader cannot say; asking would fail the others as well.
    led = [
        (topic["name"], partition["partition"])
        for topic in topics
        for partition in topic["partitions"]
        if partition["leader"] is not None
    ]
    starts = connection.offsets(led, OffsetSpec.earliest())
    ends = connection.offsets(led, OffsetSpec.latest())
    for topic in topics:
        for partition in topic["partitions"]:
            key = (topic["name"], partition["partition"])
            partition["start_offset"] = starts.get(key)
            partition["end_offset"] = ends.get(key)


def _row(partition: Described, offsets: bool) -> list[object]:
    row: list[object] = [
        partition[column] for column in ("partition", "leader", "replicas", "isr", "offline")
    ]
    if offsets:
        row += [partition["start_offset"], partition["end_offset"]]
    return row
