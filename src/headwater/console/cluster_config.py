"""One cluster that the console shows: where it is, what is around it, who may do what there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.clients import ClusterAccess, RegistryAccess
from headwater.config import ConfigError, MissingSettingError, Values
from headwater.console.model.records.masks import Mask, Masks
from headwater.console.model.security.roles import Roles
from headwater.console.settings import (
    CLIENT_PREFIX,
    CLUSTER_SETTINGS,
    CLUSTERS_PREFIX,
    REGISTRY_PREFIX,
    SERVICE_PREFIXES,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# It stands in addresses, in names of settings and in names of files.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


@dataclass(slots=True)
class ClusterConfig:
    """What can be set for each cluster."""

    name: str = "default"
    bootstrap_servers: str = "localhost:9092"
    client: dict[str, str] = field(default_factory=dict)
    registry: dict[str, str] = field(default_factory=dict)
    services: dict[str, dict[str, str]] = field(default_factory=dict)
    """Where the services around the cluster are and what lets us in there, by their prefix."""
    is_read_only: bool = False
    scan_records: int = 20_000
    roles: Roles = field(default_factory=Roles)
    masks: Masks = field(default_factory=Masks)
    data: Path | None = None
    """The directory of nodes on this machine that can be started and stopped."""

    @classmethod
    def first(cls, given: Mapping[str, str], values: Values) -> ClusterConfig:
        """Take the settings of the cluster without a prefix; raises ConfigError."""
        config = cls(
            name=values.text("cluster.name") or "",
            bootstrap_servers=",".join(values.words("bootstrap.servers")),
            is_read_only=values.boolean("read.only"),
            scan_records=values.integer("scan.max.records"),
            roles=_roles(values),
            masks=_masks(values),
        )
        config._take(given, values)
        return config

    @classmethod
    def named(cls, name: str, given: Mapping[str, str], first: ClusterConfig) -> ClusterConfig:
        """Take those of `clusters.NAME.`; rules of the console as a whole hold here as well.

        Raises ConfigError.
        """
        prefix = f"{CLUSTERS_PREFIX}{name}."
        own = {n.removeprefix(prefix): text for n, text in given.items() if n.startswith(prefix)}
        try:
            values = Values(CLUSTER_SETTINGS, own)
            if "bootstrap.servers" not in own:
                raise MissingSettingError("bootstrap.servers")
            own_roles = _roles(values)
            config = cls(
                name=name,
                bootstrap_servers=",".join(values.words("bootstrap.servers")),
                is_read_only=values.boolean("read.only") or first.is_read_only,
                scan_records=first.scan_records,
                roles=own_roles if own_roles.are_given else first.roles,
                masks=first.masks.and_those(_masks(values)),
            )
            config._take(own, values)
        except ConfigError as failure:
            # Operators look for the name that they wrote.
            whole = f"{prefix}{failure.name}"
            failure.args = (str(failure).replace(failure.name, whole, 1),)
            failure.name = whole
            raise
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

    def service_access(self, name: str) -> RegistryAccess | None:
        """A service that speaks HTTP, where there is one; raises InvalidPropertiesError."""
        given = self.services.get(name, {})
        # They are let in by the same settings as a registry's clients.
        return RegistryAccess.of(given) if "url" in given else None

    def check(self) -> None:
        """Look whether clients can be made of it; raises InvalidPropertiesError."""
        self.access.librdkafka()
        _ = self.registry_access
        for name in self.services:
            self.service_access(name)

    def _take(self, given: Mapping[str, str], values: Values) -> None:
        """Take what is handed on to clients."""
        if data := values.text("cluster.data"):
            self.data = Path(data).expanduser()
        if registries := values.words("schema.registry.url"):
            self.registry["url"] = ",".join(registries)
        for name, text in given.items():
            if name.startswith(CLIENT_PREFIX):
                self.client[name.removeprefix(CLIENT_PREFIX)] = text.strip()
            elif name.startswith(REGISTRY_PREFIX) and name != "schema.registry.url":
                self.registry[name.removeprefix(REGISTRY_PREFIX)] = text.strip()
            elif name.startswith(SERVICE_PREFIXES):
                service, _, setting = name.partition(".")
                value = _url(values, name) if setting == "url" else text.strip()
                self.services.setdefault(service, {})[setting] = value


def cluster_names(given: Mapping[str, str], first: str) -> list[str]:
    """Return the names of all clusters but the first, as they come; raises ConfigError."""
    names: dict[str, None] = {}
    for setting, text in given.items():
        if not setting.startswith(CLUSTERS_PREFIX):
            continue
        name, _, rest = setting.removeprefix(CLUSTERS_PREFIX).partition(".")
        if not _NAME.fullmatch(name) or not rest:
            why = "it is called clusters.NAME.SETTING, and NAME has letters, digits, - and _ only"
            raise ConfigError(setting, text, why)
        if name == first:
            why = f"the first cluster is called {first} already; see cluster.name"
            raise ConfigError(setting, text, why)
        names[name] = None
    return list(names)


def _roles(values: Values) -> Roles:
    return Roles(values.words("admin.users"), values.words("editor.users"))


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
