"""The monitor's settings, each of which has to mean something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.config import ConfigError
from headwater.monitor.config import MonitorConfig
from headwater.monitor.settings import MONITOR_SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

OTHERS = {
    "listeners": "http://0.0.0.0:9400",
    "authentication.users.file": "users.txt",
    "ssl.certificate.location": "server.pem",
    "ssl.key.location": "server.key",
    "ssl.ca.location": "ca.pem",
    "ssl.client.authentication": "required",
    "request.logger.name": "requests",
    "bootstrap.servers": "kafka:9092",
    "cluster.name": "plant",
    "poll.interval.ms": "500",
    "evaluation.window.samples": "3",
    "topic.filter": "^plant",
    "topic.exclude": "^_",
    "group.filter": "^etl",
    "group.exclude": "^console-",
    "alert.webhook.url": "http://localhost:9093",
    "alert.topic": "alerts",
}


def test_each_setting_changes_something() -> None:
    assert {*OTHERS, "alert.rules.file"} == set(MONITOR_SETTINGS)
    for name, text in OTHERS.items():
        assert MonitorConfig.from_settings({name: text}) != MonitorConfig(), name


def test_nothing_given_is_the_default() -> None:
    assert MonitorConfig.from_settings({}) == MonitorConfig()


def test_client_settings_reach_the_client() -> None:
    config = MonitorConfig.from_settings({"client.security.protocol": "SSL"})
    assert config.access.librdkafka()["security.protocol"] == "SSL"


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"group\.filter.*regular expression"):
        MonitorConfig.from_settings({"group.filter": "("})


def test_a_rule_file_replaces_the_usual_rules(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text('[[rule]]\nname = "Late"\nwhen = "group-lag"\nabove = 5\n')
    config = MonitorConfig.from_settings({"alert.rules.file": str(file)})
    assert [rule.name for rule in config.rules] == ["Late"]


def test_a_rule_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"alert\.rules\.file.*No such file"):
        MonitorConfig.from_settings({"alert.rules.file": str(tmp_path / "none.toml")})
