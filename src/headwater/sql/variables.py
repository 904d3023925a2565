"""Variables of DEFINE, and `${name}` in the text of a statement."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.location import Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_REFERENCE = re.compile(r"(?P<escaped>\$)?\$\{(?P<name>[^}]*)\}")
# What is quoted comes first, since two dashes in it begin no comment.
_COMMENT = re.compile(
    r"""(?:'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*`)
    | (?P<comment>--[^\n]* | /\*.*?\*/)""",
    re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Variables:
    """Values by name; capitals do not matter, and are shown as they were first written."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values: dict[str, tuple[str, str]] = {}
        for name, value in (values or {}).items():
            self.define(name, value)

    def define(self, name: str, value: str, location: Location | None = None) -> None:
        """Give a name a value, also if it has one."""
        if not _NAME.fullmatch(name):
            raise SqlSyntaxError(
                f"{name!r} is no name of a variable: letters, digits and _, and no digit first",
                location or Location(1, 1),
            )
        self._values[name.upper()] = (name, value)

    def undefine(self, name: str) -> bool:
        """Forget a variable; tell whether there was one."""
        return self._values.pop(name.upper(), None) is not None

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._values.values())

    def substitute(self, text: str) -> str:
        """Return the text with values for names; `$${name}` stands for `${name}` itself.

        Comments stay as they are.
        """
        if "${" not in text:
            return text
        pieces: list[str] = []
        start = 0
        for match in _COMMENT.finditer(text):
            if match["comment"]:
                pieces += [self._between(text, start, match.start()), match[0]]
                start = match.end()
        return "".join([*pieces, self._between(text, start, len(text))])

    def _between(self, text: str, start: int, end: int) -> str:
        pieces: list[str] = []
        for match in _REFERENCE.finditer(text, start, end):
            pieces += [text[start : match.start()], self._replacement(match, text)]
            start = match.end()
        return "".join([*pieces, text[start:end]])

    def _replacement(self, match: re.Match[str], text: str) -> str:
        reference = match[0]
        if match["escaped"]:
            return reference[1:]
        found = self._values.get(match["name"].upper())
        if found is None:
            close = difflib.get_close_matches(match["name"].upper(), self._values, n=1)
            hint = (
                f"did you mean ${{{self._values[close[0]][0]}}}?"
                if close
                else f"give it one with DEFINE {match['name']} = '...';"
            )
            raise SqlSyntaxError(
                f"the variable {reference} has no value: {hint}",
                _location(text, match.start()),
                text,
            )
        return found[1]


def _location(text: str, offset: int) -> Location:
    line_start = text.rfind("\n", 0, offset) + 1
    return Location(text.count("\n", 0, offset) + 1, offset - line_start + 1)
