from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from headwater.broker.config import BrokerConfig
from headwater.broker.topics.topics import NewTopic, Topic, TopicRegistry
from headwater.log.errors import StorageError
from headwater.log.manager import LogManager
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = 1_700_000_000_000


class Registry:
    """A registry with its logs, which can be closed and opened again."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.open()

    def open(self) -> None:
        self.config = BrokerConfig({"log.dirs": str(self.directory)})
        self.logs = LogManager(self.directory, self.config.log_defaults())
        self.topics = TopicRegistry(self.logs, self.config)
        self.cluster_id = self.topics.load(NOW)

    def close(self) -> None:
        asyncio.run(self.topics.close())
        self.logs.close()

    def reopen(self) -> None:
        self.close()
        self.open()

    def create(self, name: str, partitions: int = 1, **configs: str) -> Topic:
        settings = {key.replace("_", "."): value for key, value in configs.items()}
        created = asyncio.run(self.topics.create([NewTopic(name, partitions, settings)]))[name]
        assert isinstance(created, Topic)
        return created

    def directories(self) -> set[str]:
        return {entry.name for entry in os.scandir(self.directory) if entry.is_dir()}


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    mine = Registry(tmp_path)
    yield mine
    mine.close()


def test_a_topic_is_found_by_name_and_by_id(registry: Registry) -> None:
    topic = registry.create("orders", 2)
    assert registry.topics.by_name["orders"] is registry.topics.by_id[topic.topic_id] is topic
    found = registry.topics.partition("orders", 1)
    assert found is registry.topics.partition(topic.topic_id, 1) is topic.partitions[1]
    assert registry.directories() == {"orders-0", "orders-1"}


@pytest.mark.parametrize(
    ("topic", "index", "code"),
    [
        ("users", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", -1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (b"x" * 16, 0, ErrorCode.UNKNOWN_TOPIC_ID),
    ],
)
def test_what_is_not_there_has_an_error_code(
    registry: Registry, topic: str | bytes, index: int, code: ErrorCode
) -> None:
    registry.create("orders")
    assert registry.topics.partition(topic, index) is code


def test_topics_ids_settings_and_the_cluster_survive_a_restart(registry: Registry) -> None:
    before = registry.create("orders", 3, retention_ms="5", cleanup_policy="compact")
    cluster_id = registry.cluster_id
    registry.reopen()
    after = registry.topics.by_name["orders"]
    assert (after.topic_id, len(after.partitions)) == (before.topic_id, 3)
    assert after.configs == {"retention.ms": "5", "cleanup.policy": "compact"}
    assert after.partitions[2].log.config.retention_ms == 5
    assert registry.cluster_id == cluster_id


def test_a_deleted_topic_leaves_nothing_that_is_served(registry: Registry) -> None:
    topic = registry.create("orders", 2)
    asyncio.run(registry.topics.delete([topic]))
    assert not registry.topics.by_name
    assert not registry.topics.by_id
    assert all(name.endswith("-delete") for name in registry.directories())
    again = registry.create("orders")
    assert again.topic_id != topic.topic_id
    registry.reopen()
    assert registry.topics.by_name["orders"].topic_id == again.topic_id


def test_partitions_are_added_to_those_that_are_there(registry: Registry) -> None:
    topic = registry.create("orders", 1, retention_ms="5")
    first = topic.partitions[0]
    asyncio.run(registry.topics.add_partitions(topic, 3))
    assert topic.partitions[0] is first
    assert [p.index for p in topic.partitions] == [0, 1, 2]
    assert topic.partitions[2].log.config.retention_ms == 5
    registry.reopen()
    assert len(registry.topics.by_name["orders"].partitions) == 3


def test_changed_settings_reach_the_logs_at_once(registry: Registry) -> None:
    topic = registry.create("orders", 2, retention_ms="5")
    asyncio.run(registry.topics.set_configs({"orders": {"segment.ms": "6"}}))
    for partition in topic.partitions:
        assert partition.log.config.segment_ms == 6
        assert partition.log.config.retention_ms == registry.config.log_defaults().retention_ms
    registry.reopen()
    assert registry.topics.by_name["orders"].configs == {"segment.ms": "6"}


def test_changed_defaults_reach_the_logs_that_follow_them(registry: Registry) -> None:
    follows, own = registry.create("follows"), registry.create("own", retention_ms="5")
    asyncio.run(registry.topics.set_broker_configs({"": {"log.retention.ms": "70"}}))
    assert follows.partitions[0].log.config.retention_ms == 70
    assert own.partitions[0].log.config.retention_ms == 5
    asyncio.run(registry.topics.set_broker_configs({"1": {"log.retention.ms": "80"}}))
    assert follows.partitions[0].log.config.retention_ms == 80
    registry.reopen()
    assert registry.topics.by_name["follows"].partitions[0].log.config.retention_ms == 80
    assert registry.config.dynamic_default == {"log.retention.ms": "70"}


def test_names_collide_as_long_as_both_are_there(registry: Registry) -> None:
    topic = registry.create("a.b")
    assert registry.topics.colliding("a_b") == "a.b"
    asyncio.run(registry.topics.delete([topic]))
    assert registry.topics.colliding("a_b") is None


def test_metadata_without_directories_gets_empty_ones(registry: Registry) -> None:
    registry.create("orders", 2)
    registry.close()
    for name in registry.directories():
        for path in (registry.directory / name).iterdir():
            path.unlink()
        (registry.directory / name).rmdir()
    registry.open()
    assert [p.log.log_end_offset for p in registry.topics.by_name["orders"].partitions] == [0, 0]


def test_directories_without_metadata_are_set_aside(registry: Registry) -> None:
    registry.create("orders")
    registry.close()
    (registry.directory / "orders-0").rename(registry.directory / "ghost-0")
    registry.open()
    assert "ghost" not in registry.topics.by_name
    assert any(name.startswith("ghost-0.") for name in registry.directories())


def test_without_a_journal_topics_are_taken_over_from_their_directories(
    registry: Registry,
) -> None:
    topic = registry.create("orders", 2)
    registry.close()
    (registry.directory / "headwater.metadata").unlink()
    registry.open()
    taken = registry.topics.by_name["orders"]
    assert (taken.topic_id, len(taken.partitions)) == (topic.topic_id, 2)


def test_a_topic_that_the_disk_refuses_is_not_there(registry: Registry) -> None:
    registry.create("before")
    # Where one of the partitions belongs, no directory can be made.
    (registry.logs.data_dir / "many-150").symlink_to("nowhere")
    result = asyncio.run(registry.topics.create([NewTopic("many", 200, {})]))
    assert isinstance(result["many"], StorageError)
    assert set(registry.topics.by_name) == {"before"}
    assert not [key for key in registry.logs.logs if key[0] == "many"]
    registry.reopen()
    assert set(registry.topics.by_name) == {"before"}
    assert len(registry.create("many", 5).partitions) == 5


def test_a_change_is_finished_though_nobody_waits_for_it(registry: Registry) -> None:
    async def hang_up() -> None:
        changes = registry.topics.changes
        request = asyncio.create_task(
            changes.run(lambda: registry.topics.create([NewTopic("orders", 20, {})]))
        )
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
        assert request.cancelled()
        await changes.drain()

    asyncio.run(hang_up())
    assert len(registry.topics.by_name["orders"].partitions) == 20


def test_changes_are_made_one_after_the_other(registry: Registry) -> None:
    async def both() -> list[int]:
        order: list[int] = []

        async def change(number: int) -> None:
            order.append(number)
            await registry.topics.create([NewTopic(f"t{number}", 1, {})])
            order.append(number)

        await asyncio.gather(
            *(registry.topics.changes.run(lambda n=n: change(n)) for n in range(3))  # type: ignore[misc]
        )
        return order

    assert asyncio.run(both()) == [0, 0, 1, 1, 2, 2]
