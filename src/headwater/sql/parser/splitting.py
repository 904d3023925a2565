"""A text cut into statements at its semicolons, those in texts, names and comments aside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.location import Location

if TYPE_CHECKING:
    from collections.abc import Iterator

# One alternative each: text, name, name, comment, comment, the end of a statement, all else.
_PIECE = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | --[^\n]* | /\*.*?\*/ | (?P<end>;)
    | [^'"`;/-]+ | .""",
    re.DOTALL | re.VERBOSE,
)
_NOTHING = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """The text of one statement, without its semicolon, and where it begins in the whole."""

    text: str
    location: Location


def split(text: str) -> Iterator[Piece]:
    """Return the statements of a text one by one; refuse a last one that has no semicolon."""
    start = 0
    for match in _PIECE.finditer(text):
        if match["end"]:
            piece = _piece(text, start, match.start())
            if piece.text:
                yield piece
            start = match.end()
    last = _piece(text, start, len(text))
    if last.text:
        lines = text.rstrip().splitlines()
        raise SqlSyntaxError(
            "the statement has no end: put a ; after it",
            Location(len(lines), len(lines[-1]) + 1),
            text,
        )


def _piece(text: str, start: int, end: int) -> Piece:
    nothing = _NOTHING.match(text, start, end)
    begin = nothing.end() if nothing else start
    line = text.count("\n", 0, begin) + 1
    column = begin - (text.rfind("\n", 0, begin) + 1) + 1
    return Piece(text[begin:end].rstrip(), Location(line, column))
