"""What the lexer's tokens stand for: names, texts, and places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.location import Location
from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    from lark import Token


def name_of(token: Token) -> str:
    """Return a name: in capitals, unless it was quoted or is a text."""
    if token.type in ("QUOTED_NAME", "TEXT"):
        quote = token[0]
        return token[1:-1].replace(quote * 2, quote)
    return token.upper()


def exact_name(token: Token) -> str:
    """Return the name of something whose capitals matter also without quotes, as a topic's do."""
    return name_of(token) if token.type in ("QUOTED_NAME", "TEXT") else str(token)


def text_of(token: Token) -> str:
    """Return what stands between a text's quotes."""
    return token[1:-1].replace("''", "'")


def place(start: Token | Node) -> Location:
    """Return where a token or a part of the tree begins."""
    if isinstance(start, Node):
        return start.location
    return Location(start.line or 1, start.column or 1)
