"""Captures PostgreSQL: a snapshot if one is needed, and then the changes of a slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.debezium.change import Batch
from headwater.connect.connectors.debezium.offset_marks import is_whole
from headwater.connect.connectors.debezium.postgresql.catalog import Catalog
from headwater.connect.connectors.debezium.postgresql.changes import Changes
from headwater.connect.connectors.debezium.postgresql.columns import TableMaker
from headwater.connect.connectors.debezium.postgresql.connection import closed, connect
from headwater.connect.connectors.debezium.postgresql.origin import Origin
from headwater.connect.connectors.debezium.postgresql.position import Position
from headwater.connect.connectors.debezium.postgresql.slot import Slot, check_server, publish
from headwater.connect.connectors.debezium.postgresql.snapshot import Snapshot
from headwater.connect.connectors.debezium.selection import Selection
from headwater.connect.connectors.debezium.settings import SnapshotMode
from headwater.connect.connectors.debezium.value_types import Handling

if TYPE_CHECKING:
    from headwater.config import Values
    from headwater.connect.connectors.connector import SourceOffset


class PostgresCapture:
    """Goes on from an offset; without one, or within a snapshot, it begins at the beginning."""

    def __init__(self, config: Values, offset: SourceOffset | None) -> None:
        self._config = config
        self._origin = Origin(
            config.text("topic.prefix") or "", config.text("database.dbname") or ""
        )
        self._maker = TableMaker(
            Selection.of(config, "schema"),
            Handling.of(config),
            config.text("unavailable.value.placeholder") or "",
        )
        self._mode = SnapshotMode(config.text("snapshot.mode") or "initial")
        self._is_over = False
        self._snapshot: Snapshot | None = None
        self._changes: Changes | None = None
        self._connection = connect(config)
        self._catalog = Catalog(self._connection, self._maker)
        self._slot = Slot(self._connection, config)
        try:
            self._start(offset)
        except BaseException:
            self.close()
            raise

    def read(self, most: int) -> Batch:
        """Return the next rows of the snapshot, or changes."""
        if self._snapshot is not None:
            return self._read_snapshot(self._snapshot, most)
        if self._changes is None or self._is_over:
            return Batch()
        batch = self._changes.read(most)
        if not batch.changes:
            # Nothing has to be written before the server may forget what told nothing.
            self._slot.advance(self._changes.confirmed)
        return batch

    def committed(self, offset: SourceOffset) -> None:
        """Let the server forget what is in the topics."""
        del offset
        if self._changes is not None:
            self._slot.advance(self._changes.confirmed)

    def close(self) -> None:
        """Close all connections."""
        for each in (self._snapshot, self._changes):
            if each is not None:
                each.close()
        closed(self._connection)

    def _start(self, offset: SourceOffset | None) -> None:
        check_server(self._connection)
        publish(self._connection, self._config, [each.table for each in self._catalog.captured()])
        is_there = self._slot.exists()
        if offset is not None and is_whole(offset) and self._mode is not SnapshotMode.ALWAYS:
            if is_there:
                self._is_over = self._mode is SnapshotMode.INITIAL_ONLY
                self._changes = self._follow(Position.of(offset))
                return
            if self._mode is not SnapshotMode.WHEN_NEEDED:
                raise ConnectorError(
                    f"the slot {self._slot.name} is gone, and with it the changes since the stored "
                    "offset. Delete the connector's offsets for a new snapshot, or set "
                    "snapshot.mode=when_needed"
                )
        if not is_there:
            self._slot.create()
        if self._mode.reads_rows:
            self._snapshot = Snapshot(self._config, self._maker, self._origin)
        else:
            self._changes = self._follow(Position())

    def _read_snapshot(self, snapshot: Snapshot, most: int) -> Batch:
        batch = snapshot.read(most)
        if batch.has_more:
            return batch
        snapshot.close()
        self._snapshot = None
        self._is_over = self._mode is SnapshotMode.INITIAL_ONLY
        self._changes = self._follow(snapshot.position)
        return snapshot.ended(batch)

    def _follow(self, position: Position) -> Changes:
        return Changes(self._config, position, self._catalog, self._maker, self._origin)
