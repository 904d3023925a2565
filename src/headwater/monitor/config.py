"""What the monitor's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.clients import ClusterAccess
from headwater.config import Values
from headwater.http.listener_settings import ListenerConfig
from headwater.monitor.settings import CLIENT_PREFIX, DEFAULT_PORT, MONITOR_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping


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
        for name in given:
            config.take(name, values)
        return config


def _text(values: Values, name: str) -> str:
    return values.text(name) or ""
