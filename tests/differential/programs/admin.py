"""Topics and the cluster: creating, growing, deleting and describing."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from confluent_kafka import TopicCollection
from confluent_kafka.admin import NewPartitions, NewTopic
from tests.differential.engine import WITHIN_S, wait_for
from tests.differential.observation import outcome, picked, plain
from tests.differential.program import program
from tests.differential.programs.fetch import is_gone
from tests.integration.raw_requests import create_topic

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
def admin_metadata_every_version(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, 2)
        return [metadata(client, name, f"{name}-ghost", version=v) for v in range(4, 14)]


@program
def admin_metadata_by_id(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = create_topic(client, name)
        answers = []
        for topic_id in (topic.id, uuid.UUID(int=7)):
            answer = client.call("metadata", 12, topics=[{"topic_id": topic_id, "name": None}])
            answers.append(plain(answer.topics))
        return answers


@program
def admin_metadata_of_bad_names(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        names = ("", "a b", "x" * 250, "..")
        return [plain(client.call("metadata", 12, topics=[{"name": bad}]).topics) for bad in names]


@program
def admin_metadata_creates_topics(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        asked: dict[str, Any] = {"topics": [{"name": name}], "allow_auto_topic_creation": True}
        first = plain(client.call("metadata", 12, **asked).topics)
        wait_for(lambda: client.call("metadata", 12, **asked).topics[0].error_code.name == "none")
        return first[0]["error_code"] in ("unknown_topic_or_partition", "none"), metadata(
            client, name
        )


@program
def admin_metadata_of_the_cluster(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answer = client.call("metadata", 12, topics=[])
        return picked(answer, "brokers", "controller_id"), len(answer.cluster_id) > 20


@program
def admin_metadata_asks_for_operations(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return [
            metadata(client, name, version=v, include_topic_authorized_operations=True)
            for v in (8, 12)
        ]


@program
def admin_internal_topics(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return metadata(client, "__consumer_offsets", "__transaction_state")


@program
def admin_create_internal_topic(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return create(client, new("__consumer_offsets"))


@program
def admin_describe_cluster(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answers = []
        for version in (0, 1, 2):
            answer = plain(
                client.call("describe_cluster", version, include_cluster_authorized_operations=True)
            )
            answers.append({**answer, "cluster_id": len(answer["cluster_id"]) > 20})
        return answers


@program
def admin_describe_topic_partitions(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        for suffix in "abc":
            create_topic(client, f"{name}-{suffix}", 3)
        answers = []
        asked = [{"name": f"{name}-{suffix}"} for suffix in "cabx"]
        for limit, cursor in (
            (2000, None),
            (4, None),
            (2, {"topic_name": f"{name}-b", "partition_index": 1}),
            (4, {"topic_name": f"{name}-aa", "partition_index": 0}),
        ):
            answer = client.call(
                "describe_topic_partitions",
                0,
                topics=asked,
                response_partition_limit=limit,
                cursor=cursor,
            )
            answers.append(plain(answer))
        return answers


@program
def admin_api_versions(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answer = client.call(
            "api_versions", 3, client_software_name="raw", client_software_version="1"
        )
        return {plain(api.api_key): [api.min_version, api.max_version] for api in answer.api_keys}


@program
def admin_api_versions_features(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        answer = client.call(
            "api_versions", 4, client_software_name="raw", client_software_version="1"
        )
        return picked(answer, "error_code", "supported_features", "finalized_features")


@program
def admin_api_versions_bad_client_name(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            plain(
                client.call(
                    "api_versions", 3, client_software_name=bad, client_software_version="1"
                ).error_code
            )
            for bad in ("", "a b", "-", "ok", "a/b")
        ]


@program
def admin_describe_log_dirs(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, 2)
        answers = []
        for partitions in ([0, 1], [0, 7], []):
            answer = client.call(
                "describe_log_dirs", 4, topics=[{"topic": name, "partitions": partitions}]
            )
            (result,) = answer.results
            answers.append([plain(result.error_code), sorted(plain(result.topics), key=repr)])
        return answers


@program
def admin_elect_leaders(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name, 2)
        return [
            plain(
                client.call(
                    "elect_leaders",
                    2,
                    election_type=kind,
                    timeout=30_000,
                    topic_partitions=[{"topic": topic, "partitions": [0, 5]}],
                )
            )
            for kind in (0, 1)
            for topic in (name, f"{name}-ghost")
        ]


@program
def admin_list_reassignments(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        create_topic(client, name)
        return plain(
            client.call(
                "list_partition_reassignments",
                0,
                timeout=1000,
                topics=[{"name": name, "partition_indexes": [0]}],
            )
        )


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
