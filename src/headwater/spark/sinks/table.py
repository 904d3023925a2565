"""Keeps the last value of every key in a table for look-ups, each batch in one transaction."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.spark.sinks.batches import written_by
from headwater.spark.sinks.sink import Sink
from headwater.spark.sinks.table_store import key_parts
from headwater.spark.sinks.table_types import key_affinities, key_columns

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_QUERY = "sql.streaming.queryId"
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class TableStoreSink(Sink):
    """An SQLite file that follows upserts and tombstones, read with `TableStore`.

    Rows have the columns `key` and `value`, of any type; a null value deletes the key, rows
    without a key are left out. Rows of one key must be in one partition, in their order. The
    batch's number is stored with its rows, so that a replay changes nothing.
    """

    path: str | Path

    def stream(self, frame: DataFrame) -> DataStreamWriter:
        """Return a writer that applies every batch to the table."""
        return written_by(self.batch, frame.select("key", "value"))

    def batch(self, frame: DataFrame, batch_id: int) -> None:
        """Apply a batch, unless the table has it."""
        checkpoint = frame.sparkSession.sparkContext.getLocalProperty(_QUERY) or ""
        types = {field.name: field.dataType.json() for field in frame.schema.fields}
        with closing(sqlite3.connect(self.path, timeout=30.0, isolation_level=None)) as database:
            _prepare(database, types["key"], types["value"])
            if _has(database, checkpoint, batch_id):
                return
            # Collected before the transaction, which readers and other writers wait for.
            rows = frame.select("key", "value").toArrow()
            database.execute("BEGIN IMMEDIATE")
            _apply(database, rows, types["key"])
            database.execute(
                "UPDATE store SET value_schema = ?, checkpoint = ?, batch = ?",
                (types["value"], checkpoint, batch_id),
            )
            database.execute("COMMIT")


def _prepare(database: sqlite3.Connection, key_schema: str, value_schema: str) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    affinities = key_affinities(key_schema)
    names = [f"k{i}" for i in range(len(affinities))]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, affinities, strict=True))
    database.execute("BEGIN IMMEDIATE")
    database.execute(
        "CREATE TABLE IF NOT EXISTS store"
        " (key_schema TEXT, value_schema TEXT, checkpoint TEXT, batch INTEGER)"
    )
    database.execute(
        f"CREATE TABLE IF NOT EXISTS entry ({columns}, key BLOB, value BLOB,"
        f" PRIMARY KEY ({', '.join(names)})) WITHOUT ROWID"
    )
    stored = database.execute("SELECT key_schema FROM store").fetchone()
    if stored is None:
        database.execute(
            "INSERT INTO store VALUES (?, ?, NULL, NULL)",
            (key_schema, value_schema),
        )
    database.execute("COMMIT")
    if stored is not None and stored[0] != key_schema:
        raise ValueError(
            f"the table was made for keys of type {stored[0]}, and these are of {key_schema}. "
            "Write to another path, or delete the table and the query's checkpoint."
        )


def _has(database: sqlite3.Connection, checkpoint: str, batch_id: int) -> bool:
    written_by, last = database.execute("SELECT checkpoint, batch FROM store").fetchone()
    return last is not None and written_by == checkpoint and checkpoint != "" and batch_id <= last


def _apply(database: sqlite3.Connection, rows: pa.Table, key_schema: str) -> None:
    leaves = key_columns(key_schema)
    marks = ", ".join("?" for _ in range(len(leaves) + 2))
    where = " AND ".join(f"k{i} = ?" for i in range(len(leaves)))
    upsert = f"INSERT OR REPLACE INTO entry VALUES ({marks})"
    encode = msgspec.msgpack.Encoder().encode
    for chunk in rows.to_batches(max_chunksize=_ROWS_AT_ONCE):
        # The last of each key is all that counts, and makes the order of deletes and inserts free.
        last: dict[tuple[object, ...], tuple[Any, Any]] = {}
        keys, values = (
            chunk.column(name).to_pylist(maps_as_pydicts="strict") for name in ("key", "value")
        )
        for key, value in zip(keys, values, strict=True):
            if key is not None:
                last[key_parts(key, leaves)] = (key, value)
        database.executemany(
            upsert,
            (
                (*parts, encode(key), encode(value))
                for parts, (key, value) in last.items()
                if value is not None
            ),
        )
        database.executemany(
            f"DELETE FROM entry WHERE {where}",
            (parts for parts, (_, value) in last.items() if value is None),
        )
