"""What the worker's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from headwater.clients import ClusterAccess
from headwater.clients.error_log import note_error
from headwater.config.types import format_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.config import Values

_CONVERTER_SETTINGS = (
    "{}.converter",
    "{}.converter.schemas.enable",
    "{}.converter.schema.registry.url",
)


_HEADERS = "header.converter"


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageTopic:
    """A topic of the worker's state."""

    name: str
    replication_factor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """A worker: its cluster, its group, its topics, and where others reach it."""

    cluster: ClusterAccess
    group: str
    configs: StorageTopic
    offsets: StorageTopic
    statuses: StorageTopic
    converters: Mapping[str, str]
    """The converters of connectors that name none, with their settings."""
    url: str
    session_timeout_ms: int = 10_000
    stalled_after_s: float = 300.0

    @classmethod
    def of(cls, settings: Values, cluster: ClusterAccess, url: str) -> Self:
        """Take settings; the cluster is the one that they name, or the one that is given."""
        servers = settings.words("bootstrap.servers")
        access = ClusterAccess(",".join(servers), cluster.properties) if servers else cluster
        return cls(
            cluster=access,
            group=str(settings["group.id"]),
            configs=_topic(settings, "config"),
            offsets=_topic(settings, "offset"),
            statuses=_topic(settings, "status"),
            converters=converters_of(settings),
            url=_advertised(url, settings),
            session_timeout_ms=settings.integer("session.timeout.ms"),
            stalled_after_s=settings.integer("headwater.stalled.after.ms") / 1000,
        )

    @property
    def worker_id(self) -> str:
        """The worker's name in statuses, as host:port."""
        return urlsplit(self.url).netloc

    def client(self, purpose: str) -> dict[str, Any]:
        """Return librdkafka's settings for a client of the worker's own."""
        return {
            "client.id": f"headwater-connect-{purpose}",
            "log_level": 0,  # what matters comes as errors
            "error_cb": note_error,
            "enable.metrics.push": False,
            **self.cluster.librdkafka(),
        }

    def transactional_id(self, connector: str, slot: int) -> str:
        """Return the name under which a slot of a source's tasks writes."""
        return f"{self.sink_name(connector)}-{slot}"

    def sink_name(self, connector: str) -> str:
        """Return what the names of a source's transactions begin with."""
        return f"{self.group}-{connector}"


def _topic(settings: Values, kind: str) -> StorageTopic:
    return StorageTopic(
        name=str(settings[f"{kind}.storage.topic"]),
        replication_factor=settings.integer(f"{kind}.storage.replication.factor"),
    )


def converters_of(settings: Values) -> dict[str, str]:
    """Return the converters of connectors that name none, with their settings."""
    names = [each.format(side) for side in ("key", "value") for each in _CONVERTER_SETTINGS]
    given = {name: format_value(settings[name]) for name in (*names, _HEADERS)}
    schemas = f"{_HEADERS}.schemas.enable"
    if schemas in settings:
        given[schemas] = settings.text(schemas)
    return {name: text for name, text in given.items() if text is not None}


def _advertised(url: str, settings: Values) -> str:
    host, port = settings.text("rest.advertised.host.name"), settings["rest.advertised.port"]
    if host is None and port is None:
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{host or parts.hostname}:{port or parts.port}"
