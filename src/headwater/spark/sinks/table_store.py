"""A table on disk with the last value of every key, read cheaply while a query writes it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.spark.sinks.table_types import key_columns, key_part, value_type

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMAS = "SELECT key_schema, value_schema FROM store"


class TableNotFound(Exception):  # noqa: N818 - named for what is not there
    """There is no table at this path, or nothing was written to it yet."""


class TableStore:
    """Reads a table that `TableStoreSink` writes; every call sees whole batches only.

    >>> with TableStore("units.db") as units:  # doctest: +SKIP
    ...     units.get("sensor-7")
    {'unit': 'kW'}

    Keys and values are Python's: structs are dicts. It can be used from several threads if each
    opens its own.
    """

    def __init__(self, path: str | Path) -> None:
        if not Path(path).is_file():
            raise TableNotFound(f"no table at {path}; start the query that writes it first")
        self._path = path
        self._database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30.0)
        self._leaves: tuple[tuple[str, ...], ...] = ()
        self._decoder: msgspec.msgpack.Decoder[Any] | None = None
        self._key_decoder: msgspec.msgpack.Decoder[Any] | None = None

    def get(self, key: object) -> Any:
        """Return the key's value, or None for a key that the table does not have."""
        self._learn()
        where = " AND ".join(f"k{i} = ?" for i in range(len(self._leaves)))
        found = self._database.execute(
            f"SELECT value FROM entry WHERE {where}", key_parts(key, self._leaves)
        ).fetchone()
        return None if found is None else self._value(found[0])

    def range(self, first: object, last: object) -> Iterator[tuple[Any, Any]]:
        """Go through keys and values from one key to another, both included, in order."""
        self._learn()
        columns = ", ".join(f"k{i}" for i in range(len(self._leaves)))
        marks = ", ".join("?" for _ in self._leaves)
        return self._entries(
            f"WHERE ({columns}) >= ({marks}) AND ({columns}) <= ({marks}) ORDER BY {columns}",
            (*key_parts(first, self._leaves), *key_parts(last, self._leaves)),
        )

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Go through all keys and values, in the order of their keys."""
        self._learn()
        columns = ", ".join(f"k{i}" for i in range(len(self._leaves)))
        return self._entries(f"ORDER BY {columns}", ())

    def __len__(self) -> int:
        self._learn()
        return int(self._database.execute("SELECT count(*) FROM entry").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> TableStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _entries(self, clause: str, parameters: tuple[object, ...]) -> Iterator[tuple[Any, Any]]:
        rows = self._database.execute(f"SELECT key, value FROM entry {clause}", parameters)
        for key, value in rows:
            assert self._key_decoder is not None
            yield self._key_decoder.decode(key), self._value(value)

    def _value(self, encoded: bytes) -> Any:
        assert self._decoder is not None
        return self._decoder.decode(encoded)

    def _learn(self) -> None:
        """Read the types, once there are any: the table is created with its first batch."""
        if self._decoder is not None:
            return
        try:
            key_schema, value_schema = self._database.execute(SCHEMAS).fetchone()
        except sqlite3.OperationalError as error:
            raise TableNotFound(f"nothing was written to {self._path} yet ({error})") from error
        self._leaves = key_columns(key_schema)
        self._key_decoder = msgspec.msgpack.Decoder(value_type(key_schema))
        self._decoder = msgspec.msgpack.Decoder(value_type(value_schema))


def key_parts(key: object, leaves: tuple[tuple[str, ...], ...]) -> tuple[object, ...]:
    """Return what is in the key's columns, a column for each leaf of a struct."""
    parts = []
    for path in leaves:
        part: Any = key
        for name in path:
            part = part[name]
        parts.append(key_part(part))
    return tuple(parts)
