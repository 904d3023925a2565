"""Statements as they are kept: with what was looked up when they were sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.sql.analysis.outcomes import MakeSource, Outcome
from headwater.sql.formatter.statements import format_statement
from headwater.sql.parser.parser import parse_type
from headwater.sql.tree.expressions import IntegerLiteral
from headwater.sql.tree.statements.creation import ColumnDefinition, CreateSource
from headwater.sql.tree.statements.properties import Property

if TYPE_CHECKING:
    from headwater.sql.tree.statements.statement import Statement

_IDS = ("KEY_SCHEMA_ID", "VALUE_SCHEMA_ID")


def resolved(statement: Statement, outcome: Outcome, partitions: int | None) -> str:
    """Return the text of a statement for the command topic.

    A stream whose columns are the registry's is kept with them, and with the number of its
    topic's partitions: whatever changes there later, it stays what it is.
    """
    if not isinstance(statement, CreateSource) or not isinstance(outcome, MakeSource):
        return format_statement(statement)
    source, properties = outcome.source, list(statement.properties)
    names = [given.name.upper() for given in properties]
    if partitions is not None and "PARTITIONS" not in names:
        properties.append(Property("PARTITIONS", IntegerLiteral(partitions)))
    columns = statement.columns
    if len(columns) != len(source.columns):
        columns = tuple(
            ColumnDefinition(column.name, parse_type(str(column.type)), column.role, column.header)
            for column in source.columns
        )
        # An id says the columns, which now stand there.
        properties = [given for given in properties if given.name.upper() not in _IDS]
    return format_statement(replace(statement, columns=columns, properties=tuple(properties)))
