"""The clauses that several statements share, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.formatter.expressions import format_expression, format_literal
from headwater.sql.words import quoted, text_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.sql.tree.expressions import Expression
    from headwater.sql.tree.statements.properties import Property


def with_clause(properties: Sequence[Property]) -> str:
    """Return ` WITH (...)`, or nothing."""
    if not properties:
        return ""
    inner = ", ".join(_property(given) for given in properties)
    return f" WITH ({inner})"


def value_list(values: Sequence[Expression]) -> str:
    """Return values in parentheses."""
    return f"({', '.join(format_expression(value) for value in values)})"


def name_list(names: Sequence[str]) -> str:
    """Return ` (names)`, or nothing."""
    return f" ({', '.join(quoted(name) for name in names)})" if names else ""


def flag(is_set: bool, words: str) -> str:
    """Return words with a space after them, or nothing."""
    return f"{words} " if is_set else ""


def _property(given: Property) -> str:
    plain = quoted(given.name) == given.name
    name = given.name if plain else text_literal(given.name)
    return f"{name}={format_literal(given.value)}"
