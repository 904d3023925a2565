"""Reads Java properties files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Property(NamedTuple):
    """A value in a properties file, and the number of the line that it starts in."""

    text: str
    line: int


def parse_properties(text: str) -> dict[str, str]:
    r"""Parse a Java properties file: comments, continuations, escapes, `=`, `:` or a blank.

    >>> parse_properties("# a comment\nlog.dirs = /var/\\\n    lib\nnode.id: 7\n")
    {'log.dirs': '/var/lib', 'node.id': '7'}
    """
    return {name: found.text for name, found in properties_with_lines(text).items()}


def properties_with_lines(text: str) -> dict[str, Property]:
    """Parse a Java properties file as `parse_properties` does, and keep where each value stands."""
    settings: dict[str, Property] = {}
    for number, line in _logical_lines(text):
        match = _KEY.match(line)
        assert match is not None  # the pattern matches every line
        settings[_unescape(match[1])] = Property(_unescape(line[match.end() :]), number)
    return settings


_KEY = re.compile(r"((?:[^\\=:\s]|\\.)*)\s*[=:]?\s*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    pending, first = "", 0
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        line = raw.lstrip(" \t\f")
        if not pending:
            if not line or line[0] in "#!":
                continue
            first = number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        yield first, pending + line
        pending = ""
    if pending:
        yield first, pending


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _ESCAPED.get(escape, escape)

    return _ESCAPE.sub(character, text)
