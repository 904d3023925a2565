"""What one setting is: its name, type, default, the values it takes and what it does."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

INT_MAX = (1 << 31) - 1
LONG_MAX = (1 << 63) - 1
DOUBLE_MAX = sys.float_info.max

Value = bool | int | float | str | tuple[str, ...] | None


class ConfigError(ValueError):
    """A setting has a value that it cannot have; `str()` names the setting, the value and why."""

    def __init__(self, name: str, value: object, reason: str) -> None:
        super().__init__(f"Invalid value {value} for configuration {name}: {reason}")
        self.name = name
        self.value = value
        self.reason = reason


class UnknownSettingError(ConfigError):
    """A setting has a name that does not exist; the reason may say which one was meant."""

    def __init__(self, name: str, value: object, reason: str) -> None:
        super().__init__(name, value, reason)
        self.args = (f"Unknown setting {name}: {reason}",)


class ConfigType(IntEnum):
    """The type of a setting, numbered as the DescribeConfigs response numbers it."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class UpdateMode(Enum):
    """Whether a running broker takes a new value, and for whom."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


@dataclass(frozen=True, slots=True)
class Validator:
    """A test of a parsed value, and the words that say what would have passed."""

    wants: str
    accepts: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class ConfigDef:
    """One setting. `default` is already of the setting's type; None means that it has no value.

    `has_effect` is False for settings that one node accepts and has no use for, such as those of
    replication. An `internal` setting is taken but never listed.
    """

    name: str
    type: ConfigType
    default: Value
    doc: str
    validator: Validator | None = None
    update: UpdateMode = UpdateMode.READ_ONLY
    has_effect: bool = True
    internal: bool = False

    @property
    def is_sensitive(self) -> bool:
        """Whether the value is never shown."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str) -> Value:
        """Turn text from a file, a command line or a request into a checked value."""
        value = _PARSERS[self.type](self, text.strip())
        if self.validator is not None and not self.validator.accepts(value):
            raise ConfigError(self.name, text, f"the value must be {self.validator.wants}")
        return value

    def format(self, value: Value) -> str | None:
        """Write a value as Kafka writes it in DescribeConfigs."""
        match value:
            case None:
                return None
            case bool():
                return "true" if value else "false"
            case float():
                return _java_double(value)
            case tuple():
                return ",".join(value)
            case _:
                return str(value)


def without_effect(*definitions: ConfigDef) -> tuple[ConfigDef, ...]:
    """Mark settings as those that are taken and have no effect here."""
    return tuple(replace(definition, has_effect=False) for definition in definitions)


def at_least(minimum: float) -> Validator:
    """Take numbers from `minimum` up."""
    return Validator(f"at least {minimum}", lambda value: value is None or value >= minimum)


def between(minimum: float, maximum: float) -> Validator:
    """Take numbers from `minimum` to `maximum`, both included."""
    return Validator(
        f"between {minimum} and {maximum}",
        lambda value: value is None or minimum <= value <= maximum,
    )


def one_of(*choices: Any) -> Validator:
    """Take one of the values given."""
    return Validator(
        f"one of {', '.join(map(str, choices))}", lambda value: value is None or value in choices
    )


def one_of_any_case(*choices: str) -> Validator:
    """Take one of the words given, in capitals or not."""
    lower = {choice.lower() for choice in choices}
    return Validator(
        f"one of {', '.join(choices)}", lambda value: value is None or value.lower() in lower
    )


def list_of(*choices: str, may_be_empty: bool) -> Validator:
    """Take lists of the values given, or of anything."""

    def accepts(value: Sequence[str] | None) -> bool:
        if value is None:
            return True
        return (may_be_empty or bool(value)) and (not choices or set(value) <= set(choices))

    kind = "list" if may_be_empty else "non-empty list"
    of = f" of {', '.join(choices)}" if choices else ""
    return Validator(f"a {kind}{of}", accepts)


def either(first: Validator, second: Validator) -> Validator:
    """Take what one of the two takes."""
    return Validator(
        f"{first.wants} or {second.wants}",
        lambda value: first.accepts(value) or second.accepts(value),
    )


NOT_EMPTY = Validator("not empty", lambda value: value is None or len(value) > 0)


def _parse_boolean(definition: ConfigDef, text: str) -> bool:
    match text.lower():
        case "true":
            return True
        case "false":
            return False
    raise ConfigError(definition.name, text, "it must be either true or false")


def _parse_text(_definition: ConfigDef, text: str) -> str:
    return text


def _parse_list(_definition: ConfigDef, text: str) -> tuple[str, ...]:
    # Kafka takes what is there twice as if it were there once.
    return tuple(dict.fromkeys(re.split(r"\s*,\s*", text))) if text else ()


def _parse_double(definition: ConfigDef, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(definition.name, text, "it is not a number") from None


def _java_double(value: float) -> str:
    # Clients compare what they read back with what Java prints: 1.0E10, where Python has 1e+10.
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, _, exponent = f"{value!r}".partition("e")
    if not exponent:
        mantissa, _, exponent = f"{value:.16e}".partition("e")
        mantissa = mantissa.rstrip("0")
    if "." not in mantissa:
        mantissa += ".0"
    elif mantissa.endswith("."):
        mantissa += "0"
    return f"{mantissa}E{int(exponent)}"


def _integer_parser(bits: int) -> Callable[[ConfigDef, str], int]:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def parse(definition: ConfigDef, text: str) -> int:
        # int() would also take "1_000" and surrounding blanks, which Kafka's parser refuses.
        if re.fullmatch(r"[+-]?[0-9]+", text) is None:
            raise ConfigError(definition.name, text, "it is not a whole number")
        number = int(text)
        if not low <= number <= high:
            raise ConfigError(definition.name, text, f"it does not fit into {bits} bits")
        return number

    return parse


_PARSERS: dict[ConfigType, Callable[[ConfigDef, str], Value]] = {
    ConfigType.BOOLEAN: _parse_boolean,
    ConfigType.STRING: _parse_text,
    ConfigType.INT: _integer_parser(32),
    ConfigType.SHORT: _integer_parser(16),
    ConfigType.LONG: _integer_parser(64),
    ConfigType.DOUBLE: _parse_double,
    ConfigType.LIST: _parse_list,
    ConfigType.CLASS: _parse_text,
    ConfigType.PASSWORD: _parse_text,
}
