"""Spark SQL text as an expression: its names found and checked, its type worked out.

The text itself goes to Spark as it was written; only the names in it are replaced by columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.expressions.expressions import Expression

if TYPE_CHECKING:
    from headwater.plan.expressions.scope import Scope
    from headwater.plan.schemas.types import DataType


@dataclass(frozen=True, eq=False)
class SqlText(Expression):
    """An expression in Spark's SQL."""

    text: str

    def sql(self, scope: Scope) -> str:
        """Return the text with columns in the place of names."""
        from headwater.plan.expressions.sql_parser import parse

        return f"({parse(self.text).sql(scope)})"

    def type_in(self, scope: Scope) -> DataType:
        """Return the type that follows from the names and functions in the text."""
        from headwater.plan.expressions.sql_parser import parse

        return parse(self.text).type_in(scope)

    @property
    def name(self) -> str | None:
        """The name, where the text is just one or ends with AS."""
        from headwater.plan.expressions.sql_parser import parse

        return parse(self.text).name

    def __str__(self) -> str:
        return self.text
