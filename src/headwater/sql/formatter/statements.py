"""Statements as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from headwater.sql.formatter.clauses import flag, name_list, value_list, with_clause
from headwater.sql.formatter.commands import format_assertion, format_command
from headwater.sql.formatter.queries import format_query
from headwater.sql.formatter.types import format_type
from headwater.sql.tree.queries import Query
from headwater.sql.tree.statements.assertions import (
    AssertSchema,
    AssertSource,
    AssertTombstone,
    AssertTopic,
    AssertValues,
)
from headwater.sql.tree.statements.changes import (
    AlterSource,
    AlterSystem,
    DropNamed,
    DropSource,
    InsertSelect,
    InsertValues,
)
from headwater.sql.tree.statements.creation import (
    ColumnDefinition,
    ColumnRole,
    CreateAsSelect,
    CreateConnector,
    CreateSource,
    CreateType,
)
from headwater.sql.tree.statements.inspection import ExplainStatement
from headwater.sql.words import quoted, text_literal

if TYPE_CHECKING:
    from headwater.sql.tree.statements.statement import Statement


def format_statement(statement: Statement) -> str:
    """Return a statement as text, without a semicolon."""
    match statement:
        case Query():
            return format_query(statement)
        case CreateSource() | CreateAsSelect() | CreateType() | CreateConnector():
            return _create(statement)
        case InsertSelect(target, query, properties):
            return f"INSERT INTO {quoted(target)}{with_clause(properties)}\n{format_query(query)}"
        case InsertValues(target, columns, values):
            names = name_list(columns)
            return f"INSERT INTO {quoted(target)}{names} VALUES {value_list(values)}"
        case DropSource(kind, name, if_exists, delete_topic):
            topic = " DELETE TOPIC" if delete_topic else ""
            return f"DROP {kind.value} {flag(if_exists, 'IF EXISTS')}{quoted(name)}{topic}"
        case DropNamed(kind, name, if_exists):
            return f"DROP {kind.value} {flag(if_exists, 'IF EXISTS')}{quoted(name)}"
        case AlterSource(kind, name, added):
            columns = tuple(
                f"ADD COLUMN {quoted(column.name)} {format_type(column.type)}" for column in added
            )
            return f"ALTER {kind.value} {quoted(name)} {', '.join(columns)}"
        case AlterSystem(property_, value):
            return f"ALTER SYSTEM {text_literal(property_)}={text_literal(value)}"
        case ExplainStatement(explained):
            return f"EXPLAIN {format_statement(explained)}"
        case AssertSource(expected):
            return f"ASSERT {_source(expected)}"
        case AssertTopic() | AssertSchema() | AssertValues() | AssertTombstone():
            return format_assertion(statement)
        case _:
            return format_command(statement)


def _create(statement: CreateSource | CreateAsSelect | CreateType | CreateConnector) -> str:
    unless = flag(statement.if_not_exists, "IF NOT EXISTS")
    match statement:
        case CreateSource():
            replace = flag(statement.or_replace, "OR REPLACE")
            return f"CREATE {replace}{flag(statement.is_source, 'SOURCE')}{_source(statement)}"
        case CreateAsSelect(kind, name, query, properties):
            replace = flag(statement.or_replace, "OR REPLACE")
            created = f"{kind.value} {unless}{quoted(name)}{with_clause(properties)}"
            return f"CREATE {replace}{created} AS {format_query(query)}"
        case CreateType(name, type_):
            return f"CREATE TYPE {unless}{quoted(name)} AS {format_type(type_)}"
        case CreateConnector(kind, name, properties):
            created = f"{kind.value} CONNECTOR {unless}{quoted(name)}"
            return f"CREATE {created}{with_clause(properties)}"
        case _:
            assert_never(statement)


def _source(source: CreateSource) -> str:
    columns = ", ".join(_column(column) for column in source.columns)
    unless = flag(source.if_not_exists, "IF NOT EXISTS")
    return (
        f"{source.kind.value} {unless}{quoted(source.name)}"
        f"{f' ({columns})' if columns else ''}{with_clause(source.properties)}"
    )


def _column(column: ColumnDefinition) -> str:
    declared = f"{quoted(column.name)} {format_type(column.type)}"
    match column.role:
        case ColumnRole.VALUE:
            return declared
        case ColumnRole.HEADER:
            return f"{declared} HEADER({text_literal(column.header or '')})"
        case role:
            return f"{declared} {role.value}"
