"""What one setting is: its name, type, default, the values it takes and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from headwater.config.errors import HIDDEN, ConfigError
from headwater.config.types import ConfigType, Value, format_value

if TYPE_CHECKING:
    from headwater.config.validators import Validator


class UpdateMode(Enum):
    """Whether a running service takes a new value, and for whom."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class Importance(Enum):
    """How likely it is that an operator should think about a setting, as Kafka rates it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class ConfigDef:
    """One setting. `default` is already of the setting's type; None means that it has no value.

    `has_effect` is False for settings that are taken, so that a file made for another server
    works as it is, and not used here, such as those of replication. An `internal` setting is
    taken but never listed. A `required` one has no default: `Definitions.missing` finds it.

    >>> ConfigDef("port", ConfigType.INT, 8082, "The port to listen on.").parse(" 80 ")
    80
    """

    name: str
    type: ConfigType
    default: Value
    doc: str
    validator: Validator | None = None
    update: UpdateMode = UpdateMode.READ_ONLY
    has_effect: bool = True
    internal: bool = False
    importance: Importance = Importance.MEDIUM
    required: bool = False

    @property
    def is_sensitive(self) -> bool:
        """Whether the value is never shown."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str) -> Value:
        """Turn text from a file, a command line or a request into a checked value."""
        try:
            value = self.type.parse(text.strip())
        except ValueError as failure:
            raise ConfigError(self.name, self._shown(text.strip()), str(failure)) from None
        if self.validator is not None and not self.validator.accepts(value):
            wants = self.validator.wants
            raise ConfigError(self.name, self._shown(text), f"the value must be {wants}")
        return value

    def format(self, value: Value) -> str | None:
        """Write a value as Kafka writes it in DescribeConfigs."""
        return format_value(value)

    def _shown(self, text: str) -> str:
        return HIDDEN if self.is_sensitive else text
