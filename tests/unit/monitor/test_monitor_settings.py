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
    "headwater.ssl.crl.location": "revoked.pem",
    "oauthbearer.jwks.endpoint.url": "file:keys.json",
    "oauthbearer.expected.issuer": "https://login.example.org",
    "oauthbearer.expected.audience": "plant,factory",
    "oauthbearer.sub.claim.name": "email",
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
    "alert.email.from": "plant@example.org",
    "certificates.watch": "registry:8081",
}
MAIL = {"alert.email.smtp.server": "mail:25", "alert.email.to": "ann@example.org"}
OF_MAIL = {
    "alert.email.starttls": "true",
    "alert.email.username": "plant",
    "alert.email.password": "secret",
}


def test_each_setting_changes_something() -> None:
    assert {*OTHERS, *MAIL, *OF_MAIL, "alert.rules.file"} == set(MONITOR_SETTINGS)
    for name, text in OTHERS.items():
        assert MonitorConfig.from_settings({name: text}) != MonitorConfig(), name
    mail = MonitorConfig.from_settings(MAIL)
    assert mail != MonitorConfig()
    for name, text in OF_MAIL.items():
        assert MonitorConfig.from_settings({**MAIL, name: text}) != mail, name


def test_nothing_given_is_the_default() -> None:
    assert MonitorConfig.from_settings({}) == MonitorConfig()


def test_client_settings_reach_the_client() -> None:
    config = MonitorConfig.from_settings({"client.security.protocol": "SSL"})
    assert config.access.librdkafka()["security.protocol"] == "SSL"


def test_brokers_that_speak_tls_have_their_certificates_watched() -> None:
    given = {"bootstrap.servers": "a:9094, b:9094", "client.security.protocol": "SASL_SSL"}
    config = MonitorConfig.from_settings({**given, "certificates.watch": "b:9094,c:8081"})
    assert config.watched_certificates == ("b:9094", "c:8081", "a:9094")


@pytest.mark.parametrize("alone", MAIL)
def test_mail_needs_a_server_and_somebody(alone: str) -> None:
    with pytest.raises(ConfigError, match=r"alert\.email\..*mail needs"):
        MonitorConfig.from_settings({alone: MAIL[alone]})


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
