"""DeleteRecords, DescribeLogDirs and OffsetForLeaderEpoch on logs that have records."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.broker.admin import Admin, running

from headwater.broker.topics.topics import NewTopic, Topic
from headwater.log.append_info import AppendOrigin
from headwater.log.records.record import Record, encode_batch
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_700_000_000_000


async def topic_with_records(admin: Admin, count: int, **configs: str) -> Topic:
    settings = {name.replace("_", "."): value for name, value in configs.items()}
    topic = (await admin.broker.topics.create([NewTopic("orders", 2, settings)]))["orders"]
    assert isinstance(topic, Topic)
    partition = topic.partitions[0]
    for number in range(count):
        batch = encode_batch([Record(0, NOW, b"key", b"%d" % number)])
        partition.append(memoryview(batch), NOW, AppendOrigin.CLIENT)
    partition.advance(partition.log.flush())
    return topic


async def delete_records(
    admin: Admin, topic: str, index: int, offset: int, version: int = 2
) -> tuple[int, int]:
    partition = {"partition_index": index, "offset": offset}
    tree = {"topics": [{"name": topic, "partitions": [partition]}], "timeout": 1000}
    response = await admin.call(ApiKey.DELETE_RECORDS, version, tree)
    (result,) = response["topics"][0]["partitions"]
    return result["error_code"], result["low_watermark"]


@pytest.mark.parametrize("version", range(3))
def test_records_are_deleted_up_to_an_offset(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            topic = await topic_with_records(admin, 10)
            assert await delete_records(admin, "orders", 0, 4, version) == (ErrorCode.NONE, 4)
            assert topic.partitions[0].log.log_start_offset == 4
            assert await delete_records(admin, "orders", 0, 2, version) == (ErrorCode.NONE, 4)
            assert await delete_records(admin, "orders", 0, -1, version) == (ErrorCode.NONE, 10)
            assert topic.partitions[0].log.log_start_offset == 10

    asyncio.run(check())


@pytest.mark.parametrize(
    ("topic", "index", "offset", "code"),
    [
        ("orders", 0, 11, ErrorCode.OFFSET_OUT_OF_RANGE),
        ("orders", 0, -2, ErrorCode.OFFSET_OUT_OF_RANGE),
        ("orders", 7, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("none", 0, 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("__consumer_offsets", 0, 0, ErrorCode.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_records_that_cannot_be_deleted_stay(
    tmp_path: Path, topic: str, index: int, offset: int, code: ErrorCode
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            orders = await topic_with_records(admin, 10)
            await admin.broker.topics.create([NewTopic("__consumer_offsets", 1, {})])
            assert await delete_records(admin, topic, index, offset) == (code, -1)
            assert orders.partitions[0].log.log_start_offset == 0

    asyncio.run(check())


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("compact", ErrorCode.POLICY_VIOLATION),
        ("compact,delete", ErrorCode.NONE),
        ("", ErrorCode.NONE),
    ],
)
def test_what_is_only_compacted_keeps_its_records(
    tmp_path: Path, policy: str, code: ErrorCode
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await topic_with_records(admin, 3, cleanup_policy=policy)
            assert (await delete_records(admin, "orders", 0, 1))[0] == code

    asyncio.run(check())


def test_the_size_of_a_partition_is_that_of_its_records(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            topic = await topic_with_records(admin, 10)
            response = await admin.call(ApiKey.DESCRIBE_LOG_DIRS, 4, {"topics": None})
            (described,) = response["results"][0]["topics"]
            sizes = [partition["partition_size"] for partition in described["partitions"]]
            assert sizes == [topic.partitions[0].log.size, 0]
            assert sizes[0] == (tmp_path / "orders-0" / ("0" * 20 + ".log")).stat().st_size

    asyncio.run(check())


async def epoch_end(
    admin: Admin, topic: str, index: int, epoch: int, current: int = -1, version: int = 4
) -> tuple[int, int, int]:
    partition = {"partition": index, "leader_epoch": epoch, "current_leader_epoch": current}
    tree: dict[str, Any] = {"topics": [{"topic": topic, "partitions": [partition]}]}
    response = await admin.call(ApiKey.OFFSET_FOR_LEADER_EPOCH, version, tree)
    (result,) = response["topics"][0]["partitions"]
    return result["error_code"], result["leader_epoch"], result["end_offset"]


@pytest.mark.parametrize("version", range(2, 5))
def test_the_current_epoch_ends_where_the_log_does(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            topic = await topic_with_records(admin, 10)
            epoch = topic.partitions[0].leader_epoch
            end = await epoch_end(admin, "orders", 0, epoch, epoch, version)
            assert end == (ErrorCode.NONE, epoch, 10)
            assert await epoch_end(admin, "orders", 1, epoch) == (ErrorCode.NONE, epoch, 0)

    asyncio.run(check())


@pytest.mark.parametrize(
    ("topic", "index", "epoch_ahead", "current_ahead", "code"),
    [
        ("orders", 0, 1, None, ErrorCode.NONE),
        ("orders", 0, 0, 5, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ("orders", 9, 0, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("none", 0, 0, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_an_epoch_that_is_not_known_has_no_end(
    tmp_path: Path,
    topic: str,
    index: int,
    epoch_ahead: int,
    current_ahead: int | None,
    code: ErrorCode,
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            orders = await topic_with_records(admin, 10)
            epoch = orders.partitions[0].leader_epoch
            current = -1 if current_ahead is None else epoch + current_ahead
            result = await epoch_end(admin, topic, index, epoch + epoch_ahead, current)
            assert result == (code, -1, -1)

    asyncio.run(check())
