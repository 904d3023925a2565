from __future__ import annotations

from pathlib import Path

import pytest

from headwater.broker.config import BrokerConfig, ConfigSource
from headwater.broker.config.layers import Origin
from headwater.config import ConfigError, UnknownSettingError

HOUR_MS = 60 * 60 * 1000


def test_every_type_has_an_accessor() -> None:
    config = BrokerConfig({"log.cleaner.io.buffer.load.factor": "0.8", "broker.rack": "r1"})
    assert config.boolean("auto.create.topics.enable") is True
    assert config.integer("num.partitions") == 1
    assert config.double("log.cleaner.io.buffer.load.factor") == 0.8
    assert config.text("broker.rack") == "r1"
    assert config.text("sasl.jaas.config") is None
    assert config.words("log.cleanup.policy") == ("delete",)
    assert config.words("early.start.listeners") == ()
    assert config.flush == "fsync"


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("num.partition", r"did you mean num\.partitions\?"),
        ("log.retention.hour", r"did you mean log\.retention\.hours\?"),
        ("retention.ms", r"the broker's is log\.retention\.ms"),
        ("qwertyuiop", "no broker setting of that name$"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_likely_one(name: str, suggestion: str) -> None:
    with pytest.raises(UnknownSettingError, match=suggestion):
        BrokerConfig({name: "1"})


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"num.partitions": "0"}, "at least 1"),
        ({"num.partitions": "many"}, "not a whole number"),
        ({"auto.create.topics.enable": "1"}, "true or false"),
        ({"flush": "sometimes"}, "one of fsync, os"),
        ({"node.id": "-1"}, "at least 0"),
        ({"node.id": "1", "broker.id": "2"}, "differs from node.id"),
        ({"log.dirs": "/a,/b"}, "one directory"),
        ({"log.retention.ms": "0"}, "at least 1"),
        ({"log.roll.ms": "0"}, "at least 1"),
        ({"log.roll.jitter.ms": "-1"}, "at least 0"),
        ({"log.cleaner.dedupe.buffer.size": "1000"}, "one MiB"),
        ({"log.cleaner.min.compaction.lag.ms": "9", "log.cleaner.max.compaction.lag.ms": "8"},
         "larger than"),
        ({"max.connections.per.ip": "0"}, "nobody could connect"),
        ({"queued.max.request.bytes": "5"}, "socket.request.max.bytes"),
        ({"log.segment.bytes": "1000"}, "at least 1048576"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(settings: dict[str, str], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        BrokerConfig(settings)


def test_broker_id_is_the_old_name_of_node_id() -> None:
    assert BrokerConfig({"broker.id": "5"}).node_id == 5
    assert BrokerConfig({"node.id": "6"}).integer("broker.id") == 6


def test_log_dirs_wins_over_log_dir() -> None:
    assert BrokerConfig({"log.dir": "/a"}).data_dir == Path("/a")
    assert BrokerConfig({"log.dir": "/a", "log.dirs": "/b"}).data_dir == Path("/b")
    assert BrokerConfig({"log.dir": "~/c"}).data_dir == Path.home() / "c"


def test_settings_that_kafka_4_dropped_are_let_through_with_a_notice() -> None:
    config = BrokerConfig({"zookeeper.connect": "zoo:2181", "inter.broker.protocol.version": "3"})
    assert all(name in config.notices[0] for name in ("zookeeper.connect", "inter.broker"))


def test_no_notice_without_reason() -> None:
    assert BrokerConfig({"num.partitions": "3"}).notices == []


@pytest.mark.parametrize(
    ("settings", "retention_ms"),
    [
        ({}, 168 * HOUR_MS),
        ({"log.retention.hours": "1"}, HOUR_MS),
        ({"log.retention.hours": "1", "log.retention.minutes": "2"}, 120_000),
        ({"log.retention.hours": "1", "log.retention.minutes": "2", "log.retention.ms": "3"}, 3),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.minutes": "-1"}, -1),
    ],
)
def test_retention_comes_in_three_units(settings: dict[str, str], retention_ms: int) -> None:
    assert BrokerConfig(settings).log_defaults().retention_ms == retention_ms


def test_logs_get_what_the_broker_says() -> None:
    defaults = BrokerConfig(
        {
            "log.roll.hours": "2",
            "log.roll.jitter.hours": "1",
            "log.flush.scheduler.interval.ms": "50",
            "message.max.bytes": "9",
            "log.cleanup.policy": "compact,delete",
            "log.index.size.max.bytes": "800",
            "log.cleaner.min.cleanable.ratio": "0.1",
            "log.preallocate": "true",
            "compression.type": "zstd",
        }
    ).log_defaults()
    assert defaults.segment_ms == 2 * HOUR_MS
    assert defaults.segment_jitter_ms == HOUR_MS
    assert defaults.flush_ms == 50
    assert defaults.max_message_bytes == 9
    assert defaults.cleanup_policy == {"compact", "delete"}
    assert defaults.segment_index_bytes == 800
    assert defaults.min_cleanable_dirty_ratio == 0.1
    assert defaults.preallocate is True
    assert defaults.compression_type == "zstd"


def test_what_changes_at_run_time_wins_and_is_told() -> None:
    config = BrokerConfig({"log.retention.hours": "1"})
    seen: list[int] = []
    config.on_change(lambda: seen.append(config.log_defaults().retention_ms))
    config.set_dynamic({"log.retention.ms": "10"}, {})
    config.set_dynamic({"log.retention.ms": "10"}, {"log.retention.ms": "20"})
    config.set_dynamic({}, {})
    assert seen == [10, 20, HOUR_MS]


def test_a_bad_change_changes_nothing() -> None:
    config = BrokerConfig()
    config.set_dynamic({}, {"log.retention.ms": "10"})
    with pytest.raises(ConfigError):
        config.set_dynamic({}, {"log.retention.ms": "x"})
    with pytest.raises(ConfigError):
        config.check_dynamic({}, {"log.retention.ms": "0"})
    assert config.log_defaults().retention_ms == 10


def test_every_layer_is_shown_with_the_winner_first() -> None:
    config = BrokerConfig({"message.max.bytes": "3000", "log.retention.hours": "24"})
    config.set_dynamic({"message.max.bytes": "2000"}, {"message.max.bytes": "1000"})
    assert config.origins("message.max.bytes") == [
        Origin("message.max.bytes", "1000", ConfigSource.DYNAMIC_BROKER_CONFIG),
        Origin("message.max.bytes", "2000", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
        Origin("message.max.bytes", "3000", ConfigSource.STATIC_BROKER_CONFIG),
        Origin("message.max.bytes", "1048588", ConfigSource.DEFAULT_CONFIG),
    ]


def test_synonyms_are_shown_below_the_setting_itself_only() -> None:
    config = BrokerConfig({"log.retention.hours": "24"})
    assert config.origins("log.retention.ms") == []
    config.set_dynamic({}, {"log.retention.ms": "5"})
    assert config.origins("log.retention.ms") == [
        Origin("log.retention.ms", "5", ConfigSource.DYNAMIC_BROKER_CONFIG),
        Origin("log.retention.hours", "24", ConfigSource.STATIC_BROKER_CONFIG),
        Origin("log.retention.hours", "168", ConfigSource.DEFAULT_CONFIG),
    ]


def test_passwords_are_never_shown() -> None:
    config = BrokerConfig({"ssl.key.password": "hush"})
    assert config.origins("ssl.key.password") == [
        Origin("ssl.key.password", None, ConfigSource.STATIC_BROKER_CONFIG)
    ]


def test_a_setting_may_be_for_one_listener() -> None:
    config = BrokerConfig({"listener.name.plaintext.max.connections": "9"})
    assert config.value("listener.name.plaintext.max.connections") == 9
    assert config.origins("listener.name.plaintext.max.connections")[0].value == "9"
    assert "listener.name.plaintext.max.connections" in config.names()
