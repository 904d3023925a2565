"""The streams and tables that statements read, as far as their expressions ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.tree.statements.creation import (
    ColumnDefinition,
    ColumnRole,
    CreateSource,
    SourceKind,
)
from headwater.sql.types.named import resolve_type
from headwater.sql.types.sql_type import BIGINT, BYTES, HEADERS, INTEGER, SqlType

if TYPE_CHECKING:
    from collections.abc import Mapping

# Columns that every source has, or every windowed one, without declaring them.
PSEUDO_COLUMNS: dict[str, SqlType] = {
    "ROWTIME": BIGINT,
    "ROWPARTITION": INTEGER,
    "ROWOFFSET": BIGINT,
}
WINDOW_BOUNDS: dict[str, SqlType] = {"WINDOWSTART": BIGINT, "WINDOWEND": BIGINT}


@dataclass(frozen=True)
class SourceColumn:
    """A column of a stream or a table."""

    name: str
    type: SqlType
    role: ColumnRole = ColumnRole.VALUE


@dataclass(frozen=True)
class SourceSchema:
    """A stream or a table: its name and its columns in order."""

    name: str
    kind: SourceKind
    columns: tuple[SourceColumn, ...]
    is_windowed: bool = False


def declared_source(statement: CreateSource, custom: Mapping[str, SqlType]) -> SourceSchema:
    """Return the source that a statement declares; `custom` has the types of CREATE TYPE."""
    seen: set[str] = set()
    for column in statement.columns:
        _check(column, statement.kind, seen)
    properties = {given.name.upper() for given in statement.properties}
    return SourceSchema(
        statement.name,
        statement.kind,
        tuple(_column(column, custom) for column in statement.columns),
        "WINDOW_TYPE" in properties,
    )


def _column(column: ColumnDefinition, custom: Mapping[str, SqlType]) -> SourceColumn:
    type_ = resolve_type(column.type, custom)
    if column.role is ColumnRole.HEADER and type_ != BYTES:
        raise SqlError(f"a header is BYTES, not {type_}", column.type.location)
    if column.role is ColumnRole.HEADERS and type_ != HEADERS:
        raise SqlError(
            "all headers are ARRAY<STRUCT<key STRING, value BYTES>>", column.type.location
        )
    return SourceColumn(column.name, type_, column.role)


def _check(column: ColumnDefinition, kind: SourceKind, seen: set[str]) -> None:
    if column.name in seen:
        raise SqlError(f"there are two columns {column.name}", column.location)
    seen.add(column.name)
    if column.name in PSEUDO_COLUMNS or column.name in WINDOW_BOUNDS:
        raise SqlError(
            f"{column.name} is a column that every row has by itself: call this one otherwise",
            column.location,
        )
    if kind is SourceKind.STREAM and column.role is ColumnRole.PRIMARY_KEY:
        raise SqlError("a stream's column is a KEY, not a PRIMARY KEY", column.location)
    if kind is SourceKind.TABLE and column.role is ColumnRole.KEY:
        raise SqlError("a table's column is a PRIMARY KEY, not a KEY", column.location)
