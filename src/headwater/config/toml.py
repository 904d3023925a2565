"""Reads settings from TOML, where a table's name and its keys make Kafka's dotted names."""

from __future__ import annotations

from typing import Any

from headwater.config.errors import ConfigError
from headwater.config.types import format_value


def parse_toml(text: str) -> dict[str, str]:
    """Parse TOML, where a table's name and its keys are joined by dots and a list by commas.

    >>> parse_toml('flush = "os"\\n[log]\\ndirs = ["/a"]\\nsegment.bytes = 1048576\\n')
    {'flush': 'os', 'log.dirs': '/a', 'log.segment.bytes': '1048576'}
    """
    import tomllib  # few brokers are started with TOML, and all of them quickly

    settings: dict[str, str] = {}
    _flatten(tomllib.loads(text), "", settings)
    return settings


def _flatten(table: dict[str, Any], prefix: str, settings: dict[str, str]) -> None:
    for key, value in table.items():
        name = f"{prefix}{key}"
        match value:
            case dict():
                _flatten(value, f"{name}.", settings)
            case bool():
                settings[name] = format_value(value) or ""
            case str() | int() | float():
                settings[name] = str(value)
            case list() if all(isinstance(item, str) for item in value):
                settings[name] = ",".join(value)
            case _:
                raise ConfigError(
                    name, value, "write a string, a number, a boolean or a list of strings"
                )
