"""The cluster: metadata, versions, directories, leaders."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from tests.differential.observation import picked, plain
from tests.differential.program import program
from tests.differential.programs.admin import metadata
from tests.integration.raw_requests import create_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine


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
