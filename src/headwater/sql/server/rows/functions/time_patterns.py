"""Times written and read by the patterns of Java's DateTimeFormatter, in English."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from headwater.sql.server.rows.functions.time_letters import Letters
from headwater.sql.server.rows.functions.time_reading import ReadFields

if TYPE_CHECKING:
    import datetime as dt

_RESERVED = frozenset("{}#")


class TimePattern:
    """A pattern such as `yyyy-MM-dd'T'HH:mm`; raises ValueError for what is none.

    >>> pattern("d MMM yyyy").text(dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    '2 Jan 2026'
    """

    def __init__(self, text: str) -> None:
        self._parts = _parts(text)
        self._compiled: re.Pattern[str] | None = None

    def text(self, at: dt.datetime) -> str:
        """Return a time as text."""
        return "".join(
            part.text(at) if isinstance(part, Letters) else part
            for part in self._parts
            if not isinstance(part, _Bracket)
        )

    def read(self, text: str, otherwise: dt.tzinfo) -> dt.datetime:
        """Return the time that a text says, in a zone unless it says its own."""
        found = self.reading().fullmatch(text)
        if found is None:
            raise ValueError(f"{text} is no such time")
        fields = ReadFields()
        letters = (part for part in self._parts if isinstance(part, Letters))
        for part, value in zip(letters, found.groups(), strict=True):
            if value is not None:
                fields.take(part, value)
        return fields.moment(otherwise)

    def reading(self) -> re.Pattern[str]:
        """Return what reads texts; raises SqlError for letters that are only written."""
        if self._compiled is None:
            self._compiled = re.compile(self._regexp(), re.IGNORECASE | re.ASCII)
        return self._compiled

    def _regexp(self) -> str:
        made: list[str] = []
        for index, part in enumerate(self._parts):
            match part:
                case Letters():
                    inner = part.pattern()
                    if inner.endswith("}") and not self._is_followed_by_digits(index):
                        inner += "+"  # takes all digits that there are
                    made.append(f"({inner})")
                case _Bracket():
                    made.append("(?:(?>" if part.is_open else "))?+")
                case _:
                    made.append(re.escape(part))
        return "".join(made)

    def _is_followed_by_digits(self, index: int) -> bool:
        """Tell whether numbers of so many digits stand beside it, which then get theirs."""
        following = self._parts[index + 1 : index + 2]
        return any(isinstance(part, Letters) and part.count > 1 for part in following)


class _Bracket:
    """The beginning or the end of a part that may be missing where it is read."""

    def __init__(self, *, is_open: bool) -> None:
        self.is_open = is_open


@functools.lru_cache(maxsize=1000)
def pattern(text: str) -> TimePattern:
    """Return a pattern by its text."""
    return TimePattern(text)


def _parts(text: str) -> list[Letters | _Bracket | str]:
    made: list[Letters | _Bracket | str] = []
    at, depth = 0, 0
    while at < len(text):
        letter = text[at]
        if letter.isascii() and letter.isalpha():
            end = at
            while end < len(text) and text[end] == letter:
                end += 1
            made.append(Letters(letter, end - at))
            at = end
        elif letter == "'":
            literal, at = _quoted(text, at + 1)
            made.append(literal)
        elif letter in "[]":
            depth += 1 if letter == "[" else -1
            if depth < 0:
                raise ValueError("there is a ] without a [")
            made.append(_Bracket(is_open=letter == "["))
            at += 1
        elif letter in _RESERVED:
            raise ValueError(f"{letter} is reserved")
        else:
            made.append(letter)
            at += 1
    # Java ends what is still open with the pattern.
    return made + [_Bracket(is_open=False)] * depth


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return a literal in quotes, two of which are one, and where it ends."""
    end = at
    while True:
        end = text.find("'", end)
        if end < 0:
            raise ValueError("a quote is not closed")
        if not text.startswith("''", end):
            break
        end += 2
    literal = text[at:end].replace("''", "'")
    return (literal or "'"), end + 1
