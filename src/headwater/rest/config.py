"""What the REST proxy's settings mean to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.clients import ClusterAccess, RegistryAccess
from headwater.clients.error_log import note_error
from headwater.config import ConfigError, Values
from headwater.http.listener_settings import ListenerConfig
from headwater.rest.caller_credentials import OAUTHBEARER
from headwater.rest.settings import (
    CLIENT_PREFIX,
    CONSUMER_PREFIX,
    DEFAULT_PORT,
    PRODUCER_PREFIX,
    REGISTRY_PREFIX,
    REST_SETTINGS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.clients.bearer_token import TokenSource

# As long as Kafka's own producer waits for room, and as much as it holds back.
_MAX_BLOCK_MS = 60_000
_BUFFER_MEMORY = 32 * 1024 * 1024
# Java's producer tries for two minutes; who waits for an answer by HTTP has gone by then.
_DELIVERY_TIMEOUT_MS = 30_000
_BY_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
# Kafka's Java client has these two; librdkafka's words for them are other ones.
_JAVAS_BLOCKING = "max.block.ms"
_JAVAS_MEMORY = "buffer.memory"


@dataclass(slots=True)
class RestConfig(ListenerConfig):
    """Everything that can be set; `REST_SETTINGS` has the names that operators use."""

    bootstrap_servers: str = "localhost:9092"
    # In Java's words or librdkafka's.
    client: dict[str, str] = field(default_factory=dict)
    producer: dict[str, str] = field(default_factory=dict)
    consumer: dict[str, str] = field(default_factory=dict)
    registry: dict[str, str] = field(default_factory=dict)
    id: str = ""
    port: int = DEFAULT_PORT
    advertised_url: str | None = None
    request_timeout_s: float = 1.0
    request_max_bytes: int = 64 * 1024 * 1024
    instance_timeout_s: float = 300.0
    consumer_threads: int = 50
    fetch_min_bytes: int = -1
    serves_v2: bool = True
    serves_v3: bool = True
    max_batch_entries: int = 10
    timeout_s: float = 10.0
    max_request_bytes: int = 16 * 1024 * 1024
    tokens: TokenSource | None = None  # of whom the proxy is to be

    @classmethod
    def from_settings(cls, given: Mapping[str, str]) -> RestConfig:
        """Take settings by Confluent's names; raises ConfigError."""
        config = cls()
        values = Values(REST_SETTINGS, given)
        for name, text in given.items():
            if config.take(name, values):
                continue
            if name == "schema.registry.url":
                config.registry["url"] = ",".join(values.words(name))
            elif REST_SETTINGS.is_open(name):
                config._take_clients(name, text.strip())
            else:
                attribute, convert = _ATTRIBUTES[name]
                setattr(config, attribute, convert(values[name]))
        return config

    def check(self) -> None:
        """Refuse settings that do not go together, and clients' that cannot be used."""
        ListenerConfig.check(self)
        if self.passes_credentials_on:
            self._check_propagation()
        for name in (_JAVAS_BLOCKING, _JAVAS_MEMORY):
            if not self.producer.get(name, "1").isdecimal():
                reason = "it is no number"
                raise ConfigError(f"{PRODUCER_PREFIX}{name}", self.producer[name], reason)

    def _check_propagation(self) -> None:
        """Refuse to pass credentials on to who cannot use them."""
        setting, given = "confluent.rest.auth.propagate.method", "SASL"
        if self.has_users:
            reason = (
                "the cluster knows who may come in; leave out authentication.users.file and"
                " oauthbearer.jwks.endpoint.url"
            )
            raise ConfigError(setting, given, reason)
        protocol = self.client.get("security.protocol", "PLAINTEXT").upper()
        if not protocol.startswith("SASL"):
            reason = f"the cluster asks nobody with client.security.protocol={protocol}"
            raise ConfigError(setting, given, reason)
        mechanism = self._mechanism
        if mechanism not in (*_BY_PASSWORD, OAUTHBEARER):
            known = ", ".join((*_BY_PASSWORD, OAUTHBEARER))
            reason = f"client.sasl.mechanism must be one of {known}"
            raise ConfigError(setting, given, reason)

    @property
    def _mechanism(self) -> str:
        given = self.client.get("sasl.mechanism", self.client.get("sasl.mechanisms", ""))
        return given.upper()

    @property
    def takes_passwords(self) -> bool:
        """Whether the cluster can be asked about a password of a caller's."""
        return self._mechanism in _BY_PASSWORD

    @property
    def name_claim(self) -> str:
        """What in a token of a caller's is its name, as Kafka's clients call the setting."""
        return self.client.get("sasl.oauthbearer.sub.claim.name", "sub")

    @property
    def access(self) -> ClusterAccess:
        """The cluster, as the proxy asks it about topics and groups."""
        properties = {"client.id": "headwater-rest", **self.client}
        return ClusterAccess(self.bootstrap_servers, properties, self.tokens)

    @property
    def registry_access(self) -> RegistryAccess:
        """The registry; raises InvalidPropertiesError."""
        return RegistryAccess.of(self.registry)

    @property
    def max_block_s(self) -> float:
        """How long a record waits for room in the producer's memory."""
        return int(self.producer.get(_JAVAS_BLOCKING, _MAX_BLOCK_MS)) / 1000

    @property
    def buffer_memory(self) -> int:
        """How many bytes of records may be on their way to the cluster."""
        return int(self.producer.get(_JAVAS_MEMORY, _BUFFER_MEMORY))

    def producer_settings(self) -> dict[str, Any]:
        """Return librdkafka's settings for the producer; raises InvalidPropertiesError."""
        ours = {_JAVAS_BLOCKING, _JAVAS_MEMORY}
        given = {name: value for name, value in self.producer.items() if name not in ours}
        access = ClusterAccess(self.bootstrap_servers, {**self.client, **given}, self.tokens)
        return {
            **_common(),
            "enable.idempotence": True,
            "linger.ms": 1,
            "delivery.timeout.ms": _DELIVERY_TIMEOUT_MS,
            # There is a limit of our own, at which requests wait.
            "queue.buffering.max.messages": 10_000_000,
            "queue.buffering.max.kbytes": 2_000_000,
            "topic.metadata.propagation.max.ms": 5000,
            **access.producer(),
        }

    def consumer_settings(self) -> dict[str, Any]:
        """Return librdkafka's settings for consumers; raises InvalidPropertiesError."""
        properties = {**self.client, **self.consumer}
        access = ClusterAccess(self.bootstrap_servers, properties, self.tokens)
        idle_ms = int((self.instance_timeout_s + 60) * 1000)
        return {
            **_common(),
            "allow.auto.create.topics": True,
            # There may be a thousand of them: each keeps little back.
            "queued.max.messages.kbytes": 1024,
            "queued.min.messages": 1000,
            # An instance that is left alone expires; until then it stays in its group.
            "max.poll.interval.ms": max(300_000, idle_ms),
            **access.librdkafka(),
        }

    def _take_clients(self, name: str, value: str) -> None:
        kinds = {
            CLIENT_PREFIX: self.client,
            PRODUCER_PREFIX: self.producer,
            CONSUMER_PREFIX: self.consumer,
            REGISTRY_PREFIX: self.registry,
        }
        for prefix, properties in kinds.items():
            if name.startswith(prefix):
                properties[name.removeprefix(prefix)] = value


