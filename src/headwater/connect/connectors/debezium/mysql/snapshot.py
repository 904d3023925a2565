"""The rows that are in tables already, as they were at one position of the binlog."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pymysql.cursors import SSCursor  # type: ignore[import-untyped]

from headwater.connect.connectors.debezium.change import Batch, Change, Op, SchemaChange
from headwater.connect.connectors.debezium.mysql.catalog import captured_tables
from headwater.connect.connectors.debezium.mysql.connection import MySqlConnection
from headwater.connect.connectors.debezium.mysql.position import Position
from headwater.connect.connectors.debezium.offset_marks import within_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from headwater.connect.connectors.debezium.mysql.columns import TableMaker
    from headwater.connect.connectors.debezium.mysql.origin import Origin


class Snapshot:
    """Reads tables in one transaction, which sees them as they were when it began."""

    def __init__(
        self,
        settings: dict[str, Any],
        maker: TableMaker,
        origin: Origin,
        *,
        chunk: int,
        tells_schemas: bool,
    ) -> None:
        self._connection = MySqlConnection(settings, SSCursor)
        try:
            self.position = self._begin()
            self._tables = captured_tables(self._connection, maker)
        except BaseException:
            self._connection.close()
            raise
        self._origin = origin
        self._chunk = chunk
        self._tells_schemas = tells_schemas
        self._rows = self._changes()
        self._is_first = True

    def read(self, most: int) -> Batch:
        """Return about so many rows; the last batch has no more."""
        batch = Batch(within_snapshot(self.position.offset()), has_more=True)
        if self._is_first and self._tells_schemas:
            batch.schema_changes = self._statements()
        for changes in self._rows:
            batch.changes += changes
            if len(batch.changes) >= most:
                break
        else:
            batch.has_more = False
        if self._is_first and batch.changes:
            batch.changes[0] = self._marked(batch.changes[0], "first")
            self._is_first = False
        return batch

    def ended(self, batch: Batch) -> Batch:
        """Return the last batch as such, with the offset at which changes begin."""
        if batch.changes:
            batch.changes[-1] = self._marked(batch.changes[-1], "last")
        batch.offset = self.position.offset()
        batch.has_more = batch.has_to_be_stored = True
        return batch

    def close(self) -> None:
        """End the transaction."""
        self._connection.close()

    def _begin(self) -> Position:
        run = self._connection.run
        run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        if self._connection.is_mariadb:
            # It tells where in the binlog the transaction's view is, without any lock.
            run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            status = dict(self._connection.rows("SHOW STATUS LIKE 'binlog_snapshot_%'"))
            found = {name.lower(): value for name, value in status.items()}
            return Position(found["binlog_snapshot_file"], int(found["binlog_snapshot_position"]))
        run("FLUSH TABLES WITH READ LOCK")
        run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        position = Position(*self._connection.log_end())
        run("UNLOCK TABLES")
        return position

    def _changes(self) -> Iterator[list[Change]]:
        for each in self._tables:
            table = each.table
            source = self._source(table.owner, table.name, "true")
            for rows in self._connection.chunks(each.query, self._chunk):
                yield [Change(table, Op.READ, None, row, source) for row in rows]

    def _statements(self) -> list[SchemaChange]:
        return [
            SchemaChange(
                each.table.owner,
                str(self._connection.rows(f"SHOW CREATE TABLE {each.name}")[0][1]),
                self._source(each.table.owner, each.table.name, "true"),
            )
            for each in self._tables
        ]

    def _marked(self, change: Change, mark: str) -> Change:
        return change._replace(source=self._source(change.table.owner, change.table.name, mark))

    def _source(self, database: str, table: str, mark: str) -> tuple[Any, ...]:
        now = time.time_ns() // 1_000_000
        return self._origin.values(database, table, self.position, now, snapshot=mark)
