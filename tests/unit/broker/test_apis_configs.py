"""The four settings APIs; values, sources and codes are those of a real Kafka."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.broker.admin import Admin, running

from headwater.broker.topics.topics import NewTopic
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
OF_TOPIC, OF_BROKER, OF_ALL_BROKERS, STATIC, DEFAULT = range(1, 6)

Change = tuple[str, int, str | None]


async def describe(
    admin: Admin, kind: int, name: str, *keys: str, version: int = 4, docs: bool = False
) -> tuple[int, dict[str, dict[str, Any]]]:
    resource = {"resource_type": kind, "resource_name": name, "configuration_keys": keys or None}
    tree = {"resources": [resource], "include_synonyms": True, "include_documentation": docs}
    response = await admin.call(ApiKey.DESCRIBE_CONFIGS, version, tree)
    (result,) = response["results"]
    return result["error_code"], {entry["name"]: entry for entry in result["configs"]}


async def value(admin: Admin, kind: int, name: str, key: str) -> tuple[str | None, int]:
    _, entries = await describe(admin, kind, name, key)
    return entries[key]["value"], entries[key]["config_source"]


async def change(
    admin: Admin, kind: int, name: str, *changes: Change, validate_only: bool = False
) -> int:
    (code,) = await change_all(admin, (kind, name, changes), validate_only=validate_only)
    return code


async def change_all(
    admin: Admin, *resources: tuple[int, str, Sequence[Change]], validate_only: bool = False
) -> list[int]:
    tree = {
        "resources": [
            {
                "resource_type": kind,
                "resource_name": name,
                "configs": [
                    {"name": key, "config_operation": operation, "value": text}
                    for key, operation, text in changes
                ],
            }
            for kind, name, changes in resources
        ],
        "validate_only": validate_only,
    }
    response = await admin.call(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, tree)
    return [result["error_code"] for result in response["responses"]]


async def replace(
    admin: Admin, kind: int, name: str, configs: dict[str, str | None], version: int = 2
) -> int:
    resource = {
        "resource_type": kind,
        "resource_name": name,
        "configs": [{"name": key, "value": text} for key, text in configs.items()],
    }
    tree = {"resources": [resource], "validate_only": False}
    response = await admin.call(ApiKey.ALTER_CONFIGS, version, tree)
    code: int = response["responses"][0]["error_code"]
    return code


@pytest.mark.parametrize("version", range(1, 5))
def test_a_topic_is_described_by_every_version(tmp_path: Path, version: int) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {"retention.ms": "5"})])
            code, entries = await describe(admin, TOPIC, "orders", version=version, docs=True)
            assert (code, len(entries)) == (ErrorCode.NONE, 33)
            entry = entries["retention.ms"]
            assert (entry["value"], entry["config_source"]) == ("5", OF_TOPIC)
            assert entry["synonyms"] == [{"name": "retention.ms", "value": "5", "source": OF_TOPIC}]
            assert entries["segment.bytes"]["synonyms"] == [
                {"name": "log.segment.bytes", "value": "1073741824", "source": DEFAULT}
            ]
            assert not entry["read_only"]
            assert not entry["is_sensitive"]
            if version >= 3:
                assert entry["config_type"] == 5
                assert entry["documentation"].endswith(".")

    asyncio.run(check())


def test_a_setting_without_effect_is_named_in_the_log_when_it_is_set(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {})])
            idle, useful = ("num.network.threads", SET, "4"), ("log.retention.ms", SET, "5")
            assert await change(admin, BROKER, "1", idle, useful) == ErrorCode.NONE
            isr = ("min.insync.replicas", SET, "2")
            assert await change(admin, TOPIC, "orders", isr) == ErrorCode.NONE

    asyncio.run(check())
    noted = [record.message for record in caplog.records if "no effect" in record.message]
    assert noted == [
        "the broker setting num.network.threads is kept and has no effect on one node",
        "the topic setting min.insync.replicas is kept and has no effect on one node",
    ]


def test_a_broker_is_described_with_all_its_settings(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path, num_partitions="3", ssl_key_password="hush") as admin:
            _, entries = await describe(admin, BROKER, "1", docs=True)
            assert len(entries) >= 340
            assert all(entry["documentation"] for entry in entries.values())
            partitions = entries["num.partitions"]
            assert (partitions["value"], partitions["config_source"]) == ("3", STATIC)
            assert partitions["read_only"]
            assert [s["source"] for s in partitions["synonyms"]] == [STATIC, DEFAULT]
            assert entries["log.retention.ms"]["value"] is None
            assert not entries["log.retention.ms"]["read_only"]
            password = entries["ssl.key.password"]
            assert (password["value"], password["is_sensitive"]) == (None, True)
            assert [s["value"] for s in password["synonyms"]] == [None]
            assert not any(name.startswith("internal.") for name in entries)

    asyncio.run(check())


def test_only_what_is_asked_for_is_described(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            _, entries = await describe(admin, BROKER, "1", "num.partitions", "nope")
            assert set(entries) == {"num.partitions"}

    asyncio.run(check())


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "none", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (TOPIC, "", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "7", ErrorCode.INVALID_REQUEST),
        (BROKER, "one", ErrorCode.INVALID_REQUEST),
        (LOGGER, "", ErrorCode.INVALID_REQUEST),
        (LOGGER, "7", ErrorCode.INVALID_REQUEST),
        (0, "x", ErrorCode.INVALID_REQUEST),
        (3, "x", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_cannot_be_described_has_an_error_code(
    tmp_path: Path, kind: int, name: str, code: ErrorCode
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            assert await describe(admin, kind, name) == (code, {})

    asyncio.run(check())


def test_a_setting_is_set_and_deleted(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {"retention.ms": "5"})])
            assert await change(admin, TOPIC, "orders", ("segment.ms", SET, "6")) == 0
            assert await value(admin, TOPIC, "orders", "segment.ms") == ("6", OF_TOPIC)
            assert await value(admin, TOPIC, "orders", "retention.ms") == ("5", OF_TOPIC)
            assert await change(admin, TOPIC, "orders", ("retention.ms", DELETE, None)) == 0
            assert await value(admin, TOPIC, "orders", "retention.ms") == ("604800000", DEFAULT)
            assert await change(admin, TOPIC, "orders", ("nope", DELETE, None)) == 0

    asyncio.run(check())


def test_lists_grow_and_shrink(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {})])
            for operation, text, expected in (
                (APPEND, "compact", "delete,compact"),
                (APPEND, "delete", "delete,compact"),
                (SUBTRACT, "delete", "compact"),
                (SUBTRACT, "delete", "compact"),
                (SUBTRACT, "compact", ""),
            ):
                await change(admin, TOPIC, "orders", ("cleanup.policy", operation, text))
                assert await value(admin, TOPIC, "orders", "cleanup.policy") == (expected, OF_TOPIC)

    asyncio.run(check())


@pytest.mark.parametrize(
    ("name", "changes", "code"),
    [
        ("orders", [("segment.ms", SET, "abc")], ErrorCode.INVALID_CONFIG),
        ("orders", [("nope", SET, "1")], ErrorCode.INVALID_CONFIG),
        ("orders", [("segment.ms", SET, None)], ErrorCode.INVALID_REQUEST),
        ("orders", [("segment.ms", APPEND, "1")], ErrorCode.INVALID_CONFIG),
        ("orders", [("segment.ms", SUBTRACT, "1")], ErrorCode.INVALID_CONFIG),
        ("orders", [("segment.ms", 9, "1")], ErrorCode.INVALID_REQUEST),
        ("orders", [("segment.ms", SET, "1"), ("segment.ms", SET, "2")], ErrorCode.INVALID_REQUEST),
        ("orders", [("segment.ms", SET, "1"), ("flush.ms", SET, "x")], ErrorCode.INVALID_CONFIG),
        ("orders", [("remote.storage.enable", SET, "true")], ErrorCode.INVALID_CONFIG),
        ("none", [("segment.ms", SET, "1")], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("none", [], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("a/b", [("segment.ms", SET, "1")], ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("", [("segment.ms", SET, "1")], ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_change_of_a_topic_that_is_wrong_changes_nothing(
    tmp_path: Path, name: str, changes: list[Change], code: ErrorCode
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {"segment.ms": "7"})])
            for validate_only in (True, False):
                result = await change(admin, TOPIC, name, *changes, validate_only=validate_only)
                assert result == code
            assert admin.broker.topics.by_name["orders"].configs == {"segment.ms": "7"}

    asyncio.run(check())


def test_to_validate_is_not_to_change(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {})])
            changes = [("segment.ms", SET, "7")]
            assert await change(admin, TOPIC, "orders", *changes, validate_only=True) == 0
            retention = ("log.retention.ms", SET, "7")
            assert await change(admin, BROKER, "1", retention, validate_only=True) == 0
            assert admin.broker.topics.by_name["orders"].configs == {}
            assert admin.broker.config.dynamic_broker == {}

    asyncio.run(check())


def test_one_bad_resource_does_not_spoil_the_others(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic(name, 1, {}) for name in "abc"])
            codes = await change_all(
                admin,
                (TOPIC, "a", [("segment.ms", SET, "1")]),
                (TOPIC, "b", [("segment.ms", SET, "x")]),
                (TOPIC, "c", [("segment.ms", SET, "1")]),
                (TOPIC, "c", [("segment.ms", SET, "2")]),
            )
            invalid = ErrorCode.INVALID_REQUEST
            assert codes == [ErrorCode.NONE, ErrorCode.INVALID_CONFIG, invalid, invalid]
            configs = {name: topic.configs for name, topic in admin.broker.topics.by_name.items()}
            assert configs == {"a": {"segment.ms": "1"}, "b": {}, "c": {}}

    asyncio.run(check())


def test_the_older_api_replaces_everything(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {"segment.ms": "7"})])
            topic = admin.broker.topics.by_name["orders"]
            for version in range(3):
                assert await replace(admin, TOPIC, "orders", {"flush.ms": "9"}, version) == 0
                assert topic.configs == {"flush.ms": "9"}
            code = await replace(admin, TOPIC, "orders", {"flush.ms": "x"})
            assert code == ErrorCode.INVALID_CONFIG
            code = await replace(admin, TOPIC, "orders", {"flush.ms": None})
            assert code == ErrorCode.INVALID_REQUEST
            assert topic.configs == {"flush.ms": "9"}
            assert await replace(admin, TOPIC, "orders", {}) == 0
            assert topic.configs == {}
            assert await replace(admin, BROKER, "1", {"log.retention.ms": "8"}) == 0
            assert admin.broker.config.dynamic_broker == {"log.retention.ms": "8"}
            assert await replace(admin, BROKER, "1", {}) == 0
            assert admin.broker.config.dynamic_broker == {}
            assert await replace(admin, LOGGER, "1", {"root": "INFO"}) == ErrorCode.INVALID_REQUEST

    asyncio.run(check())


def test_what_is_changed_for_brokers_shows_in_topics(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {})])
            retention = "log.retention.ms"
            assert await change(admin, BROKER, "", (retention, SET, "70")) == 0
            assert await value(admin, TOPIC, "orders", "retention.ms") == ("70", OF_ALL_BROKERS)
            assert await change(admin, BROKER, "1", (retention, SET, "80")) == 0
            assert await value(admin, TOPIC, "orders", "retention.ms") == ("80", OF_BROKER)
            assert await value(admin, BROKER, "1", retention) == ("80", OF_BROKER)
            assert await value(admin, BROKER, "", retention) == ("70", OF_ALL_BROKERS)
            _, entries = await describe(admin, TOPIC, "orders", "retention.ms")
            assert entries["retention.ms"]["synonyms"] == [
                {"name": retention, "value": "80", "source": OF_BROKER},
                {"name": retention, "value": "70", "source": OF_ALL_BROKERS},
                {"name": "log.retention.hours", "value": "168", "source": DEFAULT},
            ]
            log = admin.broker.topics.by_name["orders"].partitions[0].log
            assert log.config.retention_ms == 80
            await change(admin, BROKER, "1", (retention, DELETE, None))
            await change(admin, BROKER, "", (retention, DELETE, None))
            assert await value(admin, TOPIC, "orders", "retention.ms") == ("604800000", DEFAULT)
            assert log.config.retention_ms == 604_800_000

    asyncio.run(check())


def test_what_is_changed_for_brokers_survives_a_restart(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await change(admin, BROKER, "", ("message.max.bytes", SET, "70"))
            await change(admin, BROKER, "1", ("log.cleanup.policy", APPEND, "compact"))
        async with running(tmp_path) as admin:
            assert await value(admin, BROKER, "1", "message.max.bytes") == ("70", OF_ALL_BROKERS)
            policy = await value(admin, BROKER, "1", "log.cleanup.policy")
            assert policy == ("delete,compact", OF_BROKER)

    asyncio.run(check())


@pytest.mark.parametrize(
    ("broker", "name", "text"),
    [
        ("1", "num.partitions", "3"),
        ("", "num.partitions", "3"),
        ("1", "log.retention.ms", "x"),
        ("1", "log.retention.ms", "0"),
        ("1", "log.retention.ms", None),
        ("1", "nope", "1"),
        ("7", "log.retention.ms", "5"),
        ("one", "log.retention.ms", "5"),
        ("", "ssl.keystore.location", "/x"),
        ("1", "ssl.keystore.location", "/x"),
        ("", "sasl.jaas.config", "x"),
        ("1", "listeners", "PLAINTEXT://127.0.0.1:0"),
    ],
)
def test_a_change_of_a_broker_that_is_wrong_changes_nothing(
    tmp_path: Path, broker: str, name: str, text: str | None
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            code = await change(admin, BROKER, broker, (name, SET, text))
            assert code == ErrorCode.INVALID_REQUEST
            assert admin.broker.config.dynamic_broker == {}
            assert admin.broker.config.dynamic_default == {}

    asyncio.run(check())


def test_a_setting_may_be_changed_for_one_listener(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            name = "listener.name.plaintext.ssl.keystore.password"
            assert await change(admin, BROKER, "1", (name, SET, "hush")) == 0
            _, entries = await describe(admin, BROKER, "1", name)
            assert entries[name]["value"] is None
            assert entries[name]["is_sensitive"]
            assert await change(admin, BROKER, "1", (name, DELETE, None)) == 0
            assert await describe(admin, BROKER, "1", name) == (0, {})

    asyncio.run(check())


def test_log_levels_are_shown_and_set(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            _, entries = await describe(admin, LOGGER, "1")
            assert {"root", "headwater.broker"} <= set(entries)
            logger = logging.getLogger("headwater.broker")
            assert await change(admin, LOGGER, "1", ("headwater.broker", SET, "WARN")) == 0
            assert logger.level == logging.WARNING
            assert (await value(admin, LOGGER, "1", "headwater.broker"))[0] == "WARN"
            assert await change(admin, LOGGER, "1", ("headwater.broker", DELETE, None)) == 0
            assert logger.level == logging.NOTSET
            for changed, code in (
                (("headwater.broker", SET, "LOUD"), ErrorCode.INVALID_CONFIG),
                (("nope", SET, "INFO"), ErrorCode.INVALID_CONFIG),
                (("root", DELETE, None), ErrorCode.INVALID_REQUEST),
                (("root", APPEND, "INFO"), ErrorCode.INVALID_REQUEST),
            ):
                assert await change(admin, LOGGER, "1", changed) == code

    asyncio.run(check())


@pytest.mark.parametrize(
    ("types", "names"),
    [
        ([], [("1", BROKER), ("1", LOGGER), ("orders", TOPIC)]),
        ([TOPIC], [("orders", TOPIC)]),
        ([BROKER], [("1", BROKER)]),
        ([LOGGER], [("1", LOGGER)]),
        ([CLIENT_METRICS], []),
        ([GROUP], []),
    ],
)
def test_what_has_settings_is_listed(
    tmp_path: Path, types: list[int], names: list[tuple[str, int]]
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            await admin.broker.topics.create([NewTopic("orders", 1, {})])
            tree = {"resource_types": types}
            response = await admin.call(ApiKey.LIST_CONFIG_RESOURCES, 1, tree)
            found = [
                (resource["resource_name"], resource["resource_type"])
                for resource in response["config_resources"]
            ]
            assert sorted(found) == names

    asyncio.run(check())


def test_unknown_types_are_not_listed(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            response = await admin.call(
                ApiKey.LIST_CONFIG_RESOURCES, 1, {"resource_types": [TOPIC, 3]}
            )
            assert response["error_code"] == ErrorCode.UNSUPPORTED_VERSION
            first = await admin.call(ApiKey.LIST_CONFIG_RESOURCES, 0, {})
            assert (first["error_code"], first["config_resources"]) == (ErrorCode.NONE, [])

    asyncio.run(check())


def test_a_wrong_value_is_told_before_a_missing_topic(tmp_path: Path) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            wrong = await change(admin, TOPIC, "ghost", ("retention.ms", SET, "soon"))
            right = await change(admin, TOPIC, "ghost", ("retention.ms", SET, "1"))
            assert wrong == ErrorCode.INVALID_CONFIG
            assert right == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    asyncio.run(check())


@pytest.mark.parametrize(("threads", "code"), [("0", 42), ("2", 0), ("3", 42)])
def test_a_pool_of_threads_is_halved_or_doubled_at_most(
    tmp_path: Path, threads: str, code: int
) -> None:
    async def check() -> None:
        async with running(tmp_path) as admin:
            assert await change(admin, BROKER, "1", ("log.cleaner.threads", SET, threads)) == code

    asyncio.run(check())


def test_what_kafka_shows_only_once_it_is_set(tmp_path: Path) -> None:
    rate, delay = "leader.replication.throttled.rate", "log.initial.task.delay.ms"

    async def check() -> None:
        async with running(tmp_path / "default") as admin:
            _, entries = await describe(admin, BROKER, "1")
            assert not {rate, delay} & entries.keys()
        async with running(tmp_path / "set", log_initial_task_delay_ms="5") as admin:
            await change(admin, BROKER, "1", (rate, SET, "5"))
            _, entries = await describe(admin, BROKER, "1")
            assert {rate, delay} <= entries.keys()

    asyncio.run(check())
