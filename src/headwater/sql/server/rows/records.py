"""Rows out of a source's records, and records out of rows."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.sql.metastore.source import WindowKind
from headwater.sql.server.rows.formats import MalformedError, Side
from headwater.sql.tree.statements.creation import ColumnRole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.serde import SchemaRegistryClient
    from headwater.sql.metastore.source import DataSource, SourceColumn
    from headwater.sql.server.rows.row import Row

_BOUND = struct.Struct(">q")


class Record(NamedTuple):
    """A record of a topic, as much of it as columns can be."""

    key: bytes | None
    value: bytes | None
    timestamp: int = 0
    partition: int = 0
    offset: int = 0
    headers: Sequence[tuple[str, Any]] = ()


class RecordReader:
    """Reads the records of a source into rows, under the name that a query has for it."""

    def __init__(
        self, source: DataSource, alias: str, registry: SchemaRegistryClient | None
    ) -> None:
        self._source = source
        self._alias = alias
        self._key = Side(source, "key", registry)
        self._value = Side(source, "value", registry)
        self._empty = {column.name: None for column in source.value}

    def row(self, record: Record) -> Row:
        """Return the row of a record, with nulls for a tombstone; raises MalformedError."""
        window, key = self._window(record.key)
        columns: dict[str, Any] = {
            "ROWTIME": record.timestamp,
            "ROWPARTITION": record.partition,
            "ROWOFFSET": record.offset,
            **window,
            **{column.name: None for column in self._source.key},
            **(self._key.read(key) or {}),
            **(self._value.read(record.value) or self._empty),
        }
        for column in self._source.columns:
            if column.is_header:
                columns[column.name] = _header(column, record.headers)
        return {(self._alias, name): value for name, value in columns.items()}

    def _window(self, key: bytes | None) -> tuple[Mapping[str, int], bytes | None]:
        """Split the window from a key: its start, or a session's end and start, comes last."""
        window = self._source.window
        if window is None or key is None:
            return {}, key
        size = 2 * _BOUND.size if window.kind is WindowKind.SESSION else _BOUND.size
        if len(key) < size:
            raise MalformedError(f"{self._source.topic}: a key without a window", "key")
        (start,) = _BOUND.unpack(key[-_BOUND.size :])
        if window.kind is WindowKind.SESSION:
            (end,) = _BOUND.unpack(key[-2 * _BOUND.size : -_BOUND.size])
        else:
            end = start + (window.size_ms or 0)
        return {"WINDOWSTART": start, "WINDOWEND": end}, key[:-size]


class RecordWriter:
    """Writes rows as records of a source."""

    def __init__(self, source: DataSource, registry: SchemaRegistryClient | None) -> None:
        self._source = source
        self._key = Side(source, "key", registry)
        self._value = Side(source, "value", registry)

    def record(self, columns: Mapping[str, Any]) -> tuple[bytes | None, bytes | None]:
        """Return the key and the value of a row; raises SqlError."""
        has_key = any(columns.get(column.name) is not None for column in self._source.key)
        key = self._key.write(columns) if has_key else None
        return key, self._value.write(columns)


def _header(column: SourceColumn, headers: Sequence[tuple[str, Any]]) -> Any:
    if column.role is ColumnRole.HEADERS:
        return [{"KEY": name, "VALUE": value} for name, value in headers]
    return next((value for name, value in reversed(headers) if name == column.header), None)
