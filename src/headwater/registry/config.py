"""What the registry's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from headwater.clients import ClusterAccess
from headwater.clients.error_log import note_error
from headwater.config import ConfigError, Values
from headwater.http.tls import ClientAuthentication
from headwater.registry.settings import CLIENT_PREFIX, DEFAULT_PORT, REGISTRY_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(slots=True)
class RegistryConfig:
    """Everything that can be set; `REGISTRY_SETTINGS` has the names that operators use."""

    bootstrap_servers: str = "localhost:9092"
    client: dict[str, str] = field(default_factory=dict)  # in Java's words or librdkafka's
    host: str = "127.0.0.1"
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
    users_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    ca_file: Path | None = None  # whom to trust: leaders that speak TLS, and clients
    client_authentication: ClientAuthentication = ClientAuthentication.NONE
    request_logger: str | None = None  # where each request is written down

    @classmethod
    def from_settings(cls, given: Mapping[str, str]) -> RegistryConfig:
        """Take settings by Confluent's names; raises ConfigError."""
        config = cls()
        values = Values(REGISTRY_SETTINGS, given)
        for name, text in given.items():
            if name == "listeners":
                config.host, config.port = _address(values.words(name))
            elif REGISTRY_SETTINGS.is_open(name):
                config.client[name.removeprefix(CLIENT_PREFIX)] = text.strip()
            else:
                attribute, convert = _ATTRIBUTES[name]
                setattr(config, attribute, convert(values[name]))
        return config

    def check(self) -> None:
        """Refuse settings that do not go together."""
        if (self.certificate_file is None) != (self.key_file is None):
            raise ConfigError(
                "ssl.key.location", self.key_file, "TLS needs both a certificate and its key"
            )

    @property
    def scheme(self) -> str:
        """https where there is a certificate."""
        return "http" if self.certificate_file is None else "https"

    def client_settings(self) -> dict[str, Any]:
        """Return librdkafka's settings for every client; raises InvalidPropertiesError."""
        return {
            "client.id": "headwater-registry",
            "log_level": 0,  # what matters comes as errors
            "error_cb": note_error,
            **ClusterAccess(self.bootstrap_servers, self.client).librdkafka(),
        }


def _address(listeners: tuple[str, ...]) -> tuple[str, int]:
    try:
        parts = urlsplit(listeners[0])
        port = parts.port
    except ValueError:  # a port that is no number, or a bracket that is not closed
        port = None
    if port is None or parts.scheme not in ("http", "https"):
        raise ConfigError("listeners", listeners[0], "it is not of the form http://HOST:PORT")
    return parts.hostname or "0.0.0.0", port


def _as_it_is(value: Any) -> Any:
    return value


def _seconds(milliseconds: int) -> float:
    return milliseconds / 1000


def _client_authentication(value: str) -> ClientAuthentication:
    return ClientAuthentication(value.upper())


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
    "authentication.users.file": ("users_file", Path),
    "ssl.certificate.location": ("certificate_file", Path),
    "ssl.key.location": ("key_file", Path),
    "ssl.ca.location": ("ca_file", Path),
    "ssl.client.authentication": ("client_authentication", _client_authentication),
    "request.logger.name": ("request_logger", _as_it_is),
}
