"""The replication slot and the publication: made, looked at, and moved on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.debezium.postgresql.catalog import quoted
from headwater.connect.connectors.debezium.postgresql.connection import database_errors, rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    import psycopg

    from headwater.config import Values
    from headwater.connect.connectors.debezium.table import Table

_OLDEST = 130000


def check_server(connection: psycopg.Connection[Any]) -> None:
    """Raise ConnectorError with what has to be changed, and how."""
    ((level,),) = rows(connection, "SHOW wal_level")
    if level != "logical":
        raise ConnectorError(
            f"the server's log cannot be decoded: wal_level is {level}, not logical; run ALTER "
            "SYSTEM SET wal_level = logical, and restart the server"
        )
    if connection.info.server_version < _OLDEST:
        version = connection.info.server_version // 10000
        raise ConnectorError(f"the server is PostgreSQL {version}; 13 or later is needed")


class Slot:
    """A slot of the database that the connection is to."""

    def __init__(self, connection: psycopg.Connection[Any], config: Values) -> None:
        self._connection = connection
        self.name = config.text("slot.name") or ""
        self._database = config.text("database.dbname")

    def exists(self) -> bool:
        """Whether it is there; raises ConnectorError if it is another kind of slot."""
        sql = "SELECT plugin, database, wal_status FROM pg_replication_slots WHERE slot_name = %s"
        found = rows(self._connection, sql, (self.name,))
        if not found:
            return False
        plugin, database, status = found[0]
        if (plugin, database) != ("pgoutput", self._database):
            raise ConnectorError(
                f"the slot {self.name} is for {plugin} in database {database}, not for pgoutput in "
                f"{self._database}: choose another slot.name"
            )
        if status == "lost":
            raise ConnectorError(
                f"the slot {self.name} was left so far behind that the server has removed the log: "
                f"drop it (SELECT pg_drop_replication_slot('{self.name}')), and delete the "
                "connector's offsets for a new snapshot"
            )
        return True

    def create(self) -> None:
        """Make it: from now on the server keeps what it has not told."""
        rows(
            self._connection,
            "SELECT pg_create_logical_replication_slot(%s, 'pgoutput')",
            (self.name,),
        )

    def advance(self, lsn: int) -> None:
        """Let the server forget what is before this place; it never goes back."""
        sql = (
            "SELECT pg_replication_slot_advance(slot_name, '0/0'::pg_lsn + %s::numeric) FROM "
            "pg_replication_slots WHERE slot_name = %s "
            "AND confirmed_flush_lsn < '0/0'::pg_lsn + %s::numeric"
        )
        rows(self._connection, sql, (lsn, self.name, lsn))


def publish(connection: psycopg.Connection[Any], config: Values, tables: Iterable[Table]) -> None:
    """Make the publication if it is missing, as `publication.autocreate.mode` says."""
    name = config.text("publication.name") or ""
    mode = config.text("publication.autocreate.mode")
    listed = ", ".join(f"{quoted(each.owner)}.{quoted(each.name)}" for each in tables)
    if rows(connection, "SELECT 1 FROM pg_publication WHERE pubname = %s", (name,)):
        sql = "SELECT puballtables FROM pg_publication WHERE pubname = %s"
        if mode == "filtered" and listed and rows(connection, sql, (name,)) == [(False,)]:
            _run(connection, f"ALTER PUBLICATION {quoted(name)} SET TABLE {listed}")
        return
    if mode == "disabled":
        raise ConnectorError(
            f"there is no publication {name}: create it (CREATE PUBLICATION {name} FOR TABLE ...), "
            "or set publication.autocreate.mode"
        )
    if mode == "filtered" and not listed:
        raise ConnectorError("no table matches the lists, so that there is nothing to publish")
    what = {"all_tables": " FOR ALL TABLES", "filtered": f" FOR TABLE {listed}"}.get(mode or "", "")
    # Changes of partitions are told as those of their table, whose rows the snapshot has.
    root = "WITH (publish_via_partition_root = true)"
    _run(connection, f"CREATE PUBLICATION {quoted(name)}{what} {root}")


def _run(connection: psycopg.Connection[Any], sql: str) -> None:
    with database_errors("making the publication"):
        connection.execute(sql)
