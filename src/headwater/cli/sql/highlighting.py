"""Colours for statements as they are typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prompt_toolkit.formatted_text.utils import split_lines
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from headwater.cli.sql.shell_commands import WORDS
from headwater.sql.functions.catalogue.all_functions import FUNCTIONS
from headwater.sql.words import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples

STYLE = Style.from_dict(
    {
        "sql.keyword": "bold ansiblue",
        "sql.function": "ansimagenta",
        "sql.text": "ansigreen",
        "sql.name": "ansicyan",
        "sql.number": "ansiyellow",
        "sql.variable": "ansired",
        "sql.comment": "italic ansibrightblack",
    }
)

# Quotes and comments that have no end yet go to the end of what is typed.
_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|$))
    |(?P<text>'(?:[^']|'')*(?:'|$))
    |(?P<name>`(?:[^`]|``)*(?:`|$)|"(?:[^"]|"")*(?:"|$))
    |(?P<variable>\$\{[^}]*\}?)
    |(?P<number>\b\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\b)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)""",
    re.DOTALL | re.VERBOSE,
)


class SqlLexer(Lexer):
    """Tells words, texts, numbers and comments apart."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return what gives the pieces of each line."""
        lines = list(split_lines(fragments(document.text)))

        def line(number: int) -> StyleAndTextTuples:
            return lines[number] if number < len(lines) else []

        return line


def fragments(text: str) -> StyleAndTextTuples:
    """Return a text in pieces with the class of each."""
    found: StyleAndTextTuples = []
    start = 0
    for match in _TOKEN.finditer(text):
        if start < match.start():
            found.append(("", text[start : match.start()]))
        found.append((_class(match), match[0]))
        start = match.end()
    return [*found, ("", text[start:])]


def _class(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    if kind != "word":
        return f"class:sql.{kind}"
    word = match[0].upper()
    if word in KEYWORDS or word in WORDS:
        return "class:sql.keyword"
    return "class:sql.function" if word in FUNCTIONS else ""
