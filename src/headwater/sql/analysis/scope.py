"""The names that an expression may use at a place in a statement, and what they stand for."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.metastore.source import PSEUDO_COLUMNS, WINDOW_BOUNDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.sql.metastore.source import DataSource
    from headwater.sql.tree.expressions import Column
    from headwater.sql.types.sql_type import SqlType


@dataclass(frozen=True)
class ColumnMeaning:
    """A column of a source, by the source's name or alias in the query."""

    source: str
    name: str
    type: SqlType
    is_pseudo: bool = False


@dataclass(frozen=True)
class ParameterMeaning:
    """A parameter of the lambda around an expression."""

    name: str
    type: SqlType


@dataclass(frozen=True)
class Scope:
    """Sources by name or alias, parameters of lambdas, and types by name."""

    sources: Mapping[str, DataSource] = field(default_factory=dict)
    parameters: Mapping[str, SqlType] = field(default_factory=dict)
    custom_types: Mapping[str, SqlType] = field(default_factory=dict)
    # Whether the query itself makes windows, so that its rows have bounds.
    has_window: bool = False
    # The key of an outer join is a column of neither source; it is called ROWKEY.
    join_key: tuple[str, SqlType] | None = None

    def with_parameters(self, names: Iterable[str], types: Iterable[SqlType]) -> Scope:
        """Return the scope inside a lambda."""
        inner = dict(zip(names, types, strict=True))
        return replace(self, parameters={**self.parameters, **inner})

    def resolve(self, column: Column) -> ColumnMeaning | ParameterMeaning:
        """Return what a name stands for; refuse one that is not there, or that two sources have."""
        if column.source is None and column.name in self.parameters:
            return ParameterMeaning(column.name, self.parameters[column.name])
        sources = self._sources(column)
        found = [
            meaning
            for alias, source in sources.items()
            if (meaning := self._in_source(alias, source, column.name)) is not None
        ]
        if not found and column.source is None and self.join_key is not None:
            name, type_ = self.join_key
            if name == column.name:
                return ColumnMeaning("", name, type_, is_pseudo=True)
        if len(found) > 1:
            choices = " or ".join(f"{meaning.source}.{meaning.name}" for meaning in found)
            raise SqlError(f"{column.name} is ambiguous: write {choices}", column.location)
        if not found:
            raise SqlError(self._unknown(column, sources), column.location)
        return found[0]

    def owners(self, name: str) -> tuple[str, ...]:
        """Return the sources, by name or alias, that have a column of this name."""
        return tuple(
            alias
            for alias, source in self.sources.items()
            if self._in_source(alias, source, name) is not None
        )

    def _sources(self, column: Column) -> Mapping[str, DataSource]:
        if column.source is None:
            return self.sources
        if column.source not in self.sources:
            known = ", ".join(self.sources) or "no source at all"
            raise SqlError(
                f"{column.source} is no source of this statement (there is {known})",
                column.location,
            )
        return {column.source: self.sources[column.source]}

    def _in_source(self, alias: str, source: DataSource, name: str) -> ColumnMeaning | None:
        for known in source.columns:
            if known.name == name:
                return ColumnMeaning(alias, name, known.type)
        pseudo = self._pseudo(source).get(name)
        return None if pseudo is None else ColumnMeaning(alias, name, pseudo, is_pseudo=True)

    def _pseudo(self, source: DataSource) -> Mapping[str, SqlType]:
        if self.has_window or source.is_windowed:
            return {**PSEUDO_COLUMNS, **WINDOW_BOUNDS}
        return PSEUDO_COLUMNS

    def _unknown(self, column: Column, sources: Mapping[str, DataSource]) -> str:
        written = column.name if column.source is None else f"{column.source}.{column.name}"
        if column.name in WINDOW_BOUNDS:
            return f"there is no {written}, since nothing here has windows"
        names = [known.name for source in sources.values() for known in source.columns]
        names += [*self.parameters, *PSEUDO_COLUMNS]
        close = difflib.get_close_matches(column.name, names, n=1)
        other_case = [name for name in names if name.upper() == column.name.upper()]
        if other_case:
            return f"there is no column {written}; did you mean `{other_case[0]}`, in backticks?"
        hint = f"; did you mean {close[0]}?" if close else ""
        return f"there is no column {written}{hint}"
