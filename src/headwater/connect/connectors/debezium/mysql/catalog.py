"""Tables that a server has, and their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.debezium.mysql.columns import Described, enum_values

if TYPE_CHECKING:
    from headwater.connect.connectors.debezium.mysql.columns import TableMaker
    from headwater.connect.connectors.debezium.mysql.connection import MySqlConnection
    from headwater.connect.connectors.debezium.table import Table

_OWN = "('mysql', 'information_schema', 'performance_schema', 'sys')"
_COLUMNS = (
    "TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_KEY, "
    "NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_OCTET_LENGTH"
)


class CatalogTable:
    """A table, and the statement that reads its rows."""

    def __init__(self, table: Table, described: list[Described]) -> None:
        self.table = table
        self._described = described

    @property
    def query(self) -> str:
        """The query for all rows, whose columns are in the table's order."""
        columns = ", ".join(map(_selected, self._described))
        return f"SELECT {columns} FROM {self.name}"

    @property
    def name(self) -> str:
        """The full name as SQL writes it."""
        return f"{quoted(self.table.owner)}.{quoted(self.table.name)}"


def captured_tables(connection: MySqlConnection, maker: TableMaker) -> list[CatalogTable]:
    """Return the tables that are captured, in the order of their names."""
    rows = connection.rows(
        f"SELECT {_COLUMNS} FROM information_schema.COLUMNS JOIN information_schema.TABLES "
        "USING (TABLE_SCHEMA, TABLE_NAME) WHERE TABLE_TYPE = 'BASE TABLE' "
        f"AND TABLE_SCHEMA NOT IN {_OWN} ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION"
    )
    found: dict[tuple[str, str], list[Described]] = {}
    for database, table, *column in rows:
        if maker.selection.has_table(database, table):
            found.setdefault((database, table), []).append(_described(*column))
    return [CatalogTable(maker.table(*name, columns), columns) for name, columns in found.items()]


def is_captured(maker: TableMaker, database: str, table: str) -> bool:
    """Whether a table's changes are told; the server's own tables are not."""
    return f"'{database}'" not in _OWN and maker.selection.has_table(database, table)


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return f"`{name.replace('`', '``')}`"


def _described(
    name: str,
    kind: str,
    column_type: str,
    nullable: str,
    key: str,
    precision: Any,
    scale: Any,
    seconds: Any,
    octets: Any,
) -> Described:
    is_decimal = kind == "decimal"
    return Described(
        name,
        kind.lower(),
        nullable == "YES",
        key == "PRI",
        "unsigned" in column_type,
        int((precision if is_decimal or kind == "bit" else octets) or 0),
        int((scale if is_decimal else seconds) or 0),
        enum_values(column_type) if kind in ("enum", "set") else (),
    )


def _selected(column: Described) -> str:
    # As text, a FLOAT has six digits; a double has them all.
    return f"{quoted(column.name)} + 0e0" if column.kind == "float" else quoted(column.name)
