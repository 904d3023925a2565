"""The rows that are in tables already, as one transaction sees them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from headwater.connect.connectors.debezium.change import Batch, Change, Op
from headwater.connect.connectors.debezium.offset_marks import within_snapshot
from headwater.connect.connectors.debezium.postgresql.catalog import Catalog
from headwater.connect.connectors.debezium.postgresql.connection import (
    closed,
    connect,
    database_errors,
    rows,
)
from headwater.connect.connectors.debezium.postgresql.position import Position, Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.config import Values
    from headwater.connect.connectors.debezium.postgresql.columns import TableMaker
    from headwater.connect.connectors.debezium.postgresql.origin import Origin


class Snapshot:
    """Copies tables in one transaction. The slot has to be there before it begins."""

    def __init__(self, config: Values, maker: TableMaker, origin: Origin) -> None:
        self._origin = origin
        self._chunk = config.integer("max.batch.size")
        self._connection = connect(config)
        try:
            rows_of = self._connection.execute
            rows_of("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            ((xids,),) = rows(self._connection, "SELECT pg_current_snapshot()::text")
            ((lsn,),) = rows(
                self._connection, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint"
            )
            self.position = Position(seen=Seen(xids, lsn))
            self._tables = Catalog(self._connection, maker).captured()
        except BaseException:
            closed(self._connection)
            raise
        self._lsn = lsn
        self._changes = self._read()
        self._is_first = True

    def read(self, most: int) -> Batch:
        """Return about so many rows; the last batch has no more."""
        batch = Batch(within_snapshot(self.position.offset()), has_more=True)
        with database_errors("reading rows"):
            for changes in self._changes:
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
        """End the transaction, also in the middle of a table."""
        closed(self._connection)

    def _read(self) -> Iterator[list[Change]]:
        for table, copy in self._tables:
            source = self._origin.values(table, self._lsn, _now_us(), snapshot="true")
            chunk: list[Change] = []
            with self._connection.cursor() as cursor, cursor.copy(copy) as copied:
                for row in copied.rows():
                    chunk.append(Change(table, Op.READ, None, row, source))
                    if len(chunk) >= self._chunk:
                        yield chunk
                        chunk = []
            yield chunk

    def _marked(self, change: Change, mark: str) -> Change:
        source = self._origin.values(change.table, self._lsn, _now_us(), snapshot=mark)
        return change._replace(source=source)


def _now_us() -> int:
    return time.time_ns() // 1000
