"""Java's regular expressions, matched by RE2, which never backtracks.

Python's own `re` would hold up the whole server with a pattern such as `(a+)+x`, whoever sends it.
What RE2 cannot do is refused: a query that is stored runs on Spark, which has Java's own.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.sql.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 1 << 20
"""What one compiled pattern may take; RE2 then matches more slowly instead of taking more."""

_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0b\\f\\r",
}
_BLANKS = " \\t\\xa0\\x{1680}\\x{180e}\\x{2000}-\\x{200a}\\x{202f}\\x{205f}\\x{3000}"
_LINE_END = "\\n\\r\\x85\\x{2028}\\x{2029}"
# Java counts \v as a blank, and RE2 does not.
_WITHIN_CLASS = {
    "s": "\\t-\\r ",
    "S": "\\x00-\\x08\\x0e-\\x1f!-\\x{10ffff}",
    "h": _BLANKS,
    "e": "\\x1b",
}
_OUTSIDE = {
    "s": "[\\t-\\r ]",
    "S": "[^\\t-\\r ]",
    "R": "(?:\\r\\n|[\\n\\x0b\\f\\r\\x85\\x{2028}\\x{2029}])",
    "h": f"[{_BLANKS}]",
    "H": f"[^{_BLANKS}]",
    "e": "\\x1b",
}
_OF_BOTH = frozenset("dDwWtnrfa")
_OF_RE2 = frozenset("bBAz")
_CATEGORY = re.compile("[CLMNPSZ][a-z]?")
_PROPERTY = re.compile(r"[pP](?:\{(\w+)\}|(\w))")
_CODE = re.compile(r"x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|0([0-3]?[0-7]{1,2})")
_GROUP = re.compile(r"\(\?(?:<([a-zA-Z][a-zA-Z0-9]*)>|([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)]))")
_POSSESSIVE = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\+")
# RE2's words for what Java may take and RE2 does not.
_BEYOND = ("invalid repetition size", "pattern too large")


@dataclass(frozen=True)
class Found:
    """A match: its place, and its groups' texts, of which the first is the whole."""

    start: int
    end: int
    groups: tuple[str | None, ...]


class JavaPattern:
    """A pattern; raises ValueError for what is none, SqlError for what RE2 cannot do."""

    def __init__(self, text: str) -> None:
        # Imported when a pattern is first used: most queries have none.
        import re2

        options = re2.Options()
        options.max_mem = MAX_BYTES
        options.log_errors = False
        translation = _Translation(text)
        try:
            self._compiled = re2.compile(translation.made, options)
        except re2.error as error:
            reason = error.args[0].decode(errors="replace")
            if reason.startswith(_BEYOND):
                raise _unknown(text, reason) from None
            raise ValueError(reason) from None
        names = dict(self._compiled.groupindex)
        self._ends = [names.pop(end) for end in translation.ends]
        # The groups of the text itself, among which are those that stand for its ends.
        self._places = [at for at in range(self._compiled.groups + 1) if at not in self._ends]
        self.names = {name: self._places.index(at) for name, at in names.items()}

    @property
    def groups(self) -> int:
        """How many groups the pattern has, the whole not counted."""
        return len(self._places) - 1

    def search(self, text: str, start: int = 0) -> Found | None:
        """Return the first match that begins at a place or after it."""
        while start <= len(text) and (match := self._compiled.search(text, start)) is not None:
            end = self._end_in(match)
            # No line ends between \r and \n.
            if end is None or text[max(end - 1, 0) : end + 1] != "\r\n":
                return self._found(text, match, end)
            start = match.start() + 1
        return None

    def find_all(self, text: str) -> Iterator[Found]:
        """Return the matches one after the other."""
        start = 0
        # In one pass up to the first `$`, of which there are few: each search counts from the
        # text's begin.
        for match in self._compiled.finditer(text):
            if self._end_in(match) is not None:
                break
            yield self._found(text, match, None)
            start = match.end() + (match.start() == match.end())
        else:
            return
        while (found := self.search(text, start)) is not None:
            yield found
            start = found.end + (found.start == found.end)

    def _end_in(self, match: Any) -> int | None:
        """Return where `$` is in a match; what stands for it takes the end of line after it."""
        return min((at for each in self._ends if (at := match.start(each)) >= 0), default=None)

    def _found(self, text: str, match: Any, end: int | None) -> Found:
        end = len(text) if end is None else end
        spans = [match.span(at) for at in self._places]
        groups = (text[at : min(to, end)] if at >= 0 else None for at, to in spans)
        start, to = spans[0]
        return Found(start, min(to, end), tuple(groups))


