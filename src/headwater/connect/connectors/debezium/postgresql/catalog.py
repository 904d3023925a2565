"""What PostgreSQL's catalog says of tables, columns and types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.connect.connectors.debezium.postgresql.columns import Described, PgType
from headwater.connect.connectors.debezium.postgresql.connection import rows

if TYPE_CHECKING:
    import psycopg

    from headwater.connect.connectors.debezium.postgresql.columns import TableMaker
    from headwater.connect.connectors.debezium.table import Table

_COLUMNS = """
SELECT n.nspname, c.relname, a.attname, a.atttypid, a.atttypmod, NOT a.attnotnull,
       coalesce(a.attnum = ANY(i.indkey), false)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid
  LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
 WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence = 'p'
   AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%%'
   AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
"""
_ORDER = " ORDER BY n.nspname, c.relname, a.attnum"
_TYPE = """
SELECT t.typname, t.typtype, t.typbasetype, CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END,
       array(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = t.oid ORDER BY enumsortorder)
  FROM pg_type t WHERE t.oid = %s
"""


class CatalogTable(NamedTuple):
    """A table, and the statement that copies its rows."""

    table: Table
    copy: str


class Catalog:
    """Asks a connection; types are asked for once."""

    def __init__(self, connection: psycopg.Connection[Any], maker: TableMaker) -> None:
        self._connection = connection
        self._maker = maker
        self._types: dict[int, PgType] = {}

    def captured(self) -> list[CatalogTable]:
        """Return the tables that are captured, in the order of their names."""
        found: dict[tuple[str, str], list[Described]] = {}
        for schema, table, *column in rows(self._connection, _COLUMNS.replace("%%", "%") + _ORDER):
            if self._maker.selection.has_table(schema, table):
                found.setdefault((schema, table), []).append(self._described(*column))
        return [
            CatalogTable(self._maker.table(*name, columns), _copy(*name, columns))
            for name, columns in found.items()
        ]

    def now(self, schema: str, table: str) -> dict[str, Described]:
        """Return a table's columns as they are now, which may be later than what the log tells."""
        sql = f"{_COLUMNS} AND n.nspname = %s AND c.relname = %s {_ORDER}"
        found = rows(self._connection, sql, (schema, table))
        return {column[0]: self._described(*column) for _, _, *column in found}

    def type(self, oid: int) -> PgType:
        """Return a type; of a domain, the one that it is made of."""
        if oid not in self._types:
            self._types[oid] = self._asked(oid)
        return self._types[oid]

    def _asked(self, oid: int) -> PgType:
        found = rows(self._connection, _TYPE, (oid,))
        if not found:
            return PgType(f"number {oid}")
        name, kind, base, item, labels = found[0]
        if kind == "d":
            return self.type(base)
        return PgType(name, tuple(labels), self.type(item) if item else None)

    def _described(
        self, name: str, type_: int, modifier: int, nullable: bool, is_key: bool
    ) -> Described:
        return Described(name, self.type(type_), modifier, nullable, is_key)


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _copy(schema: str, table: str, columns: list[Described]) -> str:
    names = ", ".join(quoted(each.name) for each in columns)
    return f"COPY (SELECT {names} FROM {quoted(schema)}.{quoted(table)}) TO STDOUT"
