"""Reads settings from files: Java properties and TOML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from headwater.log.config_def import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def read_settings(path: Path) -> dict[str, str]:
    """Return the settings in a file, by their Kafka names; `.toml` is TOML, all else properties."""
    text = path.read_text("utf-8")
    return parse_toml(text) if path.suffix.lower() == ".toml" else parse_properties(text)


def parse_properties(text: str) -> dict[str, str]:
    r"""Parse a Java properties file: comments, continuations, escapes, `=`, `:` or a blank.

    >>> parse_properties("# a comment\nlog.dirs = /var/\\\n    lib\nnode.id: 7\n")
    {'log.dirs': '/var/lib', 'node.id': '7'}
    """
    settings: dict[str, str] = {}
    for line in _logical_lines(text):
        match = _KEY.match(line)
        if match is None:  # pragma: no cover - the pattern matches every line
            continue
        settings[_unescape(match[1])] = _unescape(line[match.end() :])
    return settings


def parse_toml(text: str) -> dict[str, str]:
    """Parse TOML, where a table's name and its keys are joined by dots and a list by commas.

    >>> parse_toml('flush = "os"\\n[log]\\ndirs = ["/a"]\\nsegment.bytes = 1048576\\n')
    {'flush': 'os', 'log.dirs': '/a', 'log.segment.bytes': '1048576'}
    """
    import tomllib  # few brokers are started with TOML, and all of them quickly

    settings: dict[str, str] = {}
    _flatten(tomllib.loads(text), "", settings)
    return settings


_KEY = re.compile(r"((?:[^\\=:\s]|\\.)*)\s*[=:]?\s*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    pending = ""
    for raw in re.split(r"\r\n|\n|\r", text):
        line = raw.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        lines.append(pending + line)
        pending = ""
    if pending:
        lines.append(pending)
    return lines


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _ESCAPED.get(escape, escape)

    return _ESCAPE.sub(character, text)


def _flatten(table: dict[str, Any], prefix: str, settings: dict[str, str]) -> None:
    for key, value in table.items():
        name = f"{prefix}{key}"
        match value:
            case dict():
                _flatten(value, f"{name}.", settings)
            case bool():
                settings[name] = "true" if value else "false"
            case str() | int() | float():
                settings[name] = str(value)
            case list() if all(isinstance(item, str) for item in value):
                settings[name] = ",".join(value)
            case _:
                raise ConfigError(
                    name, value, "write a string, a number, a boolean or a list of strings"
                )
