"""What the monitor's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.clients import ClusterAccess
from headwater.config import ConfigError, Values
from headwater.http.listener_settings import ListenerConfig
from headwater.monitor.alerts.email import MailServer
from headwater.monitor.alerts.rule_file import RuleFileError, read_rules
from headwater.monitor.alerts.rules import DEFAULT_RULES
from headwater.monitor.settings import CLIENT_PREFIX, DEFAULT_PORT, MONITOR_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.monitor.alerts.rules import Rule


@dataclass(slots=True)
class MonitorConfig(ListenerConfig):
    """Everything that can be set; `MONITOR_SETTINGS` has the names that operators use."""

    port: int = DEFAULT_PORT
    access: ClusterAccess = field(default_factory=ClusterAccess)
    cluster_name: str = "default"
    interval_s: float = 10.0
    window: int = 10
    topic_filter: str = ".*"
    topic_exclude: str = "^$"
    group_filter: str = ".*"
    group_exclude: str = "^$"
    rules: Sequence[Rule] = DEFAULT_RULES
    webhook: str | None = None
    alert_topic: str | None = None
    mail_server: MailServer | None = None
    mail_from: str = "headwater@localhost"
    mail_to: Sequence[str] = ()
    watched_certificates: Sequence[str] = ()

    @classmethod
    def from_settings(cls, given: Mapping[str, str]) -> MonitorConfig:
        """Take settings by their names; raises ConfigError."""
        values = Values(MONITOR_SETTINGS, given)
        client = {
            name.removeprefix(CLIENT_PREFIX): text.strip()
            for name, text in given.items()
            if MONITOR_SETTINGS.is_open(name)
        }
        config = cls(
            access=ClusterAccess(",".join(values.words("bootstrap.servers")), client),
            cluster_name=_text(values, "cluster.name"),
            interval_s=values.integer("poll.interval.ms") / 1000,
            window=values.integer("evaluation.window.samples"),
            topic_filter=_text(values, "topic.filter"),
            topic_exclude=_text(values, "topic.exclude"),
            group_filter=_text(values, "group.filter"),
            group_exclude=_text(values, "group.exclude"),
        )
        config.webhook = values.text("alert.webhook.url")
        config.alert_topic = values.text("alert.topic")
        config.mail_server = _mail_server(values)
        config.mail_from = _text(values, "alert.email.from")
        config.mail_to = values.words("alert.email.to")
        config.watched_certificates = _certificates(config.access, values)
        rules = values.text("alert.rules.file")
        if rules is not None:
            config.rules = _rules(Path(rules))
        for name in given:
            config.take(name, values)
        return config


def _mail_server(values: Values) -> MailServer | None:
    address, to = values.text("alert.email.smtp.server"), values.words("alert.email.to")
    if address is None and not to:
        return None
    if address is None:
        raise ConfigError("alert.email.smtp.server", address, "mail needs a server to go through")
    if not to:
        raise ConfigError("alert.email.to", "", "mail needs somebody to go to")
    return MailServer(
        address,
        values.boolean("alert.email.starttls"),
        values.text("alert.email.username"),
        values.text("alert.email.password"),
    )


def _certificates(access: ClusterAccess, values: Values) -> tuple[str, ...]:
    """Return whose certificates matter: those that were named, and brokers that speak TLS."""
    named = values.words("certificates.watch")
    if not access.properties.get("security.protocol", "").upper().endswith("SSL"):
        return named
    brokers = [each.strip() for each in access.bootstrap_servers.split(",")]
    return (*named, *(each for each in brokers if each not in named))


def _rules(path: Path) -> Sequence[Rule]:
    try:
        return read_rules(path)
    except RuleFileError as failure:
        raise ConfigError("alert.rules.file", path, str(failure)) from None
    except OSError as failure:
        raise ConfigError("alert.rules.file", path, failure.strerror or str(failure)) from None


def _text(values: Values, name: str) -> str:
    return values.text(name) or ""
