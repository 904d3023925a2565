"""Committed offsets: who may commit what, and what is read back."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from tests.differential.engine import WITHIN_S
from tests.differential.observation import outcome, plain
from tests.differential.program import program
from tests.integration.raw_groups import commit, committed, leave, stable_member
from tests.integration.raw_requests import create_topic, delete_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine


@program
def committed_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        commits = [
            plain(
                commit(
                    client,
                    name,
                    {(name, 0): version},
                    version=version,
                    topic_ids={name: topic.id},
                )
            )
            for version in range(2, 11)
        ]
        fetched = [plain(committed(client, name, {name: (0, 3)}, version=v)) for v in range(1, 10)]
        return commits, fetched


@program
def committed_metadata_and_epochs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        found = []
        for metadata, epoch in (("note", 0), ("", 5), (None, -1), ("x" * 4096, 0)):
            answer = commit(client, name, {(name, 0): 7}, metadata=metadata, leader_epoch=epoch)
            found.append([plain(answer), plain(committed(client, name, {name: (0,)}))])
        too_long = commit(client, name, {(name, 0): 8}, metadata="x" * 4097)
        return found, plain(too_long), plain(committed(client, name, {name: (0,)}))


@program
def committed_odd_offsets(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return [
            [plain(commit(client, name, {(name, 0): offset})),
             plain(committed(client, name, {name: (0,)}))]
            for offset in (0, -1, -5, 2**62)
        ]  # fmt: skip


@program
def committed_for_unknown_topics(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return (
            plain(commit(client, name, {(f"{name}-ghost", 0): 1, (name, 9): 1, (name, 0): 1})),
            plain(committed(client, name, None)),
        )


@program
def committed_by_unknown_topic_id(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        ids = {name: uuid.UUID(int=7)}
        return plain(commit(client, name, {(name, 0): 1}, version=10, topic_ids=ids))


@program
def committed_of_nobody(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return [
            plain(committed(client, f"{name}-ghost", {name: (0,)})),
            plain(committed(client, f"{name}-ghost", None)),
            plain(committed(client, "", {name: (0,)})),
            plain(committed(client, f"{name}-ghost", {})),
        ]


@program
def committed_several_groups_at_once(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, 3)
        for number in range(3):
            commit(client, f"{name}-{number}", {(name, number): number + 1})
        answer = client.call(
            "offset_fetch",
            9,
            groups=[{"group_id": f"{name}-{number}", "topics": None} for number in range(4)],
        )
        return plain(answer.groups)


@program
def committed_by_strangers_to_a_live_group(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        joined = stable_member(client, name)
        member, generation = joined.member_id, joined.generation_id
        place = {(name, 0): 5}
        return [
            plain(commit(client, name, place)),
            plain(commit(client, name, place, member="nobody", generation=generation)),
            plain(commit(client, name, place, member=member, generation=generation + 1)),
            plain(commit(client, name, place, member=member, generation=generation)),
            plain(
                commit(client, name, place, member=member, generation=generation, instance="other")
            ),
            plain(commit(client, f"{name}-ghost", place, member="x", generation=3)),
            plain(commit(client, "", place)),
        ]


@program
def committed_after_the_last_member_left(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        joined = stable_member(client, name)
        leave(client, name, joined.member_id)
        return [
            plain(commit(client, name, {(name, 0): 4})),
            plain(
                commit(
                    client,
                    name,
                    {(name, 0): 5},
                    member=joined.member_id,
                    generation=joined.generation_id,
                )
            ),
            plain(committed(client, name, {name: (0,)})),
        ]


@program
def committed_offsets_of_deleted_topics_go(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        commit(client, name, {(name, 0): 5})
        before = plain(committed(client, name, None))
        delete_topic(client, topic)
        wait_for(lambda: not committed(client, name, None))
        return before, plain(committed(client, name, {name: (0,)}))


@program
def committed_offsets_deleted_by_hand(engine: Engine, name: str) -> Any:
    def delete(group: str, topic: str, *partitions: int) -> Any:
        answer = client.call(
            "offset_delete",
            0,
            group_id=group,
            topics=[
                {"name": topic, "partitions": [{"partition_index": one} for one in partitions]}
            ],
        )
        found = plain(answer)
        for one in found["topics"]:
            one["partitions"].sort(key=lambda partition: partition["partition_index"])
        return found

    with engine.raw() as client:
        create_topic(client, name, 2)
        commit(client, name, {(name, 0): 5, (name, 1): 6})
        return [
            delete(name, name, 0),
            plain(committed(client, name, None)),
            delete(name, name, 0, 9),
            delete(name, f"{name}-ghost", 0),
            delete(f"{name}-ghost", name, 0),
            delete("", name, 0),
        ]


@program
def committed_by_confluent_admin(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, 2)
    admin = engine.admin()

    def listed(partitions: list[TopicPartition] | None) -> Any:
        request = ConsumerGroupTopicPartitions(name, partitions)
        found = admin.list_consumer_group_offsets([request])[name].result(WITHIN_S)
        return sorted([p.topic, p.partition, p.offset, p.metadata] for p in found.topic_partitions)

    def altered(offset: int) -> Any:
        request = ConsumerGroupTopicPartitions(name, [TopicPartition(name, 0, offset)])
        found = admin.alter_consumer_group_offsets([request])[name].result(WITHIN_S)
        return [[p.partition, p.offset, str(p.error)] for p in found.topic_partitions]

    return [
        outcome(lambda: listed(None)),
        outcome(lambda: altered(5)),
        outcome(lambda: listed(None)),
        outcome(lambda: listed([TopicPartition(name, 0), TopicPartition(name, 1)])),
    ]
