"""Lark's parser for the grammar, made once when the first statement is read."""

from __future__ import annotations

import functools
from importlib import resources
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from lark import Lark

from headwater.sql.parser.commands import CommandRules
from headwater.sql.parser.expressions import ExpressionRules
from headwater.sql.parser.queries import QueryRules
from headwater.sql.parser.statements import StatementRules
from headwater.sql.parser.types import TypeRules
from headwater.sql.words import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from lark import Token

STARTS = ("statement", "expression", "type")


@functools.cache
def lark_parser() -> Lark:
    """Return the parser; it calls the methods of the rules and so returns the tree's nodes."""
    return Lark(
        _grammar(),
        parser="lalr",
        lexer="basic",
        start=list(STARTS),
        lexer_callbacks={"NAME": _keyword_or_name},
        transformer=_callbacks(_Rules()),
    )


class _Rules(StatementRules, CommandRules, QueryRules, ExpressionRules, TypeRules):
    """A method for each rule of the grammar."""


def _callbacks(rules: object) -> Any:
    """Return the methods as Lark calls them, with a list of what the rule is made of."""
    names = (name for name in dir(rules) if not name.startswith("_"))
    return SimpleNamespace(**{name: _spread(getattr(rules, name)) for name in names})


def _spread(method: Callable[..., object]) -> Callable[[list[object]], object]:
    return lambda children: method(*children)


def _grammar() -> str:
    rules = resources.files(__package__).joinpath("grammar.lark").read_text("utf-8")
    return f"{rules}\n%declare {' '.join(sorted(KEYWORDS))}\n"


def _keyword_or_name(token: Token) -> Token:
    word = token.upper()
    if word in KEYWORDS:
        token.type = word
    return token
