"""The registry's settings, by Confluent's names where there are such."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from headwater.registry.client_errors import note_error
from headwater.registry.settings_scope import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEFAULT_PORT = 8081


class ConfigError(ValueError):
    """A setting cannot be used; the message says which, and why."""


@dataclass(slots=True)
class RegistryConfig:
    """Everything that can be set."""

    bootstrap_servers: str = "localhost:9092"
    client: dict[str, str] = field(default_factory=dict)  # librdkafka's settings
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
    ca_file: Path | None = None  # for asking a leader that speaks TLS

    def set(self, name: str, value: str) -> None:
        """Set what a name of Confluent's settings means; raises ConfigError."""
        value = value.strip()
        if name in _SETTINGS:
            attribute, convert = _SETTINGS[name]
            try:
                setattr(self, attribute, convert(value))
            except ValueError as failure:
                raise ConfigError(f"{name}={value}: {failure}") from None
        elif name == "listeners":
            self._listen(value)
        elif name.startswith("kafkastore."):
            self.client[name.removeprefix("kafkastore.")] = value
        else:
            known = ", ".join(sorted([*_SETTINGS, "listeners", "kafkastore.*"]))
            raise ConfigError(f"there is no setting {name}; there are {known}")

    def check(self) -> None:
        """Refuse settings that do not go together."""
        if (self.certificate_file is None) != (self.key_file is None):
            raise ConfigError("TLS needs both a certificate and its key")

    @property
    def scheme(self) -> str:
        """https where there is a certificate."""
        return "http" if self.certificate_file is None else "https"

    def client_settings(self) -> dict[str, Any]:
        """Return librdkafka's settings for every client of the registry."""
        return {
            "bootstrap.servers": self.bootstrap_servers,
            "client.id": "headwater-registry",
            "log_level": 0,  # what matters comes as errors
            "error_cb": note_error,
            **self.client,
        }

    def _listen(self, value: str) -> None:
        first = value.split(",")[0].strip()
        parts = urlsplit(first)
        if parts.scheme not in ("http", "https") or parts.port is None:
            raise ConfigError(f"listeners={value}: it is not of the form http://HOST:PORT")
        self.host, self.port = parts.hostname or "0.0.0.0", parts.port


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("it is true or false")
    return text.lower() == "true"


def _level(text: str) -> str:
    if text.upper() not in LEVELS:
        raise ValueError(f"it is one of {', '.join(LEVELS)}")
    return text.upper()


def _positive(text: str) -> int:
    number = int(text)
    if number <= 0:
        raise ValueError("it has to be positive")
    return number


def _seconds(text: str) -> float:
    return _positive(text) / 1000


def _servers(text: str) -> str:
    # Confluent's setting has the security protocol in it, which is a setting of its own here.
    return ",".join(each.strip().rpartition("://")[2] for each in text.split(","))


_SETTINGS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "kafkastore.bootstrap.servers": ("bootstrap_servers", _servers),
    "kafkastore.topic": ("topic", str),
    "kafkastore.topic.replication.factor": ("replication_factor", _positive),
    "kafkastore.timeout.ms": ("timeout_s", _seconds),
    "kafkastore.init.timeout.ms": ("start_timeout_s", _seconds),
    "schema.registry.group.id": ("group", str),
    "schema.compatibility.level": ("compatibility_level", _level),
    "avro.compatibility.level": ("compatibility_level", _level),
    "leader.eligibility": ("is_eligible", _boolean),
    "leader.session.timeout.ms": ("session_timeout_ms", _positive),
    "leader.patience.ms": ("leader_patience_s", _seconds),
    "mode.mutability": ("modes_can_change", _boolean),
    "read.only": ("read_only", _boolean),
    "max.request.bytes": ("max_request_bytes", _positive),
    "advertised.url": ("advertised_url", str),
    "authentication.users.file": ("users_file", Path),
    "ssl.certificate.location": ("certificate_file", Path),
    "ssl.key.location": ("key_file", Path),
    "ssl.ca.location": ("ca_file", Path),
}
