"""The settings of a topic or a broker as DescribeConfigs and CreateTopics show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.config.layers import ConfigSource, Origin
from headwater.broker.config.names import SHOWN_IF_SET, definition_of
from headwater.broker.config.synonyms import TOPIC_SYNONYMS
from headwater.config import ConfigType, UpdateMode
from headwater.log.topic_settings import TOPIC_SETTINGS
from headwater.logs.levels import levels

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from headwater.broker.config import BrokerConfig


_DEFAULT = ConfigSource.DEFAULT_CONFIG


class ConfigEntry(NamedTuple):
    """One setting, its value and where that comes from."""

    name: str
    value: str | None
    type: ConfigType | None
    source: ConfigSource
    origins: list[Origin]
    is_read_only: bool
    is_sensitive: bool
    doc: str


class TopicEntries:
    """The settings of topics, of which most have the broker's values."""

    def __init__(self, config: BrokerConfig) -> None:
        self._defaults = {name: _topic_entry(config, name) for name in TOPIC_SETTINGS}

    def of(
        self, configs: Mapping[str, str], wanted: Container[str] | None = None
    ) -> list[ConfigEntry]:
        """Return a topic's settings by name; internal ones only if the topic has them."""
        return [
            _own_topic_entry(entry, configs[name]) if name in configs else entry
            for name, entry in self._defaults.items()
            if (wanted is None or name in wanted)
            and (name in configs or not TOPIC_SETTINGS[name].internal)
        ]


def broker_entries(config: BrokerConfig, wanted: Container[str] | None = None) -> list[ConfigEntry]:
    """Return the settings of this broker."""
    return [
        _broker_entry(name, definition_of(name).format(config.value(name)), config.origins(name))
        for name in config.names()
        if (wanted is None or name in wanted)
        and (name not in SHOWN_IF_SET or _source(config.origins(name)) != _DEFAULT)
    ]


def default_broker_entries(
    config: BrokerConfig, wanted: Container[str] | None = None
) -> list[ConfigEntry]:
    """Return what was set at run time for all brokers."""
    source = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    return [
        _broker_entry(name, value, [o for o in config.origins(name) if o.source is source])
        for name, value in config.dynamic_default.items()
        if wanted is None or name in wanted
    ]


def logger_entries(wanted: Container[str] | None = None) -> list[ConfigEntry]:
    """Return the levels of the broker's loggers."""
    source = ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG
    return [
        ConfigEntry(name, level, None, source, [], False, False, "")
        for name, level in levels().items()
        if wanted is None or name in wanted
    ]


def _topic_entry(config: BrokerConfig, name: str) -> ConfigEntry:
    definition = TOPIC_SETTINGS[name]
    synonyms = TOPIC_SYNONYMS.get(name, ())
    origins = config.origins(synonyms[0][0]) if synonyms else []
    value = config.topic_defaults().get(name, definition.format(definition.default))
    return ConfigEntry(
        name, value, definition.type, _source(origins), origins, False, False, definition.doc
    )


def _own_topic_entry(default: ConfigEntry, text: str) -> ConfigEntry:
    definition = TOPIC_SETTINGS[default.name]
    value = definition.format(definition.parse(text))
    source = ConfigSource.DYNAMIC_TOPIC_CONFIG
    origins = [Origin(default.name, value, source), *default.origins]
    return default._replace(value=value, source=source, origins=origins)


def _broker_entry(name: str, value: str | None, origins: list[Origin]) -> ConfigEntry:
    definition = definition_of(name)
    return ConfigEntry(
        name,
        None if definition.is_sensitive else value,
        definition.type,
        _source(origins),
        origins,
        # Kafka shows what is set for a single listener as read-only, although it can be changed.
        definition.update is UpdateMode.READ_ONLY or name != definition.name,
        definition.is_sensitive,
        definition.doc,
    )


def _source(origins: list[Origin]) -> ConfigSource:
    return origins[0].source if origins else ConfigSource.DEFAULT_CONFIG
