"""Spark SQL whose type is known beforehand, for languages that bring their own rules of types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.expressions.expressions import Expression

if TYPE_CHECKING:
    from headwater.plan.expressions.scope import Scope
    from headwater.plan.schemas.types import DataType


@dataclass(frozen=True, eq=False)
class Formula(Expression):
    """A text with `{0}`, `{1}` for its arguments; whoever makes it answers for its type.

    >>> from headwater.plan.schemas.types import STRING
    >>> str(Formula("upper({0})", (Formula("'a'", (), STRING),), STRING))
    "upper('a')"
    """

    template: str
    arguments: tuple[Expression, ...]
    type: DataType

    def sql(self, scope: Scope) -> str:
        """Return the text with the arguments over the scope's columns."""
        return self.template.format(*(argument.sql(scope) for argument in self.arguments))

    def type_in(self, scope: Scope) -> DataType:
        """Return the type, once the names inside are found."""
        for argument in self.arguments:
            argument.type_in(scope)
        return self.type

    def __str__(self) -> str:
        return self.template.format(*(str(argument) for argument in self.arguments))
