"""Rows on their way through a query: the operator they leave, and where each column is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.plan.expressions.expressions import Case, Column, StructOf
from headwater.sql.planning.expressions import Translator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.nodes import Operator
    from headwater.sql.analysis.scope import ColumnMeaning
    from headwater.sql.tree import expressions as ex

VALUE = Column(("record", "value"))


@dataclass(frozen=True)
class Rows:
    """What an operator gives; `columns` by source and name, `known` by whole expression.

    `window` has the start and the end, in milliseconds, of the window that a row is of.
    """

    node: Operator
    columns: Mapping[tuple[str, str], Expression]
    known: Mapping[ex.Expression, Expression] = field(default_factory=dict)
    window: tuple[Expression, Expression] | None = None

    @property
    def translator(self) -> Translator:
        """What translates expressions over these rows."""
        return Translator(self._column, self.known)

    def _column(self, meaning: ColumnMeaning) -> Expression:
        return self.columns[meaning.source, meaning.name]


def struct_or_null(fields: Sequence[tuple[str, Expression]]) -> Expression:
    """Return a struct of fields, or null where the record's value is null: a deleted row."""
    return Case(((VALUE.isNotNull(), StructOf(tuple(fields))),))
