"""The types that settings have: how text becomes a value, and how Kafka writes a value."""

from __future__ import annotations

import re
import sys
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

INT_MAX = (1 << 31) - 1
LONG_MAX = (1 << 63) - 1
DOUBLE_MAX = sys.float_info.max

Value = bool | int | float | str | tuple[str, ...] | None


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

    def parse(self, text: str) -> Value:
        """Turn text into a value; raises ValueError, which says what is wrong with the text."""
        return _PARSERS[self](text)


def format_value(value: Value) -> str | None:
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


def _parse_boolean(text: str) -> bool:
    match text.lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError("it must be either true or false")


def _parse_text(text: str) -> str:
    return text


def _parse_list(text: str) -> tuple[str, ...]:
    # Kafka takes what is there twice as if it were there once.
    return tuple(dict.fromkeys(re.split(r"\s*,\s*", text))) if text else ()


def _parse_double(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("it is not a number") from None


def _integer_parser(bits: int) -> Callable[[str], int]:
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def parse(text: str) -> int:
        # int() would also take "1_000" and surrounding blanks, which Kafka's parser refuses.
        if re.fullmatch(r"[+-]?[0-9]+", text) is None:
            raise ValueError("it is not a whole number")
        number = int(text)
        if not low <= number <= high:
            raise ValueError(f"it does not fit into {bits} bits")
        return number

    return parse


_PARSERS: dict[ConfigType, Callable[[str], Value]] = {
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
