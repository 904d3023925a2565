"""The messages of PostgreSQL's plug-in pgoutput, version 1 of its protocol."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from headwater.connect.connectors.debezium.postgresql.columns import UNAVAILABLE

if TYPE_CHECKING:
    from headwater.connect.connectors.debezium.table import Row

_POSTGRES_EPOCH_US = 946_684_800_000_000


class Begin(NamedTuple):
    """A transaction begins; all of it is told at once, when it has been committed."""

    lsn: int
    ts_us: int
    xid: int


class Commit(NamedTuple):
    """A transaction ends; the log goes on at `end`."""

    end: int


class RelationColumn(NamedTuple):
    """A column; `is_identity` says whether it identifies rows in updates and deletes."""

    is_identity: bool
    name: str
    type: int
    modifier: int


class Relation(NamedTuple):
    """What a table is like, from here on."""

    id: int
    schema: str
    name: str
    identity: str
    columns: tuple[RelationColumn, ...]


class RowChange(NamedTuple):
    """A row was inserted (I), updated (U) or deleted (D)."""

    relation: int
    kind: str
    before: Row | None
    after: Row | None


class Truncate(NamedTuple):
    """Tables were emptied."""

    relations: tuple[int, ...]


Message = Begin | Commit | Relation | RowChange | Truncate


def decoded(data: bytes) -> Message | None:
    """Return a message; None for one that tells nothing about rows."""
    match data[:1]:
        case b"I" | b"U" | b"D":
            return _row_change(data)
        case b"B":
            lsn, ts, xid = struct.unpack_from(">QqI", data, 1)
            return Begin(lsn, ts + _POSTGRES_EPOCH_US, xid)
        case b"C":
            return Commit(struct.unpack_from(">BQQq", data, 1)[2])
        case b"R":
            return _relation(data)
        case b"T":
            (count,) = struct.unpack_from(">I", data, 1)
            return Truncate(struct.unpack_from(f">{count}I", data, 6))
    return None


def _row_change(data: bytes) -> RowChange:
    kind = chr(data[0])
    (relation,) = struct.unpack_from(">I", data, 1)
    before: Row | None = None
    at = 5
    if data[at : at + 1] in (b"K", b"O"):
        before, at = _row(data, at + 1)
    after: Row | None = None
    if at < len(data) and data[at : at + 1] == b"N":
        after, at = _row(data, at + 1)
        if before is not None:
            pairs = zip(after, before, strict=True)
            after = tuple(old if new == UNAVAILABLE and old else new for new, old in pairs)
    return RowChange(relation, kind, before, after)


def _row(data: bytes, at: int) -> tuple[Row, int]:
    (count,) = struct.unpack_from(">H", data, at)
    at += 2
    values: list[str | None] = []
    for _ in range(count):
        kind = data[at]
        at += 1
        if kind == 0x74:  # t: a text
            (length,) = struct.unpack_from(">I", data, at)
            at += 4
            values.append(data[at : at + length].decode())
            at += length
        else:
            values.append(None if kind == 0x6E else UNAVAILABLE)  # n: null
    return tuple(values), at


def _relation(data: bytes) -> Relation:
    (number,) = struct.unpack_from(">I", data, 1)
    schema, at = _text(data, 5)
    name, at = _text(data, at)
    identity = chr(data[at])
    (count,) = struct.unpack_from(">H", data, at + 1)
    at += 3
    columns = []
    for _ in range(count):
        flags = data[at]
        column, at = _text(data, at + 1)
        type_, modifier = struct.unpack_from(">Ii", data, at)
        at += 8
        columns.append(RelationColumn(bool(flags & 1), column, type_, modifier))
    return Relation(number, schema or "pg_catalog", name, identity, tuple(columns))


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1
