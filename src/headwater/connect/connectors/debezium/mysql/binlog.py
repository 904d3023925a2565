"""Reads the binlog as a replica does, from a position to its end, and tells the changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pymysqlreplication import BinLogStreamReader  # type: ignore[import-untyped]
from pymysqlreplication.event import (  # type: ignore[import-untyped]
    GtidEvent,
    MariadbGtidEvent,
    NotImplementedEvent,
    QueryEvent,
    RotateEvent,
    XidEvent,
)
from pymysqlreplication.row_event import (  # type: ignore[import-untyped]
    DeleteRowsEvent,
    TableMapEvent,
    UpdateRowsEvent,
    WriteRowsEvent,
)

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.debezium.change import Batch, Change, Op, SchemaChange
from headwater.connect.connectors.debezium.mysql.catalog import is_captured
from headwater.connect.connectors.debezium.mysql.connection import database_errors
from headwater.connect.connectors.debezium.mysql.described import described_columns
from headwater.connect.connectors.debezium.mysql.position import Position

if TYPE_CHECKING:
    from headwater.connect.connectors.debezium.mysql.columns import TableMaker
    from headwater.connect.connectors.debezium.mysql.origin import Origin
    from headwater.connect.connectors.debezium.table import Row, Table

_ROWS = (WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent)
_EVENTS = (
    *_ROWS,
    TableMapEvent,
    RotateEvent,
    XidEvent,
    QueryEvent,
    GtidEvent,
    MariadbGtidEvent,
    NotImplementedEvent,
)
# Compressed changes, of MySQL (a whole transaction) and of MariaDB.
_COMPRESSED = frozenset({40, 165, 166, 167, 168, 169, 170, 171})
_NAME = r"(?:`((?:[^`]|``)+)`|([^\s.`;]+))"
_TRUNCATE = re.compile(rf"\s*TRUNCATE\s+(?:TABLE\s+)?(?:{_NAME}\s*\.\s*)?{_NAME}", re.IGNORECASE)
_DDL = re.compile(r"\s*(?:/\*.*?\*/\s*)?(CREATE|ALTER|DROP|RENAME|TRUNCATE)\b", re.IGNORECASE)


class Binlog:
    """The binlog from a position on; open while there is more to read, closed at its end."""

    def __init__(
        self, settings: dict[str, Any], server_id: int, start: Position, maker: TableMaker
    ) -> None:
        self._settings = settings
        self._server_id = server_id
        self._maker = maker
        self._begin = Position(start.file, start.pos)
        self._events, self._done = start.events, 0
        self._gtid: str | None = None
        self._tables: dict[int, Table | None] = {}
        self._known: dict[object, Table] = {}
        self._stream: Any = None
        self.end = (start.file, start.pos)

    @property
    def position(self) -> Position:
        """Where reading would begin again."""
        return self._begin._replace(events=max(self._events, self._done))

    @property
    def is_open(self) -> bool:
        """Whether its end was not seen yet."""
        return self._stream is not None

    def read(self, most: int, origin: Origin, skipped: frozenset[str], *, tells_ddl: bool) -> Batch:
        """Return about so many changes, fewer at the end."""
        batch = Batch(has_more=True)
        before = self.position
        with database_errors("reading the binlog"):
            if self._stream is None:
                self._stream = self._opened()
            while len(batch.changes) < most:
                event = self._stream.fetchone()
                if event is None:
                    self.end = (self._stream.log_file, self._stream.log_pos)
                    self.close()
                    batch.has_more = False
                    break
                self._take(event, batch, origin, skipped, tells_ddl=tells_ddl)
        if self.position != before:
            batch.offset = self.position.offset(self._gtid)
        return batch

    def close(self) -> None:
        """Close the connections."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _opened(self) -> Any:
        # What was read of an unfinished transaction is passed over.
        self._done, self._events = self._events, 0
        return BinLogStreamReader(
            connection_settings=dict(self._settings),
            server_id=self._server_id,
            log_file=self._begin.file,
            log_pos=self._begin.pos,
            resume_stream=True,
            blocking=False,
            only_events=_EVENTS,
            filter_non_implemented_events=False,
            enable_logging=False,
        )

    def _take(
        self, event: Any, batch: Batch, origin: Origin, skipped: frozenset[str], *, tells_ddl: bool
    ) -> None:
        match event:
            case WriteRowsEvent() | UpdateRowsEvent() | DeleteRowsEvent():
                self._events += 1
                table = self._tables.get(event.table_id)
                if table is not None and self._events > self._done:
                    self._rows(event, table, batch, origin, skipped)
            case TableMapEvent():
                self._tables[event.table_id] = self._table(event)
            case QueryEvent():
                self._statement(event, batch, origin, skipped, tells_ddl=tells_ddl)
                self._reached_end(event)
            case XidEvent():
                self._reached_end(event)
            case RotateEvent():
                self._move(Position(self._stream.log_file, self._stream.log_pos))
            case GtidEvent() | MariadbGtidEvent():
                self._gtid = event.gtid
            case NotImplementedEvent() if event.event_type in _COMPRESSED:
                raise ConnectorError(
                    f"{self._place(event)} has compressed changes, which cannot be read: set "
                    "log_bin_compress (MariaDB) or binlog_transaction_compression (MySQL) to OFF"
                )

    def _reached_end(self, event: Any) -> None:
        if not (isinstance(event, QueryEvent) and event.query.strip().upper() == "BEGIN"):
            self._move(Position(self._stream.log_file, self._stream.log_pos))

    def _move(self, to: Position) -> None:
        if to != self._begin:
            self._begin, self._events, self._done = to, 0, 0

    def _rows(
        self, event: Any, table: Table, batch: Batch, origin: Origin, skipped: frozenset[str]
    ) -> None:
        op = _OPS[type(event)]
        if op in skipped:
            return
        place = Position(self._stream.log_file, event.packet.log_pos - event.packet.event_size)
        for number, (before, after) in enumerate(self._images(event)):
            source = origin.values(
                table.owner, table.name, place, event.timestamp * 1000,
                row=number, server_id=event.packet.server_id, gtid=self._gtid,
            )  # fmt: skip
            batch.changes.append(Change(table, op, before, after, source))

    def _images(self, event: Any) -> list[tuple[Row | None, Row | None]]:
        bitmaps = [event.columns_present_bitmap]
        if isinstance(event, UpdateRowsEvent):
            bitmaps.append(event.columns_present_bitmap2)
        count = event.number_of_columns
        if any(int.from_bytes(each, "little").bit_count() < count for each in bitmaps):
            raise ConnectorError(
                f"{self._place(event)} has rows that are not whole, written by a session whose "
                "binlog_row_image was not FULL: delete the connector's offsets for a new snapshot"
            )
        if isinstance(event, UpdateRowsEvent):
            return [
                (tuple(row["before_values"].values()), tuple(row["after_values"].values()))
                for row in event.rows
            ]
        rows = [tuple(row["values"].values()) for row in event.rows]
        if isinstance(event, DeleteRowsEvent):
            return [(row, None) for row in rows]
        return [(None, row) for row in rows]

    def _table(self, event: Any) -> Table | None:
        if not is_captured(self._maker, event.schema, event.table):
            return None
        if not event.optional_metadata.column_name_list:
            raise ConnectorError(
                f"{self._place(event)} has a change of {event.schema}.{event.table} without the "
                "names of its columns, written while binlog_row_metadata was not FULL: delete the "
                "connector's offsets for a new snapshot"
            )
        columns = described_columns(event)
        identity = (event.schema, event.table, columns)
        if identity not in self._known:
            self._known[identity] = self._maker.table(event.schema, event.table, columns)
        return self._known[identity]

    def _statement(
        self, event: Any, batch: Batch, origin: Origin, skipped: frozenset[str], *, tells_ddl: bool
    ) -> None:
        if not _DDL.match(event.query):
            return
        database = _text(event.schema)
        place = Position(self._stream.log_file, self._stream.log_pos)

        def source(of: str, table: str | None) -> tuple[Any, ...]:
            server_id = event.packet.server_id
            when = event.timestamp * 1000
            return origin.values(of, table, place, when, server_id=server_id, gtid=self._gtid)

        truncated = _TRUNCATE.match(event.query)
        if truncated:
            of, name = (a or b for a, b in (truncated.group(1, 2), truncated.group(3, 4)))
            of = of or database
            latest = [t for t in self._known.values() if (t.owner, t.name) == (of, name)]
            if Op.TRUNCATE not in skipped and is_captured(self._maker, of, name):
                table = latest[-1] if latest else self._maker.table(of, name, ())
                batch.changes.append(Change(table, Op.TRUNCATE, None, None, source(of, name)))
        elif tells_ddl and database in self._maker.selection.owners:
            batch.schema_changes.append(SchemaChange(database, event.query, source(database, None)))

    def _place(self, event: Any) -> str:
        return f"the binlog at {self._stream.log_file}:{event.packet.log_pos}"


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


_OPS = {WriteRowsEvent: Op.CREATE, UpdateRowsEvent: Op.UPDATE, DeleteRowsEvent: Op.DELETE}
