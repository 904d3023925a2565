"""Regular expressions as Java has them, for the rules that make principals of names.

What Java has and Python has no word for is refused when a pattern is made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Part = str | int
"""Of a replacement: text, or the group of the pattern that stands there."""


class JavaPattern:
    """A pattern, and what to put in its place; ValueError for what is not understood.

    >>> JavaPattern("CN=([a-z]+).*", "$1").replace_first("CN=ann,O=plant")
    'ann'
    """

    def __init__(self, pattern: str, replacement: str = "") -> None:
        try:
            self._pattern = re.compile(_to_python(pattern), re.ASCII)
        except re.error as error:
            raise ValueError(str(error)) from None
        self._replacement = tuple(_parts(replacement, self._pattern))

    def fits(self, text: str) -> bool:
        """Whether the pattern fits all of a text."""
        return self._pattern.fullmatch(text) is not None

    def replace_all(self, text: str) -> str:
        """Replace as Java's replaceAll: what can match nothing does so once more at the end."""
        return self._pattern.sub(self._expand, text)

    def replace_first(self, text: str) -> str:
        """Replace where it fits first, as Java's replaceFirst."""
        return self._pattern.sub(self._expand, text, count=1)

    def _expand(self, match: re.Match[str]) -> str:
        return "".join(
            part if isinstance(part, str) else match[part] or "" for part in self._replacement
        )


# -- replacements


def _parts(replacement: str, pattern: re.Pattern[str]) -> Iterator[Part]:
    r"""Take a replacement in Java's writing apart: `$1`, `${name}`, and `\` before any other."""
    for literal, escaped, digits, name, wrong in re.findall(
        r"([^\\$]+)|\\(.)|\$(\d+)|\$\{(\w+)\}|(.)", replacement, re.DOTALL
    ):
        if literal or escaped:
            yield literal or escaped
        elif digits:
            yield from _numbered(digits, pattern.groups)
        elif name in pattern.groupindex:
            yield pattern.groupindex[name]
        elif name:
            raise ValueError(f"the pattern has no group {name}")
        else:
            raise ValueError(f"a single {wrong} stands for nothing; write \\{wrong}")


def _numbered(digits: str, groups: int) -> Iterator[Part]:
    """As many digits as make the number of a group; if there is no such group, it is text."""
    if groups == 0 and digits[0] != "0":
        raise ValueError(f"the pattern has no groups for ${digits}")
    if int(digits[0]) > groups:
        yield f"${digits}"
        return
    end = 1
    while end < len(digits) and int(digits[: end + 1]) <= groups:
        end += 1
    yield int(digits[:end])
    yield digits[end:]


# -- patterns

_CLASSES = {
    "Lower": "a-z", "Upper": "A-Z", "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
    "Punct": r"!-/:-@\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": r" \t",
    "Cntrl": r"\x00-\x1f\x7f", "XDigit": "0-9a-fA-F", "Space": r"\s", "ASCII": r"\x00-\x7f",
}  # fmt: skip
_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|$)|\\(?P<sign>[pP])\{(?P<name>\w+)\}|\\k<(?P<back>\w+)>"
    r"|\(\?<(?P<group>[a-zA-Z]\w*)>|(?P<escape>\\.)|(?P<open>\[\^?\]?)|(?P<close>\])|(?P<and>&&)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_ESCAPES = {r"\z": r"\Z", r"\Z": r"(?=\n?\Z)", r"\h": r"[ \t\xa0]", r"\e": r"\x1b"}


def _to_python(pattern: str) -> str:
    """Translate a regular expression of Java's; ValueError for what Python has no word for."""
    out: list[str] = []
    in_class = False
    for token in _TOKEN.finditer(pattern):
        if token["name"]:
            out.append(_class(token["sign"], token["name"], in_class=in_class))
        elif token["back"]:
            out.append(f"(?P={token['back']})")
        elif token["group"]:
            out.append(token[0] if in_class else f"(?P<{token['group']}>")
        elif token["escape"]:
            out.append(token[0] if in_class else _ESCAPES.get(token[0], token[0]))
        elif token["open"] or (token["and"] and in_class):
            if in_class:
                raise ValueError("classes within classes are not understood")
            in_class = token["open"] is not None
            out.append(token[0])
        elif token["close"]:
            in_class = False
            out.append(token[0])
        elif token["quoted"] is not None:
            out.append(re.escape(token["quoted"]))
        else:
            out.append(token[0])
    return "".join(out)


def _class(sign: str, name: str, *, in_class: bool) -> str:
    members = _CLASSES.get(name)
    if members is None or (in_class and sign == "P"):
        raise ValueError(f"\\{sign}{{{name}}} is not understood here")
    return members if in_class else f"[{'^' if sign == 'P' else ''}{members}]"
