"""What the console's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.clients import ClusterAccess, RegistryAccess
from headwater.config import ConfigError, Values
from headwater.console.model.audit import AuditTrail
from headwater.console.model.masks import Mask, Masks
from headwater.console.model.roles import Roles
from headwater.console.settings import (
    CLIENT_PREFIX,
    CONSOLE_SETTINGS,
    DEFAULT_PORT,
    REGISTRY_PREFIX,
    SERVICE_PREFIXES,
)
from headwater.http.listener_settings import ListenerConfig

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class ConsoleConfig(ListenerConfig):
    """Everything that can be set; `CONSOLE_SETTINGS` has the names that operators use."""

    port: int = DEFAULT_PORT
    bootstrap_servers: str = "localhost:9092"
    client: dict[str, str] = field(default_factory=dict)
    registry: dict[str, str] = field(default_factory=dict)
    cluster_name: str = "default"
    services: dict[str, dict[str, str]] = field(default_factory=dict)
    """Where the services around the cluster are and what lets us in there, by their prefix."""
    is_read_only: bool = False
    allowed_hosts: tuple[str, ...] = ()
    scan_records: int = 20_000
    tour_file: str | None = None
    roles: Roles = field(default_factory=Roles)
    masks: Masks = field(default_factory=Masks)
    audit_file: Path | None = None
    audit_max_bytes: int = 0
    audit_backups: int = 0

    @classmethod
    def from_settings(cls, given: Mapping[str, str]) -> ConsoleConfig:
        """Take settings by their names; raises ConfigError."""
        values = Values(CONSOLE_SETTINGS, given)
        config = cls(
            bootstrap_servers=",".join(values.words("bootstrap.servers")),
            cluster_name=values.text("cluster.name") or "",
            is_read_only=values.boolean("read.only"),
            allowed_hosts=tuple(host.lower() for host in values.words("allowed.hosts")),
            scan_records=values.integer("scan.max.records"),
            tour_file=values.text("tour.file"),
            roles=Roles(values.words("admin.users"), values.words("editor.users")),
            masks=_masks(values),
            audit_max_bytes=values.integer("audit.file.max.bytes"),
            audit_backups=values.integer("audit.file.backups"),
        )
        if path := values.text("audit.file"):
            config.audit_file = Path(path).expanduser()
        if registries := values.words("schema.registry.url"):
            config.registry["url"] = ",".join(registries)
        for name, text in given.items():
            if name.startswith(CLIENT_PREFIX):
                config.client[name.removeprefix(CLIENT_PREFIX)] = text.strip()
            elif name.startswith(REGISTRY_PREFIX) and name != "schema.registry.url":
                config.registry[name.removeprefix(REGISTRY_PREFIX)] = text.strip()
            elif name.startswith(SERVICE_PREFIXES):
                service, _, setting = name.partition(".")
                value = _url(values, name) if setting == "url" else text.strip()
                config.services.setdefault(service, {})[setting] = value
            else:
                config.take(name, values)
        return config

    @property
    def access(self) -> ClusterAccess:
        """The cluster."""
        return ClusterAccess(
            self.bootstrap_servers, {"client.id": "headwater-console", **self.client}
        )

    @property
    def registry_access(self) -> RegistryAccess | None:
        """The registry, where there is one; raises InvalidPropertiesError."""
        return RegistryAccess.of(self.registry) if "url" in self.registry else None

    @property
    def service_urls(self) -> dict[str, str]:
        """Where services are that the console speaks to, by what they are called."""
        named = {name: given["url"] for name, given in self.services.items() if "url" in given}
        registries = self.registry.get("url", "")
        return {**named, **({"registry": registries.split(",")[0]} if registries else {})}

    def audit_trail(self) -> AuditTrail:
        """Return where changes are written down; raises ConfigError."""
        try:
            return AuditTrail(self.audit_file, self.audit_max_bytes, self.audit_backups)
        except OSError as failure:
            why = failure.strerror or str(failure)
            raise ConfigError("audit.file", self.audit_file, why) from None

    def service_access(self, name: str) -> RegistryAccess | None:
        """A service that speaks HTTP, where there is one; raises InvalidPropertiesError."""
        given = self.services.get(name, {})
        # They are let in by the same settings as a registry's clients.
        return RegistryAccess.of(given) if "url" in given else None


def _masks(values: Values) -> Masks:
    rules = []
    for text in values.words("masked.fields"):
        try:
            rules.append(Mask.parse(text))
        except ValueError as failure:
            raise ConfigError("masked.fields", text, str(failure)) from None
    return Masks(rules)


def _url(values: Values, name: str) -> str:
    text = values.text(name) or ""
    if urlsplit(text).scheme not in ("http", "https"):
        raise ConfigError(name, text, "it is not of the form http://HOST:PORT")
    return text.rstrip("/")
