"""A connector's configuration, read: its plug-in, its converters, and what becomes of errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from headwater.config import Definitions, Values
from headwater.connect.config_providers import resolved
from headwater.connect.connector_settings import COMMON, OPEN_PREFIXES, SINK, SOURCE
from headwater.connect.connectors.connector import ConnectorType
from headwater.connect.connectors.plugins import plugin as find_plugin
from headwater.connect.converters.headers import SETTING, SIMPLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.connect.connectors.connector import SinkPlugin, SourcePlugin


@dataclass(frozen=True)
class ConverterSettings:
    """A converter's class name, and its settings without their prefix."""

    class_name: str
    settings: Mapping[str, str]
    is_key: bool


@dataclass(frozen=True)
class ConnectorSpec:
    """A connector as its configuration describes it; secrets are looked up when it is read."""

    name: str
    properties: Mapping[str, str]
    plugin: SourcePlugin | SinkPlugin
    common: Values
    """What every connector has."""
    own: Values
    """The plug-in's own properties."""
    key: ConverterSettings
    value: ConverterSettings
    header: ConverterSettings

    @classmethod
    def read(cls, name: str, config: Mapping[str, str], defaults: Mapping[str, str]) -> Self:
        """Read a configuration; `defaults` has the worker's converters.

        Raises ConfigError and ConnectorError.
        """
        properties = resolved(config)
        found = find_plugin(properties.get("connector.class", ""))
        common = definitions(found.type)
        return cls(
            name,
            properties,
            found,
            Values(common, {each: text for each, text in properties.items() if each in common}),
            own_values(found, properties),
            converter_settings(properties, defaults, "key"),
            converter_settings(properties, defaults, "value"),
            converter_settings(properties, defaults, "header"),
        )

    @property
    def is_source(self) -> bool:
        """Whether it reads from elsewhere and writes to topics."""
        return self.plugin.type is ConnectorType.SOURCE

    @property
    def tasks_max(self) -> int:
        """How many Spark tasks may work for it at a time."""
        return self.common.integer("tasks.max")

    def overrides(self, client: str) -> dict[str, str]:
        """Return the settings that it has for its own `producer` or `consumer`."""
        prefix = f"{client}.override."
        return {
            name.removeprefix(prefix): text
            for name, text in self.properties.items()
            if name.startswith(prefix)
        }

    @property
    def tolerates_errors(self) -> bool:
        """Whether records that cannot be converted or transformed are left out."""
        return self.common.text("errors.tolerance") == "all"


def definitions(kind: ConnectorType) -> Definitions:
    """Return the properties that every connector of a kind has."""
    further = SOURCE if kind is ConnectorType.SOURCE else SINK
    return Definitions("connector", *COMMON, *further, open_prefixes=OPEN_PREFIXES)


def own_values(found: SourcePlugin | SinkPlugin, properties: Mapping[str, str]) -> Values:
    """Return a plug-in's own properties; what it does not know is left alone, as Connect does."""
    own = found.definitions
    return Values(own, {name: text for name, text in properties.items() if name in own})


def converter_settings(
    properties: Mapping[str, str], defaults: Mapping[str, str], side: str
) -> ConverterSettings:
    """Return a connector's converter for keys, values or headers, or else the worker's."""
    setting = f"{side}.converter"
    given = properties if setting in properties else {SETTING: SIMPLE, **defaults}
    prefix = f"{setting}."
    own = {
        name.removeprefix(prefix): text for name, text in given.items() if name.startswith(prefix)
    }
    return ConverterSettings(given[setting], own, side == "key")