def _common() -> dict[str, Any]:
    return {
        "client.id": "headwater-rest",
        "log_level": 0,  # what matters comes as errors
        "error_cb": note_error,
        # Its histograms take half of a client's memory.
        "enable.metrics.push": False,
    }


def _as_it_is(value: Any) -> Any:
    return value


def _seconds(milliseconds: int) -> float:
    return milliseconds / 1000


def _first(words: tuple[str, ...]) -> str | None:
    return words[0].rstrip("/") if words else None


def _servers(servers: tuple[str, ...]) -> str:
    # Confluent's setting may have the security protocol in it, which is a setting of its own here.
    return ",".join(each.rpartition("://")[2] for each in servers)


_ATTRIBUTES: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "bootstrap.servers": ("bootstrap_servers", _servers),
    "id": ("id", _as_it_is),
    "advertised.listeners": ("advertised_url", _first),
    "consumer.request.timeout.ms": ("request_timeout_s", _seconds),
    "consumer.request.max.bytes": ("request_max_bytes", _as_it_is),
    "consumer.instance.timeout.ms": ("instance_timeout_s", _seconds),
    "consumer.threads": ("consumer_threads", _as_it_is),
    "fetch.min.bytes": ("fetch_min_bytes", _as_it_is),
    "api.v2.enable": ("serves_v2", _as_it_is),
    "api.v3.enable": ("serves_v3", _as_it_is),
    "api.v3.produce.batch.maximum.entries": ("max_batch_entries", _as_it_is),
    "client.timeout.ms": ("timeout_s", _seconds),
    "max.request.bytes": ("max_request_bytes", _as_it_is),
    "confluent.rest.auth.propagate.method": ("passes_credentials_on", bool),
}
