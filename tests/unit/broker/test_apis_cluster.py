from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.broker.admin import Admin, running

from headwater.broker.topics.topics import NewTopic
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_this_broker(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path, node_id="5", broker_rack="r") as admin:
            response = await admin.call(ApiKey.DESCRIBE_CLUSTER, version, {})
            host, port = admin.broker.advertised("PLAINTEXT")
            assert response["cluster_id"] == admin.broker.cluster_id
            assert response["controller_id"] == 5
            (broker,) = response["brokers"]
            assert (broker["broker_id"], broker["host"], broker["port"]) == (5, host, port)
            assert broker["rack"] == "r"
            assert response["cluster_authorized_operations"] == -(1 << 31)
            asked = {"include_cluster_authorized_operations": True}
            response = await admin.call(ApiKey.DESCRIBE_CLUSTER, version, asked)
            assert response["cluster_authorized_operations"] == 8096

    asyncio.run(check())


@pytest.mark.parametrize(
    ("endpoint_type", "code"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (3, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_other_endpoints_are_refused(tmp_path: Path, endpoint_type: int, code: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            tree = {"endpoint_type": endpoint_type}
            response = await admin.call(ApiKey.DESCRIBE_CLUSTER, 2, tree)
            assert (response["error_code"], response["brokers"]) == (code, [])

    asyncio.run(check())


async def pages(
    admin: Admin, names: list[str], limit: int, cursor: tuple[str, int] | None = None
) -> tuple[list[tuple[str, int, list[int]]], tuple[str, int] | None]:
    tree: dict[str, Any] = {
        "topics": [{"name": name} for name in names],
        "response_partition_limit": limit,
        "cursor": {"topic_name": cursor[0], "partition_index": cursor[1]} if cursor else None,
    }
    response = await admin.call(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, tree)
    found = [
        (t["name"], t["error_code"], [p["partition_index"] for p in t["partitions"]])
        for t in response["topics"]
    ]
    more = response["next_cursor"]
    return found, (more["topic_name"], more["partition_index"]) if more else None


@pytest.mark.parametrize(
    ("names", "limit", "cursor", "found", "more"),
    [
        (["a"], 100, None, [("a", 0, [0, 1, 2])], None),
        (["b", "a", "a"], 100, None, [("a", 0, [0, 1, 2]), ("b", 0, [0])], None),
        ([], 100, None, [("a", 0, [0, 1, 2]), ("b", 0, [0])], None),
        (["a", "b"], 2, None, [("a", 0, [0, 1])], ("a", 2)),
        (["a", "b"], 2, ("a", 2), [("a", 0, [2]), ("b", 0, [0])], None),
        (["a", "b"], 1, ("a", 2), [("a", 0, [2])], ("b", 0)),
        (["a", "b"], 3, None, [("a", 0, [0, 1, 2])], ("b", 0)),
        (["a"], 0, None, [("a", 0, [0])], ("a", 1)),
        (["a"], -1, None, [("a", 0, [0])], ("a", 1)),
        (["a", "b"], 5, ("a", 9), [("a", 0, []), ("b", 0, [0])], None),
        (["a", "none"], 5, None, [("a", 0, [0, 1, 2]), ("none", 3, [])], None),
        (["a/b"], 5, None, [("a/b", 17, [])], None),
        (["a"], 5, ("a", -1), [("a", 42, [])], None),
        (["a", "b"], 5, ("x", 0), [("a", 42, []), ("b", 42, [])], None),
    ],
)
def test_partitions_are_described_page_by_page(
    tmp_path: Path,
    names: list[str],
    limit: int,
    cursor: tuple[str, int] | None,
    found: list[tuple[str, int, list[int]]],
    more: tuple[str, int] | None,
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("a", 3, {}), NewTopic("b", 1, {})])
            assert await pages(admin, names, limit, cursor) == (found, more)

    asyncio.run(check())


def test_the_broker_limits_a_page(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path, max_request_partition_size_limit="2") as admin:
            await admin.broker.topics.create([NewTopic("a", 3, {})])
            assert await pages(admin, ["a"], 100) == ([("a", 0, [0, 1])], ("a", 2))

    asyncio.run(check())


@pytest.mark.parametrize("version", range(3))
def test_no_election_is_ever_needed(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("a", 1, {})])
            wanted = [{"topic": "a", "partitions": [0, 9]}, {"topic": "none", "partitions": [0]}]
            tree = {"election_type": 0, "topic_partitions": wanted, "timeout": 1000}
            response = await admin.call(ApiKey.ELECT_LEADERS, version, tree)
            codes = [
                [partition["error_code"] for partition in result["partition_result"]]
                for result in response["replica_election_results"]
            ]
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert codes == [[ErrorCode.ELECTION_NOT_NEEDED, unknown], [unknown]]
            tree = {"topic_partitions": None, "timeout": 1000}
            response = await admin.call(ApiKey.ELECT_LEADERS, version, tree)
            assert response["replica_election_results"] == [{"topic": "a", "partition_result": []}]

    asyncio.run(check())


def test_an_election_of_no_known_type_is_refused(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            tree = {"election_type": 7, "topic_partitions": None, "timeout": 1000}
            response = await admin.call(ApiKey.ELECT_LEADERS, 2, tree)
            assert response["error_code"] == ErrorCode.INVALID_REQUEST

    asyncio.run(check())


def test_no_partition_ever_moves(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            tree = {"topics": [{"name": "a", "partition_indexes": [0]}], "timeout": 1000}
            for asked in (tree, {**tree, "topics": None}):
                response = await admin.call(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, asked)
                assert (response["error_code"], response["topics"]) == (ErrorCode.NONE, [])

    asyncio.run(check())


@pytest.mark.parametrize("version", range(1, 6))
def test_the_data_directory_is_described(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("a", 2, {}), NewTopic("b", 1, {})])
            for wanted, found in (
                (None, {"a": [0, 1], "b": [0]}),
                ([("a", [1, 7]), ("none", [0])], {"a": [1]}),
                ([], {}),
            ):
                topics = None
                if wanted is not None:
                    topics = [{"topic": name, "partitions": indexes} for name, indexes in wanted]
                response = await admin.call(ApiKey.DESCRIBE_LOG_DIRS, version, {"topics": topics})
                (result,) = response["results"]
                assert (result["error_code"], result["log_dir"]) == (0, str(tmp_path))
                assert {
                    topic["name"]: [p["partition_index"] for p in topic["partitions"]]
                    for topic in result["topics"]
                } == found
                if version >= 4:
                    assert 0 < result["usable_bytes"] <= result["total_bytes"]

    asyncio.run(check())
