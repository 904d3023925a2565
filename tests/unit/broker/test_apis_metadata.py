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

ZERO = bytes(16)


async def metadata(
    admin: Admin,
    topics: list[tuple[str | None, bytes]] | None,
    version: int = 13,
    *,
    auto_create: bool = False,
    operations: bool = False,
) -> Any:
    named = None
    if topics is not None:
        named = [
            {"name": name, "topic_id": topic_id} if version >= 10 else {"name": name}
            for name, topic_id in topics
        ]
    tree = {
        "topics": named,
        "allow_auto_topic_creation": auto_create,
        "include_topic_authorized_operations": operations,
        "include_cluster_authorized_operations": operations,
    }
    return await admin.call(ApiKey.METADATA, version, tree)


@pytest.mark.parametrize("version", range(14))
def test_a_topic_is_described_by_every_version(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path, node_id="3", broker_rack="r1") as admin:
            made = await admin.broker.topics.create([NewTopic("orders", 2, {})])
            response = await metadata(admin, [("orders", ZERO)], version)
            host, port = admin.broker.advertised("PLAINTEXT")
            (broker,) = response["brokers"]
            assert (broker["node_id"], broker["host"], broker["port"]) == (3, host, port)
            (topic,) = response["topics"]
            assert (topic["name"], topic["error_code"]) == ("orders", ErrorCode.NONE)
            for index, partition in enumerate(topic["partitions"]):
                assert partition["partition_index"] == index
                assert partition["leader_id"] == 3
                assert partition["replica_nodes"] == partition["isr_nodes"] == [3]
            assert len(topic["partitions"]) == 2
            if version >= 1:
                assert (response["controller_id"], broker["rack"]) == (3, "r1")
                assert topic["is_internal"] is False
            if version >= 2:
                assert response["cluster_id"] == admin.broker.cluster_id
            if version >= 8:
                assert topic["topic_authorized_operations"] == -(1 << 31)
            if version >= 10:
                assert topic["topic_id"] == made["orders"].topic_id  # type: ignore[union-attr]

    asyncio.run(check())


def test_all_topics_some_or_none(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic(name, 1, {}) for name in "abc"])
            for version, topics, names in (
                (0, [], "abc"),
                (1, None, "abc"),
                (1, [], ""),
                (13, None, "abc"),
                (13, [], ""),
                (13, [("b", ZERO), ("a", ZERO), ("b", ZERO)], "ab"),
            ):
                response = await metadata(admin, topics, version)  # type: ignore[arg-type]
                assert sorted(topic["name"] for topic in response["topics"]) == list(names)

    asyncio.run(check())


def test_a_topic_is_found_by_its_id(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            made = (await admin.broker.topics.create([NewTopic("orders", 1, {})]))["orders"]
            topic_id = made.topic_id  # type: ignore[union-attr]
            (topic,) = (await metadata(admin, [(None, topic_id)]))["topics"]
            assert (topic["name"], topic["error_code"]) == ("orders", ErrorCode.NONE)
            (topic,) = (await metadata(admin, [(None, b"x" * 16)]))["topics"]
            assert (topic["name"], topic["error_code"]) == (None, ErrorCode.UNKNOWN_TOPIC_ID)
            assert topic["topic_id"] == b"x" * 16

    asyncio.run(check())


@pytest.mark.parametrize("version", [10, 11])
def test_ids_in_versions_that_have_no_use_for_them_are_refused(
    tmp_path: Path, version: int
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            response = await metadata(admin, [("orders", b"x" * 16)], version)
            assert response["topics"][0]["error_code"] == ErrorCode.INVALID_REQUEST

    asyncio.run(check())


def test_a_topic_without_name_and_id_is_refused(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            response = await metadata(admin, [(None, ZERO)])
            assert response["error_code"] == ErrorCode.INVALID_REQUEST

    asyncio.run(check())


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("none", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("", ErrorCode.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_a_topic_that_is_not_there_has_an_error_code(
    tmp_path: Path, name: str, code: ErrorCode
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            (topic,) = (await metadata(admin, [(name, ZERO)]))["topics"]
            assert (topic["name"], topic["error_code"], topic["partitions"]) == (name, code, [])

    asyncio.run(check())


def test_a_missing_topic_comes_into_being_if_both_sides_want_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path, num_partitions="2") as admin:
            (topic,) = (await metadata(admin, [("orders", ZERO)]))["topics"]
            assert topic["error_code"] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            wanted: list[tuple[str | None, bytes]] = [("orders", ZERO), ("a/b", ZERO)]
            response = await metadata(admin, wanted, auto_create=True)
            found = {topic["name"]: topic for topic in response["topics"]}
            assert len(found["orders"]["partitions"]) == 2
            assert found["a/b"]["error_code"] == ErrorCode.INVALID_TOPIC_EXCEPTION
            assert set(admin.broker.topics.by_name) == {"orders"}

    asyncio.run(check())


def test_nothing_comes_into_being_where_the_broker_forbids_it(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path, auto_create_topics_enable="false") as admin:
            (topic,) = (await metadata(admin, [("orders", ZERO)], auto_create=True))["topics"]
            assert topic["error_code"] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            assert not admin.broker.topics.by_name

    asyncio.run(check())


def test_many_clients_may_ask_for_the_same_new_topic_at_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            responses = await asyncio.gather(
                *(metadata(admin, [("orders", ZERO)], auto_create=True) for _ in range(20))
            )
            ids = {response["topics"][0]["topic_id"] for response in responses}
            assert ids == {admin.broker.topics.by_name["orders"].topic_id}

    asyncio.run(check())


def test_a_name_that_collides_does_not_come_into_being(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await metadata(admin, [("a.b", ZERO)], auto_create=True)
            (topic,) = (await metadata(admin, [("a_b", ZERO)], auto_create=True))["topics"]
            assert topic["error_code"] == ErrorCode.INVALID_TOPIC_EXCEPTION

    asyncio.run(check())


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("__consumer_offsets", {"compact"}),
        ("__transaction_state", {"compact"}),
        ("__share_group_state", {"delete"}),
    ],
)
def test_internal_topics_are_made_as_kafka_makes_them(
    tmp_path: Path, name: str, policy: set[str]
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            (topic,) = (await metadata(admin, [(name, ZERO)], auto_create=True))["topics"]
            assert topic["is_internal"] is True
            assert len(topic["partitions"]) == 50
            config = admin.broker.topics.by_name[name].partitions[0].log.config
            assert config.cleanup_policy == policy
            assert config.segment_bytes == 104_857_600

    asyncio.run(check())


def test_operations_are_shown_to_who_asks(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {})])
            response = await metadata(admin, [("orders", ZERO)], 10, operations=True)
            assert response["topics"][0]["topic_authorized_operations"] == 3576
            assert response["cluster_authorized_operations"] == 8096

    asyncio.run(check())


def test_what_is_kept_ready_follows_the_partitions(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {})])
            await metadata(admin, None)
            await admin.broker.topics.add_partitions(admin.broker.topics.by_name["orders"], 4)
            (topic,) = (await metadata(admin, None))["topics"]
            assert len(topic["partitions"]) == 4

    asyncio.run(check())
