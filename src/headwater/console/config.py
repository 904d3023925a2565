"""What the console's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.config import ConfigError, Values
from headwater.console.cluster_config import ClusterConfig, cluster_names
from headwater.console.model.security.audit import AuditTrail
from headwater.console.settings import CONSOLE_SETTINGS, DEFAULT_PORT
from headwater.http.listener_settings import ListenerConfig

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class ConsoleConfig(ListenerConfig):
    """Everything that can be set; `CONSOLE_SETTINGS` has the names that operators use."""

    port: int = DEFAULT_PORT
    cluster: ClusterConfig = field(default_factory=ClusterConfig)
    """The first one, whose pages have no prefix."""
    others: tuple[ClusterConfig, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    tour_file: str | None = None
    audit_file: Path | None = None
    audit_max_bytes: int = 0
    audit_backups: int = 0

    @classmethod
    def from_settings(cls, given: Mapping[str, str]) -> ConsoleConfig:
        """Take settings by their names; raises ConfigError."""
        values = Values(CONSOLE_SETTINGS, given)
        first = ClusterConfig.first(given, values)
        config = cls(
            cluster=first,
            others=tuple(
                ClusterConfig.named(name, given, first) for name in cluster_names(given, first.name)
            ),
            allowed_hosts=tuple(host.lower() for host in values.words("allowed.hosts")),
            tour_file=values.text("tour.file"),
            audit_max_bytes=values.integer("audit.file.max.bytes"),
            audit_backups=values.integer("audit.file.backups"),
        )
        if path := values.text("audit.file"):
            config.audit_file = Path(path).expanduser()
        for name in given:
            config.take(name, values)
        return config

    @property
    def clusters(self) -> tuple[ClusterConfig, ...]:
        """All clusters, the first one in front."""
        return (self.cluster, *self.others)

    def audit_trail(self) -> AuditTrail:
        """Return where changes are written down; raises ConfigError."""
        try:
            return AuditTrail(self.audit_file, self.audit_max_bytes, self.audit_backups)
        except OSError as failure:
            why = failure.strerror or str(failure)
            raise ConfigError("audit.file", self.audit_file, why) from None
