"""Expressions with their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.sql.analysis.scope import ColumnMeaning, ParameterMeaning
    from headwater.sql.functions.function import Function
    from headwater.sql.functions.resolution import ResolvedCall
    from headwater.sql.tree.expressions import Expression
    from headwater.sql.types.sql_type import SqlType


@dataclass(frozen=True)
class CallMeaning:
    """The function that is called, and how."""

    function: Function
    call: ResolvedCall


@dataclass(frozen=True)
class Typed:
    """An expression, its type, its parts in the order of the text, and what its name stands for.

    The type of a lambda is that of its body. A unit of time is no part of its call.
    """

    expression: Expression
    type: SqlType
    parts: tuple[Typed, ...] = ()
    meaning: ColumnMeaning | ParameterMeaning | CallMeaning | None = None

    def walk(self) -> Iterator[Typed]:
        """Return this expression and all those within it."""
        yield self
        for part in self.parts:
            yield from part.walk()
