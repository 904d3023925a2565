"""SQLite."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.connect.connectors.jdbc.dialects.dialect import OnConflictDialect
from headwater.connect.connectors.jdbc.table import TableId
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.connect.connectors.jdbc.table import Column

_MOMENT = "%Y-%m-%d %H:%M:%f"


@dataclass(frozen=True)
class SqliteDialect(OnConflictDialect):
    """SQLite, whose columns hold what they are given: types are those that a table declares."""

    name: str = "SqliteDatabaseDialect"
    url_prefixes: tuple[str, ...] = ("jdbc:sqlite:",)
    driver_class: str = "org.sqlite.JDBC"
    coordinate: str = "org.xerial:sqlite-jdbc:3.49.1.0"
    # Times as texts, as SQLite's own functions write them. Who writes waits for who writes.
    login: Mapping[str, str] = field(
        default_factory=lambda: {
            "date_class": "TEXT",
            "busy_timeout": "30000",
            "transaction_mode": "IMMEDIATE",
        }
    )
    now: str = f"SELECT strftime('{_MOMENT}', 'now')"
    has_times: bool = False
    locks: str = ""
    most_writers: int | None = 1

    def table_id(self, catalog: str | None, schema: str | None, name: str) -> TableId:
        """Return a table's name alone."""
        del catalog, schema
        return TableId(None, None, name)

    def moment(self, expression: str) -> str:
        """Return a time as a text of one form: one may have been written with less digits."""
        return f"strftime('{_MOMENT}', {expression})"

    def moment_literal(self, text: str) -> str:
        """Return a moment, to the millisecond."""
        return f"'{text[:23]}'"

    def schema_of(self, column: Column) -> Schema | None:
        """Return what a declared type means; an INTEGER of SQLite's has 64 bits."""
        declared = column.type_name.upper()
        if declared.startswith(("DATETIME", "TIMESTAMP")):
            return connect.timestamp(optional=column.is_nullable)
        if declared in ("INTEGER", "INT"):
            return Schema(Type.INT64, column.is_nullable)
        return None

    @property
    def types(self) -> Mapping[Type, str]:
        """The types that are not the standard's."""
        return {Type.INT64: "INTEGER", Type.FLOAT64: "REAL"}
