"""What was expected where a text stops being a statement, in words."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.location import Location
from headwater.sql.words import KEYWORDS, RESERVED, TIME_UNITS

if TYPE_CHECKING:
    from lark import Token
    from lark.exceptions import UnexpectedCharacters

_MOST_SHOWN = 8
_IN_WORDS = {
    "NAME": "a name",
    "QUOTED_NAME": "a name",
    "TEXT": "a text in single quotes",
    "INTEGER": "a number",
    "$END": "the end of the statement",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "DOT": "'.'",
    "STAR": "'*'",
    "EQUAL": "'='",
    "LESSTHAN": "'<'",
    "MORETHAN": "'>'",
    "ASSIGN": "':='",
    "LAMBDA": "'=>'",
}


@dataclass(frozen=True)
class _Group:
    """Terminals that are named by one phrase, where those that `tell` are all accepted."""

    phrase: str
    tell: frozenset[str]
    members: frozenset[str]


_STATEMENTS = (
    *("SELECT", "CREATE", "INSERT", "DROP", "ALTER", "SHOW", "LIST", "DESCRIBE", "EXPLAIN"),
    *("PRINT", "TERMINATE", "PAUSE", "RESUME", "SET", "UNSET", "DEFINE", "UNDEFINE", "RUN"),
    *("SPOOL", "ASSERT"),
)
_VALUES = (
    *("NAME", "QUOTED_NAME", "TEXT", "INTEGER", "DECIMAL_NUMBER", "DOUBLE_NUMBER", "TRUE", "FALSE"),
    *("NULL", "ARRAY", "MAP", "STRUCT", "CASE", "CAST", "LPAR", "PLUS", "MINUS", "NOT"),
)
_OPERATORS = (
    *("AND", "OR", "IS", "NOT", "BETWEEN", "IN", "LIKE", "LSQB", "ARROW", "LAMBDA", "CONCATENATE"),
    *("PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "EQUAL", "LESSTHAN", "MORETHAN", "DIFFERS"),
    *("DIFFERS_TOO", "AT_MOST", "AT_LEAST"),
)
_GROUPS = (
    _Group("a statement", frozenset(("SELECT", "CREATE")), frozenset(_STATEMENTS)),
    _Group("an expression", frozenset(("CASE", "CAST", "NAME")), frozenset(_VALUES)),
    _Group("an operator", frozenset(("PLUS", "STAR")), frozenset(_OPERATORS)),
    _Group("a unit of time", frozenset(("DAY", "HOUR")), frozenset(TIME_UNITS)),
)


def unexpected_token(token: Token, accepted: set[str], text: str) -> SqlSyntaxError:
    """Return the error for a token that cannot stand where it does."""
    location = _after(text) if token.type == "$END" else _location(token)
    found = "the statement ends here" if token.type == "$END" else f"{str(token)!r} is unexpected"
    hint = _hint(token, accepted)
    return SqlSyntaxError(f"{found}; expected {_words(accepted)}{hint}", location, text)


def unexpected_character(error: UnexpectedCharacters, text: str) -> SqlSyntaxError:
    """Return the error for a letter with which nothing of the language begins."""
    letter = text[error.pos_in_stream or 0]
    endless = {
        "'": "a text begins here and does not end: its closing ' is missing",
        '"': 'a name begins here and does not end: its closing " is missing',
        "`": "a name begins here and does not end: its closing ` is missing",
    }
    reason = endless.get(
        letter, f"{letter!r} has no meaning here; a name with such a letter goes in backticks"
    )
    return SqlSyntaxError(reason, Location(error.line, error.column), text)


def _location(token: Token) -> Location:
    return Location(token.line or 1, token.column or 1)


def _after(text: str) -> Location:
    lines = text.rstrip().splitlines() or [""]
    return Location(len(lines), len(lines[-1]) + 1)


def _words(accepted: set[str]) -> str:
    names: list[str] = []
    rest = set(accepted)
    for group in _GROUPS:
        if group.tell <= rest:
            names.append(group.phrase)
            rest -= group.members
    names += sorted({_IN_WORDS.get(terminal, terminal) for terminal in rest}, key=_order)
    if len(names) > _MOST_SHOWN:
        return f"{', '.join(names[:_MOST_SHOWN])} or one of {len(names) - _MOST_SHOWN} other words"
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def _order(word: str) -> tuple[int, str]:
    return (0 if word.startswith("a ") else 1 if word in KEYWORDS else 2), word


def _hint(token: Token, accepted: set[str]) -> str:
    word = token.upper()
    if word in RESERVED and "NAME" in accepted:
        return f". {word} is a word of the language: to use it as a name, write `{token}`"
    if token.type == "NAME" or word in KEYWORDS:
        keywords = sorted(terminal for terminal in accepted if terminal in KEYWORDS)
        close = difflib.get_close_matches(word, keywords, n=1, cutoff=0.7)
        return f". Did you mean {close[0]}?" if close else ""
    return ""
