"""The layers that a setting's value comes from: changed at run time, given at start, default."""

from __future__ import annotations

from enum import IntEnum
from itertools import dropwhile
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.config.names import LISTENER_PREFIX, base_name, definition_of
from headwater.broker.config.settings import BROKER_SETTINGS
from headwater.broker.config.synonyms import BROKER_SYNONYMS
from headwater.config import Values

if TYPE_CHECKING:
    from collections.abc import Mapping


class ConfigSource(IntEnum):
    """Where a value comes from, numbered as the DescribeConfigs response numbers it."""

    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6


class Origin(NamedTuple):
    """One layer's value for a setting; the name may be that of a synonym."""

    name: str
    value: str | None
    source: ConfigSource


class Layers:
    """The values of all settings, one layer above the other, and the parsed result."""

    def __init__(self, static: Mapping[str, str]) -> None:
        self.static = dict(static)
        self.dynamic_default: dict[str, str] = {}
        self.dynamic_broker: dict[str, str] = {}
        self.values = self._merged()

    def set_dynamic(self, default: Mapping[str, str], broker: Mapping[str, str]) -> None:
        """Replace what was set at run time; nothing changes if one of the values is bad."""
        before = self.dynamic_default, self.dynamic_broker
        self.dynamic_default, self.dynamic_broker = dict(default), dict(broker)
        try:
            self.values = self._merged()
        except Exception:
            self.dynamic_default, self.dynamic_broker = before
            raise

    def origins(self, name: str) -> list[Origin]:
        """Return every layer's value for a setting and its synonyms, first the one that wins."""
        names = synonyms_of(name)
        found = [
            Origin(synonym, None if definition_of(synonym).is_sensitive else layer[synonym], source)
            for layer, source in (
                (self.dynamic_broker, ConfigSource.DYNAMIC_BROKER_CONFIG),
                (self.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
                (self.static, ConfigSource.STATIC_BROKER_CONFIG),
            )
            for synonym in names
            if synonym in layer
        ]
        for synonym in names:
            definition = BROKER_SETTINGS.get(synonym)
            if definition is not None and definition.default is not None:
                text = None if definition.is_sensitive else definition.format(definition.default)
                found.append(Origin(synonym, text, ConfigSource.DEFAULT_CONFIG))
        # A synonym counts only below the setting's own name, as in Kafka.
        return list(dropwhile(lambda origin: origin.name != name, found))

    def given(self) -> dict[str, str]:
        """Return what was given on any layer, the highest one's where there are several."""
        return {**self.static, **self.dynamic_default, **self.dynamic_broker}

    def _merged(self) -> Values:
        values = Values(BROKER_SETTINGS, {})
        for name, text in self.given().items():
            values[name] = definition_of(name).parse(text)
        return values


def synonyms_of(name: str) -> tuple[str, ...]:
    """Return a setting's name and the names of those that stand in for it, first itself."""
    if name in BROKER_SYNONYMS:
        return BROKER_SYNONYMS[name]
    if name.startswith(LISTENER_PREFIX):
        return (name, base_name(name))
    return (name,)
