"""The configuration of one broker, with a typed accessor for every setting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from headwater.broker.config import listeners as listener_settings
from headwater.broker.config.checks import check, check_thread_counts
from headwater.broker.config.layers import Layers, Origin
from headwater.broker.config.listener_values import ListenerValues
from headwater.broker.config.names import definition_of, was_removed
from headwater.broker.config.settings import BROKER_SETTINGS
from headwater.broker.config.synonyms import TOPIC_SYNONYMS
from headwater.config import ConfigError
from headwater.log.config import LogConfig
from headwater.log.topic_settings import TOPIC_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.broker.config.listeners import Endpoint
    from headwater.config import Value
    from headwater.log.compaction.cleaner import CleanerConfig


class BrokerConfig:
    """Every setting of a broker by its Kafka name.

    >>> config = BrokerConfig({"listeners": "PLAINTEXT://127.0.0.1:0", "num.partitions": "3"})
    >>> config.integer("num.partitions"), config.boolean("auto.create.topics.enable")
    (3, True)

    What an operator gives at start is static. `set_dynamic` lays what was changed at run time on
    top of it, and whoever asked with `on_change` is told.
    """

    def __init__(self, properties: Mapping[str, str] | None = None) -> None:
        given = dict(properties or {})
        removed = sorted(name for name in given if was_removed(name))
        for name in removed:
            del given[name]
        _settle_node_id(given)
        self._layers = Layers(given)
        self._followers: list[Callable[[], None]] = []
        self._trials: list[Callable[[BrokerConfig], None]] = []
        self._topic_defaults: dict[str, str] | None = None
        self._log_defaults: LogConfig | None = None
        self._without_effect = removed + sorted(
            name for name in given if not definition_of(name).has_effect
        )
        self._read_listeners()
        check(self)

    @property
    def notices(self) -> list[str]:
        """What the operator should be told at start, a line each."""
        lines = []
        if self._without_effect:
            names = ", ".join(self._without_effect)
            lines.append(f"these settings are taken and have no effect on a single node: {names}")
        if self.controller_listeners:
            names = ", ".join(endpoint.name for endpoint in self.controller_listeners)
            lines.append(f"the broker is its own controller and does not listen on {names}")
        return lines

    def value(self, name: str) -> Value:
        """Return a setting's value, whatever its type."""
        return self._layers.values[name]

    def boolean(self, name: str) -> bool:
        """Return the value of a BOOLEAN setting."""
        return self._layers.values.boolean(name)

    def integer(self, name: str) -> int:
        """Return the value of an INT, SHORT or LONG setting that has one."""
        return self._layers.values.integer(name)

    def double(self, name: str) -> float:
        """Return the value of a DOUBLE setting."""
        return self._layers.values.double(name)

    def text(self, name: str) -> str | None:
        """Return the value of a STRING, CLASS or PASSWORD setting."""
        return self._layers.values.text(name)

    def words(self, name: str) -> tuple[str, ...]:
        """Return the value of a LIST setting; without a value it is empty."""
        return self._layers.values.words(name)

    def of_listener(self, listener: str, mechanism: str | None = None) -> ListenerValues:
        """Return the settings as they are for one listener, or for a SASL mechanism of it."""
        return ListenerValues(self._layers.values, listener, mechanism)

    def names(self) -> list[str]:
        """Return the names of all settings, of internal ones if they are set."""
        given = self._layers.given()
        return [
            name
            for name in dict.fromkeys((*BROKER_SETTINGS, *given))
            if name in given or not definition_of(name).internal
        ]

    def given_names(self) -> list[str]:
        """Return the names of those settings that somebody has given, at start or since."""
        return list(self._layers.given())

    def origins(self, name: str) -> list[Origin]:
        """Return the values that the layers have for a setting, first the one that wins."""
        return self._layers.origins(name)

    @property
    def node_id(self) -> int:
        """The number by which clients know this broker."""
        return self.integer("node.id")

    @property
    def flush(self) -> str:
        """`fsync`, or `os` to leave the writing to the operating system."""
        return self.text("flush") or "fsync"

    @property
    def data_dir(self) -> Path:
        """The directory that holds the data."""
        directories = self.words("log.dirs") or self.words("log.dir")
        return Path(directories[0]).expanduser().absolute()

    @property
    def clamps_replication(self) -> bool:
        """Whether a replication factor above one is taken as one."""
        return self.boolean("headwater.replication.factor.clamp")

    def advertised(self, name: str, bound: tuple[str, int]) -> tuple[str, int]:
        """Return what clients of a listener are told to connect to, given where it is bound."""
        endpoint = self.advertised_listeners.get(name)
        if endpoint is None:
            endpoint = next(listener for listener in self.listeners if listener.name == name)
        return endpoint.host or _host_name(), endpoint.port or bound[1]

    def log_defaults(self) -> LogConfig:
        """Return the settings of a log whose topic has none of its own."""
        if self._log_defaults is None:
            self._log_defaults = LogConfig.from_properties(self.topic_defaults())
        return self._log_defaults

    def cleaner(self) -> CleanerConfig:
        """Return the settings of the log cleaner."""
        from headwater.log.compaction.cleaner import CleanerConfig

        return CleanerConfig(
            dedupe_buffer_size=self.integer("log.cleaner.dedupe.buffer.size"),
            load_factor=self.double("log.cleaner.io.buffer.load.factor"),
            io_max_bytes_per_second=self.double("log.cleaner.io.max.bytes.per.second"),
        )

    def topic_defaults(self) -> Mapping[str, str]:
        """Return what the broker's settings say for each topic setting that they speak of."""
        if self._topic_defaults is None:
            self._topic_defaults = self._derive_topic_defaults()
        return self._topic_defaults

    @property
    def dynamic_default(self) -> dict[str, str]:
        """What was set at run time for all brokers."""
        return self._layers.dynamic_default

    @property
    def dynamic_broker(self) -> dict[str, str]:
        """What was set at run time for this broker."""
        return self._layers.dynamic_broker

    def check_dynamic(self, default: Mapping[str, str], broker: Mapping[str, str]) -> None:
        """Raise ConfigError if these values could not be set at run time."""
        trial = BrokerConfig(self._layers.static)
        trial._layers.set_dynamic(default, broker)
        check(trial)
        check_thread_counts(self, trial)
        for try_out in self._trials:
            try_out(trial)

    def set_dynamic(self, default: Mapping[str, str], broker: Mapping[str, str]) -> None:
        """Replace what was set at run time and tell those who follow changes."""
        self._layers.set_dynamic(default, broker)
        self._topic_defaults = self._log_defaults = None
        for tell in self._followers:
            tell()

    def on_change(self, tell: Callable[[], None]) -> None:
        """Call back after every change at run time."""
        self._followers.append(tell)

    def on_trial(self, try_out: Callable[[BrokerConfig], None]) -> None:
        """Call back before every change at run time; ConfigError keeps it from being made."""
        self._trials.append(try_out)

    def _derive_topic_defaults(self) -> dict[str, str]:
        defaults: dict[str, str] = {}
        given = self._layers.given()
        for topic_setting, synonyms in TOPIC_SYNONYMS.items():
            # What has no effect is not read for a default that the topic setting has as well.
            if not TOPIC_SETTINGS[topic_setting].has_effect and synonyms[0][0] not in given:
                continue
            for name, factor in synonyms:
                value = self._layers.values[name]
                if value is None:
                    continue
                if factor != 1:
                    value = cast("int", value) * factor
                text = definition_of(name).format(value)
                # Kafka takes every negative retention for "for ever"; the topic setting has -1.
                if topic_setting == "retention.ms" and cast("int", value) < 0:
                    text = "-1"
                defaults[topic_setting] = text or ""
                break
        return defaults

    def _read_listeners(self) -> None:
        protocols = self._protocols()
        controllers = {name.upper() for name in self.words("controller.listener.names")}
        parse = listener_settings.parse_endpoints
        everything = parse("listeners", self.words("listeners"), protocols)
        listener_settings.check_ports("listeners", everything)
        self.listeners = tuple(e for e in everything if e.name not in controllers)
        self.controller_listeners = tuple(e for e in everything if e.name in controllers)
        if not self.listeners:
            raise ConfigError(
                "listeners",
                ",".join(self.words("listeners")),
                "all of these are controller listeners; add one for clients",
            )
        advertised = parse("advertised.listeners", self.words("advertised.listeners"), protocols)
        self.advertised_listeners: dict[str, Endpoint] = {
            e.name: e for e in advertised if e.name not in controllers
        }
        self._check_advertised()

    def _protocols(self) -> dict[str, str]:
        setting = "listener.security.protocol.map"
        protocols = listener_settings.parse_protocol_map(self.text(setting) or "")
        if setting not in self._layers.static:
            for name in self.words("controller.listener.names"):
                protocols.setdefault(name.upper(), "PLAINTEXT")
        return protocols

    def _check_advertised(self) -> None:
        names = {endpoint.name for endpoint in self.listeners}
        for endpoint in self.advertised_listeners.values():
            if endpoint.name not in names:
                raise ConfigError(
                    "advertised.listeners",
                    endpoint,
                    f"there is no listener of that name in listeners, only {', '.join(names)}",
                )
        for endpoint in self.advertised_listeners.values() or self.listeners:
            if endpoint.host == "0.0.0.0":
                raise ConfigError(
                    "advertised.listeners",
                    endpoint,
                    "no client can connect to 0.0.0.0; set advertised.listeners to an address or"
                    " name that they can reach, such as PLAINTEXT://localhost:9092",
                )


def _settle_node_id(given: dict[str, str]) -> None:
    node, broker = given.get("node.id"), given.get("broker.id")
    if node is not None and broker is not None and node.strip() != broker.strip():
        raise ConfigError("broker.id", broker, f"it differs from node.id, which is {node}")
    if node is None and broker is not None:
        given["node.id"] = broker
    elif node is not None:
        given["broker.id"] = node


def _host_name() -> str:
    from socket import gethostname

    return gethostname()
