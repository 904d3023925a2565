"""CreateTopics, DeleteTopics and CreatePartitions; the codes are those of a real Kafka."""

from __future__ import annotations

import asyncio
import resource
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.broker.admin import Admin, running

from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ZERO = bytes(16)


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    configs: dict[str, str | None] | None = None,
    assignments: Sequence[tuple[int, list[int]]] = (),
) -> dict[str, Any]:
    return {
        "name": name,
        "num_partitions": partitions,
        "replication_factor": factor,
        "configs": [{"name": n, "value": v} for n, v in (configs or {}).items()],
        "assignments": [{"partition_index": i, "broker_ids": b} for i, b in assignments],
    }


async def create(
    admin: Admin, *topics: dict[str, Any], version: int = 7, validate_only: bool = False
) -> dict[str, dict[str, Any]]:
    response = await admin.call(
        ApiKey.CREATE_TOPICS,
        version,
        {"topics": topics, "timeout": 1000, "validate_only": validate_only},
    )
    return {result["name"]: result for result in response["topics"]}


async def delete(
    admin: Admin, *wanted: tuple[str | None, bytes], version: int = 6
) -> list[dict[str, Any]]:
    if version >= 6:
        tree: dict[str, Any] = {"topics": [{"name": n, "topic_id": i} for n, i in wanted]}
    else:
        tree = {"topic_names": [name for name, _ in wanted]}
    results: list[dict[str, Any]] = (await admin.call(ApiKey.DELETE_TOPICS, version, tree))[
        "responses"
    ]
    return results


async def grow(
    admin: Admin,
    name: str,
    count: int,
    assignments: list[list[int]] | None = None,
    *,
    validate_only: bool = False,
) -> int:
    wanted = {
        "name": name,
        "count": count,
        "assignments": None
        if assignments is None
        else [{"broker_ids": brokers} for brokers in assignments],
    }
    tree = {"topics": [wanted], "timeout": 1000, "validate_only": validate_only}
    response = await admin.call(ApiKey.CREATE_PARTITIONS, 3, tree)
    code: int = response["results"][0]["error_code"]
    return code


