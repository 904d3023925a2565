"""The names of selected columns that have no alias."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from headwater.sql.metastore.source import RESERVED_COLUMNS
from headwater.sql.tree.expressions import Column, Dereference, Expression

if TYPE_CHECKING:
    from headwater.sql.analysis.scope import Scope


class ColumnNames:
    """Gives names: a column its own, a field its own, and anything else KSQL_COL_ and a number."""

    def __init__(self, scope: Scope) -> None:
        names = [column.name for source in scope.sources.values() for column in source.columns]
        self._taken = set(names)
        self._clashing = {name for name in names if names.count(name) > 1}
        if len(scope.sources) > 1:
            self._clashing |= RESERVED_COLUMNS
        self._numbers = itertools.count()

    def name(self, expression: Expression) -> str:
        """Return the name of an expression, whose columns have their sources before them."""
        match expression:
            case Column(name, source):
                is_clashing = source is not None and name in self._clashing
                return f"{source}_{name}" if is_clashing else name
            case Dereference(_, field):
                return self._unused(field)
            case _:
                return self.generated()

    def generated(self) -> str:
        """Return the next name of the kind KSQL_COL_0 that no source has."""
        return next(
            name for number in self._numbers if (name := f"KSQL_COL_{number}") not in self._taken
        )

    def _unused(self, field: str) -> str:
        candidates = itertools.chain([field], (f"{field}_{n}" for n in itertools.count(1)))
        found = next(name for name in candidates if name not in self._taken)
        self._taken.add(found)
        return found
