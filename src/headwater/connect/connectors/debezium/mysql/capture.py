"""Captures MariaDB or MySQL: a snapshot if one is needed, and then the binlog."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.debezium.change import Batch
from headwater.connect.connectors.debezium.mysql.binlog import Binlog
from headwater.connect.connectors.debezium.mysql.catalog import captured_tables
from headwater.connect.connectors.debezium.mysql.columns import TableMaker
from headwater.connect.connectors.debezium.mysql.connection import (
    MySqlConnection,
    connection_settings,
)
from headwater.connect.connectors.debezium.mysql.origin import Origin
from headwater.connect.connectors.debezium.mysql.position import Position
from headwater.connect.connectors.debezium.mysql.requirements import check_server
from headwater.connect.connectors.debezium.mysql.snapshot import Snapshot
from headwater.connect.connectors.debezium.offset_marks import is_whole
from headwater.connect.connectors.debezium.selection import Selection
from headwater.connect.connectors.debezium.settings import SnapshotMode
from headwater.connect.connectors.debezium.value_types import Handling

if TYPE_CHECKING:
    from headwater.config import Values
    from headwater.connect.connectors.connector import SourceOffset

_SERVER_IDS = (5400, 6400)


class MySqlCapture:
    """Goes on from an offset; without one, or within a snapshot, it begins at the beginning."""

    def __init__(self, config: Values, offset: SourceOffset | None, connector: str) -> None:
        self._config = config
        self._settings = connection_settings(config)
        self._origin = Origin(connector, config.text("topic.prefix") or "")
        self._maker = TableMaker(
            Selection.of(config, "database"),
            Handling.of(config),
            precise_bigints=config.text("bigint.unsigned.handling.mode") == "precise",
        )
        self._mode = SnapshotMode(config.text("snapshot.mode") or "initial")
        self._skipped = frozenset(config.words("skipped.operations"))
        self._tells_ddl = config.boolean("include.schema.changes")
        self._is_over = False
        self._snapshot: Snapshot | None = None
        self._binlog: Binlog | None = None
        self._connection = MySqlConnection(self._settings)
        try:
            self._start(offset)
        except BaseException:
            self.close()
            raise

    def read(self, most: int) -> Batch:
        """Return the next rows of the snapshot, or changes."""
        if self._snapshot is not None:
            return self._read_snapshot(self._snapshot, most)
        if self._is_over:
            return Batch()
        if self._binlog is None:
            position = Position(*self._connection.log_end())
            self._binlog = self._follow(position)
            return Batch(position.offset(), has_to_be_stored=True)
        if not self._binlog.is_open and self._connection.log_end() == self._binlog.end:
            return Batch()
        return self._binlog.read(most, self._origin, self._skipped, tells_ddl=self._tells_ddl)

    def committed(self, offset: SourceOffset) -> None:
        """Do nothing: the server keeps the binlog for as long as it is told to."""

    def close(self) -> None:
        """Close all connections."""
        for each in (self._snapshot, self._binlog, self._connection):
            if each is not None:
                each.close()

    def _start(self, offset: SourceOffset | None) -> None:
        check_server(self._connection)
        captured_tables(self._connection, self._maker)  # fails early where a type is not known
        if offset is not None and is_whole(offset) and self._mode is not SnapshotMode.ALWAYS:
            position = Position.of(offset)
            if self._has(position):
                self._is_over = self._mode is SnapshotMode.INITIAL_ONLY
                self._binlog = self._follow(position)
                return
            if self._mode is not SnapshotMode.WHEN_NEEDED:
                raise ConnectorError(
                    f"the server no longer has {position.file}, where the stored offset is: "
                    "changes are lost. Delete the connector's offsets for a new snapshot, or set "
                    "snapshot.mode=when_needed"
                )
        if self._mode.reads_rows:
            self._snapshot = Snapshot(
                self._settings,
                self._maker,
                self._origin,
                chunk=self._config.integer("max.batch.size"),
                tells_schemas=self._tells_ddl,
            )

    def _has(self, position: Position) -> bool:
        return any(row[0] == position.file for row in self._connection.rows("SHOW BINARY LOGS"))

    def _read_snapshot(self, snapshot: Snapshot, most: int) -> Batch:
        batch = snapshot.read(most)
        if batch.has_more:
            return batch
        snapshot.close()
        self._snapshot = None
        self._is_over = self._mode is SnapshotMode.INITIAL_ONLY
        self._binlog = self._follow(snapshot.position)
        return snapshot.ended(batch)

    def _follow(self, position: Position) -> Binlog:
        given: Any = self._config["database.server.id"]
        server_id = given or random.randint(*_SERVER_IDS)
        return Binlog(self._settings, server_id, position, self._maker)
