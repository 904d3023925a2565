"""MariaDB and MySQL, both through MariaDB's driver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.connect.connectors.jdbc.dialects.dialect import Dialect
from headwater.connect.connectors.jdbc.table import TableId
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.connect.connectors.jdbc.table import Column

_MYSQL = "jdbc:mysql:"
_MARIADB = "jdbc:mariadb:"
# What a key column may have: an index has no room for more in the widest of character sets.
_KEY_TYPES = {Type.STRING: "VARCHAR(256)", Type.BYTES: "VARBINARY(256)"}


@dataclass(frozen=True)
class MySqlDialect(Dialect):
    """MariaDB and MySQL."""

    name: str = "MySqlDatabaseDialect"
    url_prefixes: tuple[str, ...] = (_MARIADB, _MYSQL)
    driver_class: str = "org.mariadb.jdbc.Driver"
    coordinate: str = "org.mariadb.jdbc:mariadb-java-client:3.5.3"
    # A whole batch of rows in one message, where the server knows that: MariaDB does.
    login: Mapping[str, str] = field(default_factory=lambda: {"useBulkStmts": "true"})
    preparations: tuple[str, ...] = ("SET time_zone = '+00:00'",)
    quote: str = "`"
    now: str = "SELECT UTC_TIMESTAMP(6)"

    def url(self, given: str) -> str:
        """Return the URL under the name that MariaDB's driver listens to."""
        return given.replace(_MYSQL, _MARIADB, 1)

    def literal(self, text: str) -> str:
        """Return a text as SQL, in which a backslash is something special."""
        return super().literal(text.replace("\\", "\\\\"))

    def table_id(self, catalog: str | None, schema: str | None, name: str) -> TableId:
        """Return a table's name: its database is what JDBC calls a catalog."""
        del schema
        return TableId(catalog, None, name)

    def place(self, qualifiers: Sequence[str]) -> tuple[str | None, str | None]:
        """Return the database that stands before a table's name."""
        return (qualifiers[-1] if qualifiers else None), None

    def is_instant(self, column: Column) -> bool:
        """Tell a TIMESTAMP, which is a moment, from a DATETIME."""
        return column.type_name.upper() == "TIMESTAMP"

    def column_type(self, schema: Schema, *, in_key: bool) -> str:
        """Return the type of a column that is created for values of this schema."""
        match schema.logical:
            case connect.DECIMAL:
                return f"DECIMAL(65,{schema.scale})"
            case connect.TIME:
                return "TIME(3)"
            case connect.TIMESTAMP:
                return "DATETIME(3)"
        if in_key and schema.logical is None and schema.type in _KEY_TYPES:
            return _KEY_TYPES[schema.type]
        return super().column_type(schema, in_key=in_key)

    @property
    def types(self) -> Mapping[Type, str]:
        """The types that are not the standard's."""
        return {
            Type.INT8: "TINYINT",
            Type.INT32: "INT",
            Type.FLOAT32: "FLOAT",
            Type.FLOAT64: "DOUBLE",
            Type.BOOLEAN: "TINYINT",
            Type.BYTES: "LONGBLOB",
        }

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return the statement that adds a row or changes the one that has its key."""
        changed = [name for name in columns if name not in key] or list(key)
        sets = ", ".join(f"{self.quoted(name)} = VALUES({self.quoted(name)})" for name in changed)
        return f"{self.insert(table, columns)} ON DUPLICATE KEY UPDATE {sets}"
