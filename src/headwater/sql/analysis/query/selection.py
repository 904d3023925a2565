"""What is selected: stars written out, every column with a name, an expression and a type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.analysis.expression_parts import qualified
from headwater.sql.analysis.expressions import analyse
from headwater.sql.analysis.query.analysed import KeyPart, SelectedColumn
from headwater.sql.errors import SqlError
from headwater.sql.metastore.source import WINDOW_BOUNDS
from headwater.sql.tree.expressions import Column, Dereference, Expression
from headwater.sql.tree.queries import (
    Query,
    SelectAll,
    SelectExpression,
    SelectFields,
    SelectItem,
)
from headwater.sql.types.sql_type import NULL, Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.sql.analysis.query.column_names import ColumnNames
    from headwater.sql.analysis.scope import Scope
    from headwater.sql.metastore.source import SourceColumn


@dataclass(frozen=True)
class Selection:
    """Reads the items between SELECT and FROM; `key` is that of the rows they are made of."""

    scope: Scope
    names: ColumnNames
    key: tuple[KeyPart, ...]
    is_repartitioned: bool = False

    def columns(self, query: Query) -> tuple[SelectedColumn, ...]:
        """Return the selected columns in order."""
        found: list[SelectedColumn] = []
        for item in query.select:
            found += self._item(item)
        for column in found:
            if column.value.type == NULL:
                raise SqlError(
                    f"{column.name} is NULL and has no type: cast it, as in CAST(NULL AS STRING)",
                    column.expression.location,
                )
        return tuple(found)

    def _item(self, item: SelectItem) -> Iterator[SelectedColumn]:
        match item:
            case SelectExpression(expression, alias):
                yield self._column(qualified(expression, self.scope), alias)
            case SelectFields(struct):
                yield from self._fields(item, qualified(struct, self.scope))
            case SelectAll():
                yield from self._all(item)

    def _column(self, expression: Expression, alias: str | None) -> SelectedColumn:
        value = analyse(expression, self.scope)
        return SelectedColumn(alias or self.names.name(expression), value, expression)

    def _fields(self, item: SelectFields, struct: Expression) -> Iterator[SelectedColumn]:
        found = analyse(struct, self.scope).type
        if not isinstance(found, Struct):
            raise SqlError(f"->* needs a STRUCT before it, not {found}", item.location)
        for name in found.names:
            expression = Dereference(struct, name, location=item.location)
            yield self._column(expression, None)

    def _all(self, item: SelectAll) -> Iterator[SelectedColumn]:
        sources = self.scope.sources
        if item.source is not None and item.source not in sources:
            known = ", ".join(sources)
            raise SqlError(
                f"{item.source} is no source of this statement (there is {known})", item.location
            )
        if item.source is None:
            yield from self._made_key(item)
        for alias, source in sources.items():
            if item.source not in (None, alias):
                continue
            columns: list[SourceColumn] = list(source.columns)
            if self.is_repartitioned:
                # What was the key is now among the values, after those that were there before.
                columns.sort(key=lambda column: column.is_key)
            names = [column.name for column in columns]
            if len(sources) > 1 and source.is_windowed:
                names[len(source.key) : len(source.key)] = WINDOW_BOUNDS
            for name in names:
                alias_ = f"{alias}_{name}" if len(sources) > 1 else name
                yield self._column(Column(name, alias, location=item.location), alias_)

    def _made_key(self, item: SelectAll) -> Iterator[SelectedColumn]:
        """Return the columns of the key that are no source's: a join's own, or made by a clause."""
        for part in self.key:
            if part.is_synthetic or not isinstance(part.choices[0], Column):
                yield self._column(part.choices[0], None)
