"""Reads a slot's changes, whole transactions of them, without taking them from the slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.debezium.change import Batch, Change, Op
from headwater.connect.connectors.debezium.postgresql.columns import Described
from headwater.connect.connectors.debezium.postgresql.connection import (
    closed,
    connect,
    database_errors,
    rows,
)
from headwater.connect.connectors.debezium.postgresql.pgoutput import (
    Begin,
    Commit,
    Relation,
    RowChange,
    Truncate,
    decoded,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.config import Values
    from headwater.connect.connectors.debezium.postgresql.catalog import Catalog
    from headwater.connect.connectors.debezium.postgresql.columns import TableMaker
    from headwater.connect.connectors.debezium.postgresql.origin import Origin
    from headwater.connect.connectors.debezium.postgresql.position import Position
    from headwater.connect.connectors.debezium.table import Table

_PEEK = (
    "SELECT (lsn - '0/0')::bigint, data FROM pg_logical_slot_peek_binary_changes("
    "%s, NULL, %s, 'proto_version', '1', 'publication_names', %s)"
)
_END = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint"
_OPS = {"I": Op.CREATE, "U": Op.UPDATE, "D": Op.DELETE}


class Changes:
    """The changes after a position. `confirmed` is up to where the slot may be moved on."""

    def __init__(
        self, config: Values, start: Position, catalog: Catalog, maker: TableMaker, origin: Origin
    ) -> None:
        self._slot = config.text("slot.name")
        name = config.text("publication.name") or ""
        self._publication = '"' + name.replace('"', '""') + '"'
        self._chunk = config.integer("max.batch.size")
        self._skipped = frozenset(config.words("skipped.operations"))
        self._catalog = catalog
        self._maker = maker
        self._origin = origin
        self._connection = connect(config)
        self.position = start
        self.confirmed = 0
        self._messages: Iterator[tuple[int, bytes]] | None = None
        self._end = self._seen_end = 0
        self._peeked = self._limit = 0
        self._relations: dict[int, Table | None] = {}
        self._known: dict[object, Table] = {}
        self._begin = Begin(0, 0, 0)
        self._done: int | None = 0
        self._events = 0

    def read(self, most: int) -> Batch:
        """Return about so many changes, fewer at the end of the log."""
        batch = Batch(has_more=True)
        before = self.position
        with database_errors("reading the slot's changes"):
            if self._messages is None:
                ((self._end,),) = rows(self._connection, _END)
                if self._end == self._seen_end:
                    return Batch()
                self._messages, self._peeked, self._limit = self._peek(most), 0, most
            for lsn, data in self._messages:
                self._peeked += 1
                self._take(lsn, data, batch)
                if len(batch.changes) >= most:
                    break
            else:
                self._messages = None
                if self._peeked < self._limit:
                    # The server stops early only behind so many: this was all up to the end.
                    self._seen_end, batch.has_more = self._end, False
                    if not batch.changes:
                        self.confirmed = max(self.confirmed, self._end)
        if self.position != before:
            batch.offset = self.position.offset()
        return batch

    def close(self) -> None:
        """Close the connection."""
        closed(self._connection)

    def _peek(self, most: int) -> Iterator[tuple[int, bytes]]:
        # The server has decoded all before it sends the first; a cursor takes it bit by bit.
        with (
            self._connection.transaction(),
            self._connection.cursor("headwater_changes", binary=True) as cursor,
        ):
            cursor.itersize = self._chunk
            cursor.execute(_PEEK, (self._slot, most, self._publication))
            yield from cursor

    def _take(self, lsn: int, data: bytes, batch: Batch) -> None:
        match decoded(data):
            case RowChange() as change:
                if self._is_new():
                    self._row(change, lsn, batch)
            case Begin() as begin:
                self._begin, self._events = begin, 0
                self._done = self.position.done(begin.lsn)
                seen = self.position.seen
                if seen is not None and seen.has(begin.xid, begin.lsn):
                    self._done = None
            case Commit(end):
                if self._begin.lsn >= self.position.lsn:
                    self._reached(None)
                self.confirmed = max(self.confirmed, end)
            case Relation() as relation:
                self._relations[relation.id] = self._table(relation)
            case Truncate(numbers):
                if self._is_new() and Op.TRUNCATE not in self._skipped:
                    for table in filter(None, map(self._relations.get, numbers)):
                        source = self._source(table, lsn)
                        batch.changes.append(Change(table, Op.TRUNCATE, None, None, source))

    def _is_new(self) -> bool:
        self._events += 1
        if self._done is None or self._events <= self._done:
            return False
        self._reached(self._events)
        return True

    def _reached(self, events: int | None) -> None:
        seen = self.position.seen
        if seen is not None and self._begin.lsn > seen.lsn:
            seen = None
        self.position = self.position._replace(lsn=self._begin.lsn, events=events, seen=seen)

    def _row(self, change: RowChange, lsn: int, batch: Batch) -> None:
        table, op = self._relations.get(change.relation), _OPS[change.kind]
        if table is None or op in self._skipped:
            return
        source = self._source(table, lsn)
        batch.changes.append(Change(table, op, change.before, change.after, source))

    def _source(self, table: Table, lsn: int) -> tuple[Any, ...]:
        begin = self._begin
        return self._origin.values(table, lsn, begin.ts_us, commit=begin.lsn, xid=begin.xid)

    def _table(self, relation: Relation) -> Table | None:
        if not self._maker.selection.has_table(relation.schema, relation.name):
            return None
        now = self._catalog.now(relation.schema, relation.name)
        has_key = any(each.is_key for each in now.values())
        columns = tuple(
            Described(
                each.name,
                self._catalog.type(each.type),
                each.modifier,
                now[each.name].is_nullable if each.name in now else True,
                now[each.name].is_key
                if has_key and each.name in now
                else each.is_identity and relation.identity != "f",
            )
            for each in relation.columns
        )
        if not columns:
            raise ConnectorError(f"{relation.schema}.{relation.name} has no columns")
        identity = (relation.schema, relation.name, columns)
        if identity not in self._known:
            self._known[identity] = self._maker.table(relation.schema, relation.name, columns)
        return self._known[identity]
