"""Offsets by time and by name: ListOffsets, DeleteRecords, leader epochs."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import OffsetSpec
from tests.differential.engine import WITHIN_S
from tests.differential.observation import outcome, plain, values
from tests.differential.program import program
from tests.integration.raw_requests import (
    LIST_OFFSETS_VERSIONS,
    Topic,
    create_topic,
    fetch,
    list_offset,
    produce,
)
from tests.integration.record_batches import Message, batch_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -2, -1, -3, -4, -5


def stamped(client: RawClient, name: str, stamps: Iterable[int], **configs: str) -> Topic:
    """A topic with a batch for each timestamp."""
    settings = {key.replace("_", "."): value for key, value in configs.items()}
    topic = create_topic(client, name, configs=settings)
    for stamp in stamps:
        produce(client, topic, batch_of([Message(b"v", timestamp=stamp)]))
    return topic


def delete_before(client: RawClient, topic: str, offset: int, partition: int = 0) -> Any:
    answer = client.call(
        "delete_records",
        2,
        timeout=30_000,
        topics=[{"name": topic, "partitions": [{"partition_index": partition, "offset": offset}]}],
    )
    return plain(answer.topics)


@program
def offsets_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (100, 300, 200))
        return [
            [plain(list_offset(client, topic, when, version=v)) for when in (EARLIEST, LATEST, 150)]
            for v in LIST_OFFSETS_VERSIONS
        ]


@program
def offsets_of_an_empty_log(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        return [
            plain(list_offset(client, topic, when))
            for when in (EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, 0, 100)
        ]


@program
def offsets_by_time_out_of_order(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (100, 500, 200, 400, 300))
        return [
            plain(list_offset(client, topic, when))
            for when in (0, 100, 101, 250, 350, 450, 500, 501, MAX_TIMESTAMP)
        ]


@program
def offsets_by_time_inside_batches(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        for codec in ("none", "lz4"):
            base = 1000 if codec == "none" else 2000
            messages = [Message(b"v", timestamp=base + n * 10) for n in range(5)]
            produce(client, topic, batch_of(messages, codec))
        return [
            plain(list_offset(client, topic, when))
            for when in (999, 1001, 1015, 1040, 1041, 2005, 2040, 2041, MAX_TIMESTAMP)
        ]


@program
def offsets_by_time_over_segments(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, range(1000, 1030), segment_bytes="1048576")
        return [plain(list_offset(client, topic, when)) for when in range(995, 1035, 3)]


@program
def offsets_max_timestamp_first_of_equals(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (100, 500, 500, 300, 500))
        return plain(list_offset(client, topic, MAX_TIMESTAMP))


@program
def offsets_special_timestamps_by_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (100, 200))
        return [
            [plain(list_offset(client, topic, when, version=v)) for v in LIST_OFFSETS_VERSIONS]
            for when in (MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, -6, -7)
        ]


@program
def offsets_without_timestamps(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (-1, -1))
        return [plain(list_offset(client, topic, when)) for when in (0, 1, MAX_TIMESTAMP)]


@program
def offsets_unknown_partition_and_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        ghost = Topic(f"{name}-ghost", uuid.UUID(int=0))
        return [
            [plain(list_offset(client, topic, LATEST, partition=4, version=v)) for v in (1, 5, 11)],
            [plain(list_offset(client, ghost, LATEST, version=v)) for v in (1, 5, 11)],
        ]


@program
def offsets_with_leader_epochs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (100,))
        return [
            plain(list_offset(client, topic, LATEST, leader_epoch=epoch)) for epoch in (-1, 0, 1, 9)
        ]


@program
def offsets_same_partition_twice(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        stamped(client, name, (100,))
        asked = [{"partition_index": 0, "timestamp": when, "current_leader_epoch": -1}
                 for when in (EARLIEST, LATEST)]  # fmt: skip
        answer = client.call(
            "list_offsets", 7, replica_id=-1, topics=[{"name": name, "partitions": asked}]
        )
        return plain(answer.topics)


@program
def offsets_committed_only(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (100, 200))
        answer = client.call(
            "list_offsets",
            9,
            replica_id=-1,
            isolation_level=1,
            timeout=1000,
            topics=[
                {
                    "name": topic.name,
                    "partitions": [
                        {"partition_index": 0, "timestamp": LATEST, "current_leader_epoch": -1}
                    ],
                }
            ],
        )
        return plain(answer.topics)


@program
def offsets_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        stamped(client, name, (100, 300, 200))
    admin = engine.admin()

    def offset(spec: OffsetSpec) -> Any:
        place = TopicPartition(name, 0)
        found = admin.list_offsets({place: spec})[place].result(WITHIN_S)
        return found.offset, found.timestamp, found.leader_epoch

    specs = [OffsetSpec.earliest(), OffsetSpec.latest(), OffsetSpec.max_timestamp()]
    specs += [OffsetSpec.for_timestamp(when) for when in (0, 101, 301)]
    found = [offset(spec) for spec in specs]
    with engine.consumer(name) as consumer:
        times = consumer.offsets_for_times(
            [TopicPartition(name, 0, when) for when in (150,)], WITHIN_S
        )
        marks = consumer.get_watermark_offsets(TopicPartition(name, 0), WITHIN_S)
    return found, [place.offset for place in times], marks


@program
def offsets_delete_records(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (100, 200, 300, 400))
        steps = []
        for offset in (0, 2, 1, -1, 9, -2):
            steps.append(
                [
                    delete_before(client, name, offset),
                    plain(list_offset(client, topic, EARLIEST)),
                    plain(list_offset(client, topic, LATEST)),
                ]
            )
        produce(client, topic, batch_of([b"after"]))
        return steps, values(fetch(client, topic, 4).records)


@program
def offsets_delete_records_inside_a_batch(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        produce(client, topic, batch_of([b"%d" % n for n in range(5)]))
        deleted = delete_before(client, name, 3)
        return (
            deleted,
            [values(fetch(client, topic, offset).records) for offset in (0, 2, 3, 4)],
            plain(list_offset(client, topic, 0)),
        )


@program
def offsets_delete_records_of_unknowns(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return delete_before(client, name, 0, partition=8), delete_before(
            client, f"{name}-ghost", 0
        )


@program
def offsets_delete_records_of_a_compacted_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name, configs={"cleanup.policy": "compact"})
        produce(client, topic, batch_of([Message(b"v", b"k")]))
        return delete_before(client, name, 1)


@program
def offsets_delete_records_of_an_internal_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return delete_before(client, "__consumer_offsets", 0)


@program
def offsets_by_time_after_delete_records(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = stamped(client, name, (100, 500, 200, 300))
        delete_before(client, name, 2)
        return [
            plain(list_offset(client, topic, when))
            for when in (0, 150, 250, 400, MAX_TIMESTAMP, EARLIEST_LOCAL)
        ]


@program
def offsets_for_leader_epochs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        stamped(client, name, (100, 200))
        found = []
        for version in (2, 3, 4):
            for known, asked in ((-1, 0), (0, 0), (0, 5), (7, 0), (-1, -1)):
                answer = client.call(
                    "offset_for_leader_epoch",
                    version,
                    replica_id=-1,
                    topics=[
                        {
                            "topic": name,
                            "partitions": [
                                {
                                    "partition": partition,
                                    "current_leader_epoch": known,
                                    "leader_epoch": asked,
                                }
                                for partition in (0, 3)
                            ],
                        }
                    ],
                )
                found.append(plain(answer.topics))
        return found


@program
def offsets_delete_records_by_confluent(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        stamped(client, name, (100, 200, 300))
    admin = engine.admin()

    def deleted(place: TopicPartition) -> Any:
        return admin.delete_records([place])[place].result(WITHIN_S).low_watermark

    return [outcome(partial(deleted, TopicPartition(name, 0, offset))) for offset in (2, 99, -1)]
