"""The tables that a sink writes to: looked at, created and given columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.config import Values
    from headwater.connect.connectors.jdbc.database import Database
    from headwater.connect.connectors.jdbc.row_columns import RowColumn, RowColumns


class TargetTables:
    """Knows which columns tables have, and asks the database only when there is a new one."""

    def __init__(self, database: Database, config: Values) -> None:
        self._database = database
        self._config = config
        self._known: dict[str, frozenset[str]] = {}

    def name(self, topic: str) -> str:
        """Return the table of a topic's records, as SQL has it."""
        return ".".join(map(self.quoted, self._parts(topic)))

    def quoted(self, name: str) -> str:
        """Return a name as SQL has it."""
        if self._config.text("quote.sql.identifiers") == "never":
            return name
        return self._database.dialect.quoted(name)

    def fit(self, topic: str, columns: RowColumns) -> None:
        """See to it that a topic's table has these columns; raises ConnectorError if it cannot."""
        wanted = {column.name for column in columns.all}
        table = self.name(topic)
        if wanted <= self._known.get(table, frozenset()):
            return
        if not self._exists(topic):
            self._create(topic, columns)
        there = self._columns(table)
        missing = [column for column in columns.all if column.name.lower() not in there]
        if missing:
            self._add(topic, missing)
        self._known[table] = frozenset(wanted)

    def _parts(self, topic: str) -> list[str]:
        given = self._config.text("table.name.format") or "${topic}"
        # A topic's own dots are part of a name; those of the format divide it.
        return [part.replace("${topic}", topic) for part in given.split(".")]

    def _exists(self, topic: str) -> bool:
        *qualifiers, name = self._parts(topic)
        place = self._database.dialect.place(qualifiers)
        found = self._database.tables(*place, types=(), like=name.replace("_", r"\_"))
        found = found or self._database.tables(*place, types=(), like=name)
        is_quoted = self._config.text("quote.sql.identifiers") != "never"
        names = {table.name if is_quoted else table.name.lower() for table in found}
        return (name if is_quoted else name.lower()) in names

    def _columns(self, table: str) -> set[str]:
        found = self._database.columns([f"SELECT * FROM {table} WHERE 1 = 0"])[0]
        return {column.name.lower() for column in found}

    def _create(self, topic: str, columns: RowColumns) -> None:
        table = self.name(topic)
        if not self._config.boolean("auto.create"):
            raise ConnectorError(
                f"there is no table {table} for the topic {topic}; create it, or set "
                "auto.create=true"
            )
        parts = [self._defined(column, in_key=column in columns.key) for column in columns.all]
        if columns.key:
            names = ", ".join(self.quoted(column.name) for column in columns.key)
            parts.append(f"PRIMARY KEY ({names})")
        self._database.execute([f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(parts)})"])

    def _add(self, topic: str, missing: Sequence[RowColumn]) -> None:
        table, names = self.name(topic), ", ".join(column.name for column in missing)
        if not self._config.boolean("auto.evolve"):
            raise ConnectorError(
                f"{table} lacks the columns {names}; add them, leave them out by fields.whitelist, "
                "or set auto.evolve=true"
            )
        needed = [column.name for column in missing if not column.schema.optional]
        if needed:
            raise ConnectorError(
                f"{table} lacks the columns {', '.join(needed)}, which cannot be added: the fields "
                "are not optional, and its rows have no values for them"
            )
        added = [self._defined(column, in_key=False) for column in missing]
        self._database.execute(self._database.dialect.add_columns(table, added))

    def _defined(self, column: RowColumn, *, in_key: bool) -> str:
        type_ = self._database.dialect.column_type(column.schema, in_key=in_key)
        null = "NULL" if column.schema.optional and not in_key else "NOT NULL"
        return f"{self.quoted(column.name)} {type_} {null}"
