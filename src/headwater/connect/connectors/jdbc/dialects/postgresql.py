"""PostgreSQL."""

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

_TEXTS = frozenset(
    {"uuid", "json", "jsonb", "xml", "inet", "cidr", "macaddr", "citext", "interval"}
)

# A numeric without limits: as many digits as Spark has, half of them behind the point.
_MOST_DIGITS, _ANY_SCALE = 38, 18


@dataclass(frozen=True)
class PostgreSqlDialect(OnConflictDialect):
    """PostgreSQL."""

    name: str = "PostgreSqlDatabaseDialect"
    url_prefixes: tuple[str, ...] = ("jdbc:postgresql:",)
    driver_class: str = "org.postgresql.Driver"
    coordinate: str = "org.postgresql:postgresql:42.7.5"
    # Texts become whatever the column is: a UUID, JSON, a time of day. Batches go as one statement.
    login: Mapping[str, str] = field(
        default_factory=lambda: {"stringtype": "unspecified", "reWriteBatchedInserts": "true"}
    )
    preparations: tuple[str, ...] = ("SET TIME ZONE 'UTC'",)

    def table_id(self, catalog: str | None, schema: str | None, name: str) -> TableId:
        """Return a table's name: the database is the connection's."""
        del catalog
        return TableId(None, schema, name)

    def schema_of(self, column: Column) -> Schema | None:
        """Return a text for types that JDBC does not know, and a numeric's digits if it has any."""
        name = column.type_name.lower()
        if name == "numeric" and column.precision == 0:
            return connect.decimal(_ANY_SCALE, _MOST_DIGITS, optional=column.is_nullable)
        if name == "bool":  # a bit to its driver, which then refuses to give a number
            return Schema(Type.BOOLEAN, column.is_nullable)
        return Schema(Type.STRING, column.is_nullable) if name in _TEXTS else None

    @property
    def types(self) -> Mapping[Type, str]:
        """The types that are not the standard's."""
        return {Type.BYTES: "BYTEA"}
