"""Java's regular expressions as Python's, where they are written otherwise."""

from __future__ import annotations

import functools
import re

from headwater.sql.errors import SqlError

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
_BLANKS = " \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000"
_OUTSIDE = {
    "Z": "(?=\\n?\\Z)",
    "z": "\\Z",
    "R": "(?:\\r\\n|[\\n\\x0b\\f\\r\\x85\\u2028\\u2029])",
    "h": f"[{_BLANKS}]",
    "H": f"[^{_BLANKS}]",
    "e": "\\x1b",
}
_PROPERTY = re.compile(r"[pP](?:\{(\w+)\}|(\w))")


@functools.lru_cache(maxsize=1000)
def pattern(text: str) -> re.Pattern[str]:
    """Return the pattern that a text of Java's says; raises ValueError for what is none."""
    try:
        return re.compile("".join(_translated(text)), re.ASCII)
    except (re.error, OverflowError) as malformed:
        raise ValueError(str(malformed)) from None


def _translated(text: str) -> list[str]:
    made: list[str] = []
    at, in_class = 0, False
    while at < len(text):
        letter = text[at]
        if text.startswith("\\Q", at):
            end = text.find("\\E", at)
            end = len(text) if end < 0 else end
            made.append(re.escape(text[at + 2 : end]))
            at = end + 2
        elif letter == "\\":
            piece, at = _escape(text, at + 1, in_class)
            made.append(piece)
        elif in_class:
            if letter == "[" or text.startswith("&&", at):
                raise _unknown(text, "a class within a class")
            in_class = letter != "]"
            made.append(letter)
            at += 1
        elif letter == "[":
            in_class = True
            start = 2 if text.startswith("^", at + 1) else 1
            made.append(text[at : at + start])
            at += start
            if text.startswith("[", at):
                raise _unknown(text, "a class within a class")
        elif letter == "$":
            # Before an end of line that ends the text, which may be \r\n in Java.
            made.append("(?=(?:\\r\\n|[\\n\\r\\x85\\u2028\\u2029])?\\Z)")
            at += 1
        elif letter == ".":
            made.append("[^\\n\\r\\x85\\u2028\\u2029]")
            at += 1
        elif re.compile(r"\(\?<[a-zA-Z]").match(text, at):
            made.append("(?P<")
            at += 3
        elif re.compile(r"\(\?[a-zA-Z-]").match(text, at):
            piece, at = _flags(text, at)
            made.append(piece)
        else:
            made.append(letter)
            at += 1
    return made


def _escape(text: str, at: int, in_class: bool) -> tuple[str, int]:
    """Return what stands for an escape, and where it ends; `at` is after the backslash."""
    letter = text[at : at + 1]
    found = _PROPERTY.match(text, at)
    if found is not None:
        known = _CLASSES.get(found[1] or found[2])
        if known is None or (in_class and letter == "P"):
            raise _unknown(text, f"\\{found[0]}")
        negated = "^" if letter == "P" else ""
        return (known if in_class else f"[{negated}{known}]"), found.end()
    if letter == "k":
        named = re.compile(r"k<(\w+)>").match(text, at)
        if named is None:
            raise ValueError("\\k without a name")
        return f"(?P={named[1]})", named.end()
    if letter == "x" and text.startswith("{", at + 1):
        end = text.index("}", at)
        return re.escape(chr(int(text[at + 2 : end], 16))), end + 1
    if letter in ("G", "X", "N", "v", "V", "c"):
        raise _unknown(text, f"\\{letter}")
    if not in_class and letter in _OUTSIDE:
        return _OUTSIDE[letter], at + 1
    if letter == "h":
        return _BLANKS, at + 1
    return "\\" + letter, at + 1


def _flags(text: str, at: int) -> tuple[str, int]:
    """Return flags in a group, `(?i)` or `(?i:`; those alone hold for what follows them."""
    found = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])").match(text, at)
    if found is None:
        raise ValueError("no flags")
    on, off, end = found[1], found[2] or "", found[3]
    if (end == ")" and (at > 0 or off)) or set(on + off) - set("imsx"):
        raise _unknown(text, found[0])
    if "s" in on + off or "m" in on + off:
        raise _unknown(text, found[0])
    return found[0], found.end()


def _unknown(text: str, part: str) -> SqlError:
    return SqlError(
        f"the pattern {text} has {part}, which needs a query that is stored; "
        "make one with CREATE STREAM or CREATE TABLE ... AS SELECT"
    )
