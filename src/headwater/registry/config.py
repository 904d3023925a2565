"""What the registry's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.clients import ClusterAccess
from headwater.clients.error_log import note_error
from headwater.config import Values
from headwater.http.listener_settings import ListenerConfig
from headwater.registry.settings import CLIENT_PREFIX, DEFAULT_PORT, REGISTRY_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(slots=True)
class RegistryConfig(ListenerConfig):
    """Everything that can be set; `REGISTRY_SETTINGS` has the names that operators use."""

    bootstrap_servers: str = "localhost:9092"
    client: dict[str, str] = field(default_factory=dict)  # in Java's words or librdkafka's
    port: int = DEFAULT_PORT
    advertised_url: str | None = None  # where other instances reach this one
    topic: str = "_schemas"
    replication_factor: int = 3
    group: str = "schema-registry"
    is_eligible: bool = True
    session_timeout_ms: int = 10_000
    timeout_s: float = 10.0
    start_timeout_s: float = 60.0
    leader_patience_s: float = 20.0
    compatibility_level: str = "BACKWARD"
    modes_can_change: bool = True
    read_only: bool = False
    max_request_bytes: int = 4 * 1024 * 1024

    @classmethod
    def from_settings(cls, given: Mapping[str, str]) -> RegistryConfig:
        """Take settings by Confluent's names; raises ConfigError."""
        config = cls()
        values = Values(REGISTRY_SETTINGS, given)
        for name, text in given.items():
            if config.take(name, values):
                continue
            if REGISTRY_SETTINGS.is_open(name):
                config.client[name.removeprefix(CLIENT_PREFIX)] = text.strip()
            else:
                attribute, convert = _ATTRIBUTES[name]
                setattr(config, attribute, convert(values[name]))
        return config

    def client_settings(self) -> dict[str, Any]:
        """Return librdkafka's settings for every client; raises InvalidPropertiesError."""
        return {
            "client.id": "headwater-registry",
            "log_level": 0,  # what matters comes as errors
            "error_cb": note_error,
            **ClusterAccess(self.bootstrap_servers, self.client).librdkafka(),
        }


def _as_it_is(value: Any) -> Any:
    return value


def _seconds(milliseconds: int) -> float:
    return milliseconds / 1000


def _servers(servers: tuple[str, ...]) -> str:
    # Confluent's setting has the security protocol in it, which is a setting of its own here.
    return ",".join(each.rpartition("://")[2] for each in servers)


_ATTRIBUTES: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "kafkastore.bootstrap.servers": ("bootstrap_servers", _servers),
    "kafkastore.topic": ("topic", _as_it_is),
    "kafkastore.topic.replication.factor": ("replication_factor", _as_it_is),
    "kafkastore.timeout.ms": ("timeout_s", _seconds),
    "kafkastore.init.timeout.ms": ("start_timeout_s", _seconds),
    "schema.registry.group.id": ("group", _as_it_is),
    "schema.compatibility.level": ("compatibility_level", str.upper),
    "avro.compatibility.level": ("compatibility_level", str.upper),
    "leader.eligibility": ("is_eligible", _as_it_is),
    "leader.session.timeout.ms": ("session_timeout_ms", _as_it_is),
    "leader.patience.ms": ("leader_patience_s", _seconds),
    "mode.mutability": ("modes_can_change", _as_it_is),
    "read.only": ("read_only", _as_it_is),
    "max.request.bytes": ("max_request_bytes", _as_it_is),
    "advertised.url": ("advertised_url", _as_it_is),
}
