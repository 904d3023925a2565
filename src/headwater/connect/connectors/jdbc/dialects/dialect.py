"""What a database's SQL is like; as the standard has it, unless a database says otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.jdbc.table import TableId
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.connect.connectors.jdbc.table import Column


@dataclass(frozen=True)
class Dialect:
    """The standard's SQL, for a driver of the user's; databases that are known extend it."""

    name: str = "GenericDatabaseDialect"
    url_prefixes: tuple[str, ...] = ()
    driver_class: str = ""
    coordinate: str = ""
    """The Maven coordinate of the driver that was tried out."""

    login: Mapping[str, str] = field(default_factory=dict)
    """Properties of a connection, unless the URL has them."""

    preparations: tuple[str, ...] = ()
    """What a new connection does first. Times go over it in UTC."""

    quote: str = '"'
    now: str = "SELECT CURRENT_TIMESTAMP"
    has_times: bool = True
    """Whether columns hold times, and not texts or numbers."""

    locks: str = " FOR UPDATE"
    most_writers: int | None = None
    """How many may write at once; None: any number."""

    def url(self, given: str) -> str:
        """Return the URL as the driver wants it."""
        return given

    def quoted(self, name: str) -> str:
        """Return a name of the database's in quotes."""
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def literal(self, text: str) -> str:
        """Return a text as SQL."""
        return "'" + text.replace("'", "''") + "'"

    def table_id(self, catalog: str | None, schema: str | None, name: str) -> TableId:
        """Return a table's name with the parts that this database's users write."""
        return TableId(catalog, schema, name)

    def place(self, qualifiers: Sequence[str]) -> tuple[str | None, str | None]:
        """Return catalog and schema of a name that has these parts before it."""
        catalog, schema = [None, None, *qualifiers][-2:]
        return catalog, schema

    def moment(self, expression: str) -> str:
        """Return a time column so that it can be compared with `moment_literal`."""
        return expression

    def moment_literal(self, text: str) -> str:
        """Return a moment, written YYYY-MM-DD HH:MM:SS.ffffff, as SQL."""
        return f"TIMESTAMP '{text}'"

    def is_instant(self, column: Column) -> bool:
        """Tell whether a time column means a moment, and not what a clock on a wall shows."""
        return column.type_name.upper() in ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")

    def schema_of(self, column: Column) -> Schema | None:
        """Return a column's schema where it is not what JDBC's type says; else None."""
        del column
        return None

    def column_type(self, schema: Schema, *, in_key: bool) -> str:
        """Return the type of a column that is created for values of this schema."""
        del in_key
        match schema.logical:
            case connect.DECIMAL:
                return f"DECIMAL(38,{schema.scale})"
            case connect.DATE | connect.TIME | connect.TIMESTAMP as logical:
                return logical.rpartition(".")[2].upper()
        if schema.type not in _TYPES:
            raise ConnectorError(
                f"a field of the type {schema.type} has no counterpart among a table's columns; "
                "take it apart with the transform Flatten, or leave it out by fields.whitelist"
            )
        return self.types.get(schema.type) or _TYPES[schema.type]

    @property
    def types(self) -> Mapping[Type, str]:
        """The types that are not the standard's."""
        return {}

    def insert(self, table: str, columns: Sequence[str]) -> str:
        """Return the statement that adds a row."""
        names = ", ".join(map(self.quoted, columns))
        return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return the statement that adds a row or changes the one that has its key."""
        del table, columns, key
        raise ConnectorError(
            f"{self.name} cannot upsert; it can with MariaDB, MySQL, PostgreSQL and SQLite"
        )

    def update(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return the statement that changes the row that has a key; the key comes last."""
        changed = ", ".join(f"{self.quoted(name)} = ?" for name in columns)
        return f"UPDATE {table} SET {changed}{self._where(key)}"

    def delete(self, table: str, key: Sequence[str]) -> str:
        """Return the statement that deletes the row that has a key."""
        return f"DELETE FROM {table}{self._where(key)}"

    def add_columns(self, table: str, columns: Sequence[str]) -> list[str]:
        """Return the statements that add columns, each given by its definition."""
        return [f"ALTER TABLE {table} ADD {column}" for column in columns]

    def _where(self, key: Sequence[str]) -> str:
        return " WHERE " + " AND ".join(f"{self.quoted(name)} = ?" for name in key)


@dataclass(frozen=True)
class OnConflictDialect(Dialect):
    """Databases that upsert by ON CONFLICT."""

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        """Return the statement that adds a row or changes the one that has its key."""
        changed = [
            f"{self.quoted(name)} = EXCLUDED.{self.quoted(name)}"
            for name in columns
            if name not in key
        ]
        then = f"UPDATE SET {', '.join(changed)}" if changed else "NOTHING"
        keys = ", ".join(map(self.quoted, key))
        return f"{self.insert(table, columns)} ON CONFLICT ({keys}) DO {then}"


_TYPES = {
    Type.INT8: "SMALLINT",
    Type.INT16: "SMALLINT",
    Type.INT32: "INTEGER",
    Type.INT64: "BIGINT",
    Type.FLOAT32: "REAL",
    Type.FLOAT64: "DOUBLE PRECISION",
    Type.BOOLEAN: "BOOLEAN",
    Type.STRING: "TEXT",
    Type.BYTES: "BLOB",
}
