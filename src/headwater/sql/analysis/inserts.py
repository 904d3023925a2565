"""INSERT INTO: whether a query's rows, or a row that is written out, fit their target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.analysis.expressions import analyse
from headwater.sql.analysis.outcomes import InsertRow
from headwater.sql.analysis.scope import Scope
from headwater.sql.errors import SqlError
from headwater.sql.formatter.expressions import format_expression
from headwater.sql.metastore.source import PSEUDO_COLUMNS, DataSource, SourceColumn
from headwater.sql.tree.expressions import BooleanLiteral, StringLiteral
from headwater.sql.tree.statements.creation import SourceKind
from headwater.sql.types.casting import can_coerce, can_insert
from headwater.sql.types.sql_type import (
    BIGINT,
    DATE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Decimal,
    SqlType,
    kind,
)

if TYPE_CHECKING:
    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.analysis.typed import Typed
    from headwater.sql.metastore.metastore import Metastore
    from headwater.sql.tree.expressions import Expression
    from headwater.sql.tree.statements.changes import InsertSelect, InsertValues

_PATTERNS: dict[SqlType, str] = {
    TIMESTAMP: ". Timestamp format must be yyyy-mm-ddThh:mm:ss[.S]",
    TIME: ". Time format must be hh:mm:ss[.S]",
    DATE: ". Date format must be yyyy-mm-dd",
}


def check_insert_select(statement: InsertSelect, target: DataSource, query: AnalysedQuery) -> None:
    """Refuse a query whose rows are not those of the target."""
    _check_target(target, statement)
    if target.kind is SourceKind.TABLE:
        raise SqlError(
            f"{target.name} is a table: INSERT INTO ... SELECT is for streams", statement.location
        )
    if query.kind is SourceKind.TABLE:
        raise SqlError("the query makes a table, and the target is a stream", statement.location)
    if len(query.columns) != len(target.columns) or not all(
        given.name == wanted.name
        and given.is_key == wanted.is_key
        and _becomes(given.type, wanted.type)
        for given, wanted in zip(query.columns, target.columns, strict=True)
    ):
        raise SqlError(
            f"the query has the columns {_listed(query.columns)}, and {target.name} has "
            f"{_listed(target.columns)}",
            statement.location,
        )


def inserted_row(statement: InsertValues, metastore: Metastore) -> InsertRow:
    """Return a row with the columns that its values are for."""
    target = metastore.source(statement.target, statement.location)
    _check_target(target, statement)
    names = statement.columns or tuple(column.name for column in target.columns)
    if len(names) != len(statement.values):
        raise SqlError(
            f"there are {len(statement.values)} values for {len(names)} columns",
            statement.location,
        )
    row = []
    for name, value in zip(names, statement.values, strict=True):
        column = _column(name, target, statement)
        typed = analyse(value, Scope(custom_types=metastore.types))
        if not can_insert(typed.type, column.type):
            raise unfit_value(target, column, typed, _shown(value))
        row.append((column, typed))
    if target.kind is SourceKind.TABLE:
        missing = [column.name for column in target.key if column.name not in names]
        if missing:
            raise SqlError(
                f"the row has no value for the primary key: {', '.join(missing)}",
                statement.location,
            )
    return InsertRow(target, tuple(row))


def unfit_value(target: DataSource, column: SourceColumn, given: Typed, shown: str) -> SqlError:
    """Return the refusal of a value that its column does not take, in ksqlDB's words."""
    hint = _PATTERNS.get(column.type, "") if given.type == STRING else ""
    return SqlError(
        f"Failed to insert values into '{target.name}'. Expected type {column.type} for field "
        f"`{column.name}` but got {kind(given.type)}({shown}){hint}",
        given.expression.location,
    )


def _check_target(target: DataSource, statement: InsertSelect | InsertValues) -> None:
    if target.is_source:
        raise SqlError(
            f"{target.name} is read-only: it was made with CREATE SOURCE", statement.location
        )
    if target.has_headers:
        names = ", ".join(column.name for column in target.columns if column.is_header)
        raise SqlError(
            f"{target.name} has columns that are headers, which cannot be written: {names}",
            statement.location,
        )
    if target.is_windowed:
        raise SqlError(
            f"{target.name} has windows in its key, which cannot be written", statement.location
        )


def _column(name: str, target: DataSource, statement: InsertValues) -> SourceColumn:
    found = target.column(name)
    if found is not None:
        return found
    if name == "ROWTIME":
        return SourceColumn(name, PSEUDO_COLUMNS[name])
    raise SqlError(f"{target.name} has no column {name}", statement.location)


def _shown(value: Expression) -> str:
    match value:
        case StringLiteral(text):
            return text
        case BooleanLiteral(truth):
            return str(truth).lower()
        case _:
            return format_expression(value)


def _becomes(given: SqlType, wanted: SqlType) -> bool:
    """Tell whether a column is widened by itself; a decimal may be too short for a number of it."""
    is_whole = given in (INTEGER, BIGINT)
    return can_coerce(given, wanted) or (is_whole and isinstance(wanted, Decimal))


def _listed(columns: tuple[SourceColumn, ...]) -> str:
    return ", ".join(str(column) for column in columns)
