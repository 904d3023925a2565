"""Topics and the cluster: creating, growing, deleting and describing."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from confluent_kafka import TopicCollection
from confluent_kafka.admin import NewPartitions, NewTopic
from tests.differential.engine import WITHIN_S
from tests.differential.observation import outcome, plain
from tests.differential.program import program
from tests.differential.programs.fetch import is_gone
from tests.integration.raw_requests import create_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient


def new(name: str, partitions: int = 1, replicas: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": name, "num_partitions": partitions, "replication_factor": replicas} | more


def create(client: RawClient, *topics: Any, version: int = 7, **more: Any) -> Any:
    """CreateTopics: what became of each, with its settings sorted."""
    answer = plain(client.call("create_topics", version, topics=topics, timeout=30_000, **more))
    for topic in answer["topics"]:
        if topic.get("configs"):
            topic["configs"] = {config.pop("name"): config for config in topic["configs"]}
    return sorted(answer["topics"], key=lambda topic: topic["name"] or "")


def settings(**given: str | None) -> list[dict[str, str | None]]:
    return [{"name": name.replace("_", "."), "value": value} for name, value in given.items()]


def metadata(client: RawClient, *names: str, version: int = 12, **more: Any) -> Any:
    answer = client.call(
        "metadata",
        version,
        topics=[{"name": name} for name in names],
        allow_auto_topic_creation=False,
        **more,
    )
    return plain(answer.topics)


@program
def admin_create_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            create(client, new(f"{name}-{version}", 2), version=version) for version in range(2, 8)
        ]


@program
def admin_create_with_defaults(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return create(client, new(name, -1, -1))


@program
def admin_create_answers_settings(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        configs = settings(retention_ms="1000", cleanup_policy="compact,delete")
        return create(client, new(name, configs=configs))


@program
def admin_create_existing(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return create(client, new(name)), create(client, new(name), validate_only=True)


@program
def admin_create_twice_in_one_request(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return create(client, new(name), new(name, 2), new(f"{name}-other"))


@program
def admin_create_bad_names(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        names = ("", ".", "..", "a b", "ü", "x" * 249, "x" * 250, "a/b", "a\x00b", "a:b")
        return [create(client, new(bad), validate_only=True) for bad in names]


@program
def admin_create_colliding_name(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, f"{name}.a_b")
        return create(client, new(f"{name}_a.b")), create(client, new(f"{name}.a.b"))


@program
def admin_create_bad_counts(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            create(client, new(f"{name}-{index}", partitions, replicas))
            for index, (partitions, replicas) in enumerate(
                [(0, 1), (-2, 1), (1, 0), (1, -2), (1, 2), (1, 32767)]
            )
        ]


@program
def admin_create_with_assignments(engine: Engine, name: str) -> Any:
    def assigned(topic: str, *replicas: tuple[int, list[int]], **more: Any) -> Any:
        rows = [{"partition_index": index, "broker_ids": ids} for index, ids in replicas]
        return new(topic, -1, -1, assignments=rows) | more

    with engine.raw() as client:
        return [
            create(client, assigned(f"{name}-good", (0, [1]), (1, [1]))),
            create(client, assigned(f"{name}-gap", (0, [1]), (2, [1]))),
            create(client, assigned(f"{name}-nobody", (0, [9]))),
            create(client, assigned(f"{name}-twice", (0, [1, 1]))),
            create(client, assigned(f"{name}-none", (0, []))),
            create(client, assigned(f"{name}-both", (0, [1]), num_partitions=1)),
            create(client, assigned(f"{name}-same", (0, [1]), (0, [1]))),
            create(client, assigned(f"{name}-negative", (-1, [1]))),
        ]


@program
def admin_create_with_bad_settings(engine: Engine, name: str) -> Any:
    bad: list[dict[str, str | None]] = [
        {"retention_ms": "soon"},
        {"retention_ms": "-2"},
        {"retention_ms": None},
        {"no_such_setting": "1"},
        {"cleanup_policy": "shred"},
        {"cleanup_policy": ""},
        {"segment_bytes": "10"},
        {"max_message_bytes": "-1"},
        {"compression_type": "rar"},
        {"message_timestamp_type": "Whenever"},
        {"min_insync_replicas": "0"},
        {"min_cleanable_dirty_ratio": "1.5"},
        {"unclean_leader_election_enable": "perhaps"},
        {"min_compaction_lag_ms": "10", "max_compaction_lag_ms": "5"},
        {"segment_ms": "0"},
        {"flush_messages": "0"},
        {"compression_gzip_level": "99"},
        {"retention_ms": " 5 "},
        {"": "1"},
    ]
    with engine.raw() as client:
        return [
            create(client, new(f"{name}-{index}", configs=settings(**given)))
            for index, given in enumerate(bad)
        ]


@program
def admin_validate_only(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answer = create(
            client, new(name, 3, configs=settings(retention_ms="5")), validate_only=True
        )
        return answer, metadata(client, name)


@program
def admin_grow_a_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, 2)
        steps = []
        for count, assignments in (
            (2, None),
            (1, None),
            (0, None),
            (-1, None),
            (3, None),
            (5, [{"broker_ids": [1]}, {"broker_ids": [1]}]),
            (6, [{"broker_ids": [1]}, {"broker_ids": [1]}]),
            (6, [{"broker_ids": [7]}]),
            (6, [{"broker_ids": []}]),
        ):
            answer = client.call(
                "create_partitions",
                3,
                topics=[{"name": name, "count": count, "assignments": assignments}],
                timeout=30_000,
            )
            steps.append(plain(answer.results))
        wait_for(lambda: len(metadata(client, name)[0]["partitions"]) == 5)
        return steps


@program
def admin_grow_unknowns_and_duplicates(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        answers = []
        for names in ([f"{name}-ghost"], [name, name], [""]):
            topics = [{"name": n, "count": 4, "assignments": None} for n in names]
            answer = client.call(
                "create_partitions", 3, topics=topics, timeout=30_000, validate_only=True
            )
            answers.append(plain(answer.results))
        return answers, len(metadata(client, name)[0]["partitions"])


@program
def admin_delete_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answers = []
        for version in range(1, 7):
            topic = create_topic(client, f"{name}-{version}")
            answer = client.call(
                "delete_topics",
                version,
                topic_names=[topic.name],
                topics=[{"name": topic.name, "topic_id": uuid.UUID(int=0)}],
                timeout=30_000,
            )
            answers.append(plain(answer.responses))
        return answers


@program
def admin_delete_unknowns(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        nobody = uuid.UUID(int=7)
        asked = [
            [{"name": f"{name}-ghost"}],
            [{"name": None, "topic_id": nobody}],
            [{"name": None, "topic_id": uuid.UUID(int=0)}],
            [{"name": name, "topic_id": topic.id}],
            [{"name": name}, {"name": name}],
            [{"name": name}, {"name": None, "topic_id": topic.id}],
            [{"name": None, "topic_id": topic.id}],
        ]
        answers = []
        for topics in asked:
            answer = client.call("delete_topics", 6, topics=topics, timeout=30_000)
            answers.append(sorted(plain(answer.responses), key=repr))
        wait_for(lambda: is_gone(client, name))
        return answers


@program
def admin_delete_and_create_again(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        first = create_topic(client, name, 3)
        client.call("delete_topics", 6, topics=[{"name": name}], timeout=30_000)
        wait_for(lambda: is_gone(client, name))
        second = create_topic(client, name, 1)
        return first.id == second.id, metadata(client, name)


@program
def admin_create_internal_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return create(client, new("__consumer_offsets"))


@program
def admin_by_confluent(engine: Engine, name: str) -> Any:
    admin = engine.admin()
    steps: list[Any] = []

    def made(topic: NewTopic) -> Any:
        return outcome(lambda: admin.create_topics([topic])[topic.topic].result(WITHIN_S))

    steps += [made(NewTopic(name, 3, 1)), made(NewTopic(name, 3, 1))]
    steps += [made(NewTopic("not good", 1, 1)), made(NewTopic(f"{name}-r", 1, 2))]
    wait_for(lambda: name in admin.list_topics(timeout=WITHIN_S).topics)
    grown = NewPartitions(name, 5)
    steps.append(outcome(lambda: admin.create_partitions([grown])[name].result(WITHIN_S)))
    wait_for(lambda: len(admin.list_topics(name, timeout=WITHIN_S).topics[name].partitions) == 5)
    described = admin.describe_topics(TopicCollection([name]))[name].result(WITHIN_S)
    steps.append(
        [
            described.name,
            described.is_internal,
            [[p.id, p.leader.id, [r.id for r in p.replicas], len(p.isr)]
             for p in described.partitions],
        ]
    )  # fmt: skip
    steps.append(outcome(lambda: admin.delete_topics([name])[name].result(WITHIN_S)))
    ghost = f"{name}-ghost"
    steps.append(outcome(lambda: admin.delete_topics([ghost])[ghost].result(WITHIN_S)))
    steps.append(
        outcome(lambda: admin.describe_topics(TopicCollection([ghost]))[ghost].result(WITHIN_S))
    )
    return steps