@pytest.mark.parametrize("version", range(2, 8))
def test_a_topic_is_created_by_every_version(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            results = await create(
                admin, topic("orders", 3, 1, {"retention.ms": "77"}), version=version
            )
            result = results["orders"]
            made = admin.broker.topics.by_name["orders"]
            assert result["error_code"] == ErrorCode.NONE
            assert (len(made.partitions), made.configs) == (3, {"retention.ms": "77"})
            if version >= 5:
                assert (result["num_partitions"], result["replication_factor"]) == (3, 1)
                shown = {entry["name"]: entry for entry in result["configs"]}
                assert len(shown) == 33
                assert shown["retention.ms"]["value"] == "77"
                assert shown["retention.ms"]["config_source"] == 1
                assert shown["segment.bytes"]["config_source"] == 5
            if version >= 7:
                assert result["topic_id"] == made.topic_id

    asyncio.run(check())


def test_minus_one_asks_for_the_brokers_defaults(tmp_path: Path) -> None:
    async def check() -> None:
        properties = {"num_partitions": "4", "default_replication_factor": "3"}
        async with running(tmp_path, **properties) as admin:
            result = (await create(admin, topic("orders", -1, -1)))["orders"]
            assert (result["num_partitions"], result["replication_factor"]) == (4, 1)

    asyncio.run(check())


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (topic("exists"), ErrorCode.TOPIC_ALREADY_EXISTS),
        (topic("ex_ists"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("a/b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("x" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST),
        (topic("t", 0), ErrorCode.INVALID_PARTITIONS),
        (topic("t", -2), ErrorCode.INVALID_PARTITIONS),
        (topic("t", 10_001), ErrorCode.POLICY_VIOLATION),
        (topic("t", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic("t", 1, -2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic("t", configs={"retention.ms": "abc"}), ErrorCode.INVALID_CONFIG),
        (topic("t", configs={"retention.ms": None}), ErrorCode.INVALID_CONFIG),
        (topic("t", configs={"nope": "1"}), ErrorCode.INVALID_CONFIG),
        (topic("t", configs={"remote.storage.enable": "true"}), ErrorCode.INVALID_CONFIG),
        (topic("t", configs={"segment.bytes": "1000"}), ErrorCode.INVALID_CONFIG),
        (
            topic("t", configs={"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "8"}),
            ErrorCode.INVALID_CONFIG,
        ),
        (topic("t", 2, -1, assignments=[(0, [1])]), ErrorCode.INVALID_REQUEST),
        (topic("t", -1, 1, assignments=[(0, [1])]), ErrorCode.INVALID_REQUEST),
        (topic("t", -1, -1, assignments=[(0, [7])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", -1, -1, assignments=[(0, [])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", -1, -1, assignments=[(0, [1, 1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", -1, -1, assignments=[(1, [1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (
            topic("t", -1, -1, assignments=[(0, [1]), (0, [1])]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        ),
    ],
)
def test_what_cannot_be_created_is_refused(
    tmp_path: Path, wanted: dict[str, Any], code: ErrorCode
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await create(admin, topic("exists"), topic("ex.ists"))
            for validate_only in (True, False):
                result = (await create(admin, wanted, validate_only=validate_only))[wanted["name"]]
                assert result["error_code"] == code
                assert result["error_message"]
                assert (result["num_partitions"], result["configs"]) == (-1, [])
            assert set(admin.broker.topics.by_name) == {"exists", "ex.ists"}

    asyncio.run(check())


def test_one_bad_topic_does_not_spoil_the_others(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            wanted = [topic("good"), topic("twice"), topic("a/b"), topic("twice")]
            results = await create(admin, *wanted)
            codes = {name: result["error_code"] for name, result in results.items()}
            assert codes == {
                "good": ErrorCode.NONE,
                "twice": ErrorCode.INVALID_REQUEST,
                "a/b": ErrorCode.INVALID_TOPIC_EXCEPTION,
            }
            assert set(admin.broker.topics.by_name) == {"good"}

    asyncio.run(check())


def test_to_validate_is_not_to_create(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            result = (await create(admin, topic("orders", 3), validate_only=True))["orders"]
            assert (result["error_code"], result["num_partitions"]) == (ErrorCode.NONE, 3)
            assert not admin.broker.topics.by_name

    asyncio.run(check())


def test_an_assignment_to_this_node_is_taken(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            wanted = topic("orders", -1, -1, assignments=[(1, [1]), (0, [1])])
            result = (await create(admin, wanted))["orders"]
            assert result["num_partitions"] == 2

    asyncio.run(check())


def test_more_replicas_than_one_are_taken_as_one_with_a_single_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            for name in ("a", "b"):
                result = (await create(admin, topic(name, 1, 3)))[name]
                assert result["replication_factor"] == 1
            wanted = topic("c", -1, -1, assignments=[(0, [1, 2, 3])])
            assert (await create(admin, wanted))["c"]["replication_factor"] == 1

    asyncio.run(check())
    assert len([r for r in caplog.records if "3 replicas" in r.message]) == 1


def test_more_replicas_than_one_can_be_refused_as_kafka_does(tmp_path: Path) -> None:
    async def check() -> None:
        properties = {"headwater_replication_factor_clamp": "false"}
        async with running(tmp_path, **properties) as admin:
            by_factor, by_assignment = topic("a", 1, 3), topic("b", -1, -1, None, [(0, [1, 2])])
            results = await create(admin, by_factor, by_assignment, topic("c", 1, 1))
            assert results["a"]["error_code"] == ErrorCode.INVALID_REPLICATION_FACTOR
            assert results["b"]["error_code"] == ErrorCode.INVALID_REPLICA_ASSIGNMENT
            assert results["c"]["error_code"] == ErrorCode.NONE

    asyncio.run(check())


@pytest.mark.parametrize("version", range(1, 7))
def test_a_topic_is_deleted_by_every_version(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await create(admin, topic("orders"))
            results = await delete(admin, ("orders", ZERO), ("none", ZERO), version=version)
            assert {result["name"]: result["error_code"] for result in results} == {
                "orders": ErrorCode.NONE,
                "none": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            }
            assert not admin.broker.topics.by_name

    asyncio.run(check())


def test_a_topic_is_deleted_by_its_id(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            topic_id = (await create(admin, topic("orders")))["orders"]["topic_id"]
            (result,) = await delete(admin, (None, topic_id))
            assert result["name"] == "orders"
            (result,) = await delete(admin, (None, topic_id))
            assert (result["name"], result["error_code"]) == (None, ErrorCode.UNKNOWN_TOPIC_ID)

    asyncio.run(check())


@pytest.mark.parametrize(
    "wanted",
    [
        [("orders", b"x" * 16)],
        [(None, ZERO)],
        [("orders", ZERO), ("orders", ZERO)],
    ],
)
def test_an_unclear_deletion_deletes_nothing(
    tmp_path: Path, wanted: list[tuple[str | None, bytes]]
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await create(admin, topic("orders"))
            (result,) = await delete(admin, *wanted)
            assert result["error_code"] == ErrorCode.INVALID_REQUEST
            assert "orders" in admin.broker.topics.by_name

    asyncio.run(check())


def test_deletion_can_be_turned_off(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path, delete_topic_enable="false") as admin:
            await create(admin, topic("orders"))
            (new,) = await delete(admin, ("orders", ZERO))
            (old,) = await delete(admin, ("orders", ZERO), version=2)
            assert new["error_code"] == ErrorCode.TOPIC_DELETION_DISABLED
            assert old["error_code"] == ErrorCode.INVALID_REQUEST
            assert "orders" in admin.broker.topics.by_name

    asyncio.run(check())


def test_partitions_are_added(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await create(admin, topic("orders"))
            assert await grow(admin, "orders", 3, validate_only=True) == ErrorCode.NONE
            assert len(admin.broker.topics.by_name["orders"].partitions) == 1
            assert await grow(admin, "orders", 3) == ErrorCode.NONE
            assert await grow(admin, "orders", 4, [[1]]) == ErrorCode.NONE
            assert len(admin.broker.topics.by_name["orders"].partitions) == 4

    asyncio.run(check())


@pytest.mark.parametrize(
    ("name", "count", "assignments", "code"),
    [
        ("orders", 2, None, ErrorCode.INVALID_PARTITIONS),
        ("orders", 1, None, ErrorCode.INVALID_PARTITIONS),
        ("orders", 0, None, ErrorCode.INVALID_PARTITIONS),
        ("orders", -1, None, ErrorCode.INVALID_PARTITIONS),
        ("orders", 10_003, None, ErrorCode.POLICY_VIOLATION),
        ("none", 3, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 4, [[1]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("orders", 3, [], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("orders", 3, [[]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("orders", 3, [[9]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("orders", 3, [[1, 1]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_partitions_that_cannot_be_added_are_refused(
    tmp_path: Path,
    name: str,
    count: int,
    assignments: list[list[int]] | None,
    code: ErrorCode,
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await create(admin, topic("orders", 2))
            assert await grow(admin, name, count, assignments) == code
            assert len(admin.broker.topics.by_name["orders"].partitions) == 2

    asyncio.run(check())


def test_a_full_disk_is_an_error_that_clients_try_again_after(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await create(admin, topic("before"))
            with no_room_to_grow(tmp_path / "headwater.metadata"):
                result = (await create(admin, topic("orders")))["orders"]
                assert result["error_code"] == ErrorCode.KAFKA_STORAGE_ERROR
                (gone,) = await delete(admin, ("before", ZERO))
                assert gone["error_code"] == ErrorCode.KAFKA_STORAGE_ERROR
                assert await grow(admin, "before", 2) == ErrorCode.KAFKA_STORAGE_ERROR
                wanted = {"topics": [{"name": "auto"}], "allow_auto_topic_creation": True}
                response = await admin.call(ApiKey.METADATA, 9, wanted)
                code = response["topics"][0]["error_code"]
                assert code == ErrorCode.LEADER_NOT_AVAILABLE
            assert set(admin.broker.topics.by_name) == {"before"}
            assert len(admin.broker.topics.by_name["before"].partitions) == 1
            assert (await create(admin, topic("orders")))["orders"]["error_code"] == 0
        async with running(tmp_path) as admin:
            assert set(admin.broker.topics.by_name) == {"before", "orders"}

    asyncio.run(check())


@contextmanager
def no_room_to_grow(path: Path) -> Iterator[None]:
    """Make every write that would lengthen a file of this size fail in its middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
