from __future__ import annotations

import pytest

from headwater.config import ConfigError, UnknownSettingError
from headwater.log.config import LogConfig
from headwater.log.topic_settings import TOPIC_SETTINGS


def test_every_topic_setting_is_a_field_with_the_same_default() -> None:
    defaults = LogConfig()
    for name, definition in TOPIC_SETTINGS.items():
        if definition.internal:
            continue
        value = getattr(defaults, name.replace(".", "_"))
        assert (tuple(value) if isinstance(value, frozenset) else value) == definition.default


def test_properties_are_laid_on_the_defaults() -> None:
    defaults = LogConfig(retention_ms=5, segment_ms=7)
    config = LogConfig.from_properties({"retention.ms": " -1 "}, defaults)
    assert (config.retention_ms, config.segment_ms) == (-1, 7)


@pytest.mark.parametrize(
    ("policy", "compacts", "deletes"),
    [
        ("delete", False, True),
        ("compact", True, False),
        ("compact , delete", True, True),
        ("compact,compact", True, False),
        ("", False, False),
    ],
)
def test_cleanup_policies(policy: str, compacts: bool, deletes: bool) -> None:
    config = LogConfig.from_properties({"cleanup.policy": policy})
    assert (config.compacts, config.deletes) == (compacts, deletes)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "abc"),
        ("retention.ms", "-2"),
        ("retention.ms", ""),
        ("retention.ms", "1_000"),
        ("retention.ms", "9223372036854775808"),
        ("segment.bytes", "1048575"),
        ("segment.bytes", "2147483648"),
        ("cleanup.policy", "compact,shred"),
        ("compression.type", "brotli"),
        ("compression.type", "GZIP"),
        ("compression.gzip.level", "0"),
        ("compression.lz4.level", "18"),
        ("compression.zstd.level", "23"),
        ("min.cleanable.dirty.ratio", "1.1"),
        ("min.cleanable.dirty.ratio", "half"),
        ("message.timestamp.type", "createtime"),
        ("preallocate", "yes"),
        ("min.insync.replicas", "0"),
        ("leader.replication.throttled.replicas", "0-1"),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name.replace(".", r"\.")) as caught:
        LogConfig.from_properties({name: value})
    assert (caught.value.name, caught.value.value) == (name, value)


@pytest.mark.parametrize(
    ("name", "value", "parsed"),
    [
        ("preallocate", "TRUE", True),
        ("compression.gzip.level", "-1", -1),
        ("compression.gzip.level", "9", 9),
        ("compression.zstd.level", "-131072", -131072),
        ("retention.bytes", "+5", 5),
        ("min.cleanable.dirty.ratio", "1", 1.0),
        ("leader.replication.throttled.replicas", "*", ("*",)),
        ("follower.replication.throttled.replicas", "0:1, 1:1", ("0:1", "1:1")),
    ],
)
def test_a_good_value_is_parsed(name: str, value: str, parsed: object) -> None:
    config = LogConfig.from_properties({name: value})
    assert getattr(config, name.replace(".", "_")) == parsed


def test_an_unknown_setting_is_refused_with_the_likely_one() -> None:
    with pytest.raises(UnknownSettingError, match=r"did you mean retention\.ms\?"):
        LogConfig.from_properties({"retenton.ms": "1"})


def test_small_segments_are_for_tests_only() -> None:
    assert LogConfig.from_properties({"internal.segment.bytes": "100"}).segment_bytes == 100


def test_a_compaction_lag_may_not_end_before_it_starts() -> None:
    lags = {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}
    with pytest.raises(ConfigError, match=r"min\.compaction\.lag\.ms.*max\.compaction\.lag\.ms"):
        LogConfig.from_properties(lags)


def test_every_setting_says_what_it_does_in_one_sentence() -> None:
    for definition in TOPIC_SETTINGS.values():
        assert definition.doc.endswith(".")
        assert ". " not in definition.doc