@functools.lru_cache(maxsize=1000)
def pattern(text: str) -> JavaPattern:
    """Return the pattern that a text of Java's says; raises ValueError and SqlError."""
    return JavaPattern(text)


class _Translation:
    """RE2's words for a pattern, and the names of the groups that stand for `$` in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.ends: list[str] = []
        self.made = "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        text, at, in_class = self._text, 0, False
        while at < len(text):
            letter = text[at]
            if text.startswith("\\Q", at):
                end = text.find("\\E", at)
                end = len(text) if end < 0 else end
                yield "".join(map(_literal, text[at + 2 : end]))
                at = end + 2
            elif letter == "\\":
                piece, at = self._escape(at + 1, in_class)
                yield piece
            elif in_class:
                if letter == "[" or text.startswith("&&", at):
                    raise _unknown(text, "a class within a class")
                in_class = letter != "]"
                yield letter
                at += 1
            elif letter == "[":
                in_class = True
                start = 2 if text.startswith("^", at + 1) else 1
                yield text[at : at + start]
                at += start
                if text.startswith("[", at):
                    raise _unknown(text, "a class within a class")
                if text.startswith("]", at):
                    # Where it comes first, it is a letter and no end.
                    yield "\\]"
                    at += 1
            elif letter == "$":
                at += 1
                yield self._end(at)
            elif letter == ".":
                yield f"[^{_LINE_END}]"
                at += 1
            elif text.startswith("(?", at):
                piece, at = self._group(at)
                yield piece
            elif found := _POSSESSIVE.match(text, at):
                raise _unknown(text, found[0])
            else:
                yield letter
                at += 1

    def _end(self, at: int) -> str:
        """Return what stands for `$`: the end of the text, or of its last line."""
        if at < len(self._text) and self._text[at] not in ")|":
            raise _unknown(self._text, f"{self._text[at]} after $")
        name = f"_end{len(self.ends)}"
        self.ends.append(name)
        return f"(?P<{name}>(?:\\r\\n|[{_LINE_END}])?)\\z"

    def _escape(self, at: int, in_class: bool) -> tuple[str, int]:
        """Return what stands for an escape, and where it ends; `at` is after the backslash."""
        text, letter = self._text, self._text[at : at + 1]
        if (found := _PROPERTY.match(text, at)) is not None:
            return self._property(found, in_class), found.end()
        if (found := _CODE.match(text, at)) is not None:
            digits = found[1] or found[2] or found[3]
            code = int(digits, 16) if digits else int(found[4], 8)
            return f"\\x{{{code:x}}}", found.end()
        if letter == "Z" and not in_class:
            return self._end(at + 1), at + 1
        known = (_WITHIN_CLASS if in_class else _OUTSIDE).get(letter)
        if known is not None:
            return known, at + 1
        if letter in _OF_BOTH or (letter in _OF_RE2 and not in_class):
            return "\\" + letter, at + 1
        if not letter:
            raise ValueError("nothing is escaped")
        if letter.isascii() and letter.isalnum():
            raise _unknown(text, f"\\{letter}")
        return _literal(letter), at + 1

    def _property(self, found: re.Match[str], in_class: bool) -> str:
        name, is_negated = found[1] or found[2], found[0][0] == "P"
        known = _CLASSES.get(name)
        if known is not None and not (in_class and is_negated):
            return known if in_class else f"[{'^' if is_negated else ''}{known}]"
        if _CATEGORY.fullmatch(name) is not None:
            return f"\\{found[0][0]}{{{name}}}"
        raise _unknown(self._text, f"\\{found[0]}")

    def _group(self, at: int) -> tuple[str, int]:
        """Return a group with a name or flags, `(?<n>`, `(?i:` or `(?i)`, and where it begins."""
        found = _GROUP.match(self._text, at)
        if found is None:
            raise _unknown(self._text, self._text[at : at + 3])
        name, on, off, _ = found.groups(default="")
        if name:
            return f"(?P<{name}>", found.end()
        if set(on + off) - {"i"}:
            raise _unknown(self._text, found[0])
        if on and not self._text.isascii():
            # Java takes ä and Ä for two letters all the same.
            raise _unknown(self._text, f"{found[0]} and letters beyond ASCII")
        return found[0], found.end()


def _literal(letter: str) -> str:
    """Return what matches a letter alone, in classes and outside; flags hold for it."""
    return letter if letter.isalnum() else f"\\x{{{ord(letter):x}}}"


def _unknown(text: str, part: str) -> SqlError:
    return SqlError(
        f"the pattern {text} has {part}, which needs a query that is stored; "
        "make one with CREATE STREAM or CREATE TABLE ... AS SELECT"
    )
