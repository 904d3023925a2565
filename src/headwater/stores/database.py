"""A store's file: SQLite with the last value of every key, and how far the topic was read.

A transaction changes both together, and whoever reads sees what was committed when it began. The
disk is not waited for: what a power cut takes is read again from the topic. While a store loads,
not even the order matters in which the disk gets things: nobody goes on from such a file.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, NamedTuple, TextIO

from headwater.stores.errors import StoreClosedError, StoreInUseError
from headwater.stores.position import Position

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# Another layout of the file, or of keys in it, has another number.
_LAYOUT = 2
_WRITE_CACHE_KIB = 64 * 1024
_UPSERT = "INSERT INTO entry VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class Kept(NamedTuple):
    """What a file says of itself."""

    topic_id: str
    followed_at: float
    """When the end of the topic was seen the last time."""
    is_loading: bool
    position: Position


class Database:
    """One store's file: written by one thread, read by any."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._lock = _locked(path)
        self._is_open = True
        self._is_loading = False
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        try:
            self._writer = self._prepared()
        except sqlite3.DatabaseError as failure:
            if isinstance(failure, sqlite3.OperationalError):
                raise
            # Damaged: all of it is in the topic.
            for end in ("", "-wal", "-shm"):
                path.with_name(path.name + end).unlink(missing_ok=True)
            self._writer = self._prepared()

    def kept(self) -> Kept:
        """Return how far the store had come."""
        row = self._writer.execute("SELECT topic_id, followed_at, loading, position FROM store")
        topic_id, followed_at, loading, position = row.fetchone()
        return Kept(topic_id, followed_at, bool(loading), Position.from_json(position))

    def start_again(self, topic_id: str) -> None:
        """Forget everything, since it is of another topic, too old, or not loaded to the end."""
        self._writer.execute("PRAGMA synchronous = OFF")
        self._is_loading = True
        self._writer.execute("BEGIN IMMEDIATE")
        self._writer.execute("DELETE FROM entry")
        self._writer.execute(
            "UPDATE store SET topic_id = ?, loading = 1, position = '{}'", (topic_id,)
        )
        self._writer.execute("COMMIT")

    def change(self, changes: Mapping[bytes, bytes | None]) -> None:
        """Set and delete keys in a transaction that is open from now on."""
        if not self._writer.in_transaction:
            self._writer.execute("BEGIN IMMEDIATE")
        # In order, so that neighbours in the file are written together.
        ordered = sorted(changes.items())
        self._writer.executemany(_UPSERT, (each for each in ordered if each[1] is not None))
        self._writer.executemany(
            "DELETE FROM entry WHERE key = ?", ((key,) for key, value in ordered if value is None)
        )

    def commit(self, position: Position, *, loading: bool) -> None:
        """Show what was changed, with the position that it is at."""
        if self._is_loading and not loading:
            self._end_loading()
        if not self._writer.in_transaction:
            self._writer.execute("BEGIN IMMEDIATE")
        self._writer.execute(
            "UPDATE store SET followed_at = ?, loading = ?, position = ?",
            (time.time(), loading, position.to_json()),
        )
        self._writer.execute("COMMIT")

    def note_time(self) -> None:
        """Write down that the topic is followed, unless that waits for a commit."""
        if not self._writer.in_transaction:
            self._writer.execute("UPDATE store SET followed_at = ?", (time.time(),))

    def roll_back(self) -> None:
        """Forget what was not committed."""
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    def reader(self) -> sqlite3.Connection:
        """Return this thread's connection, for look-ups that are over at once."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None or not self._is_open:
            connection = self._local.connection = self.snapshot()
            with self._guard:
                self._readers.append(connection)
        return connection

    def snapshot(self) -> sqlite3.Connection:
        """Return a connection of the caller's own, which sees one state from its first read on."""
        if not self._is_open:
            raise StoreClosedError(self._name)
        return _connected(self._path, read_only=True)

    def close(self) -> None:
        """Close the file for everybody in this process."""
        self._is_open = False
        self.roll_back()
        with self._guard:
            for connection in self._readers:
                connection.close()
            self._readers.clear()
        self._writer.close()
        self._lock.close()

    def _end_loading(self) -> None:
        """Bring what was loaded to the disk, before the file says that it is whole."""
        if self._writer.in_transaction:
            self._writer.execute("COMMIT")
        self._writer.execute("PRAGMA synchronous = NORMAL")
        self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._is_loading = False

    def _prepared(self) -> sqlite3.Connection:
        connection = _connected(self._path, read_only=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{_WRITE_CACHE_KIB}")
        (layout,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        if layout != _LAYOUT:
            connection.execute("DROP TABLE IF EXISTS entry")
            connection.execute("DROP TABLE IF EXISTS store")
            connection.execute(
                "CREATE TABLE entry (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID"
            )
            connection.execute(
                "CREATE TABLE store (topic_id TEXT, followed_at REAL, loading INT, position TEXT)"
            )
            connection.execute("INSERT INTO store VALUES ('', 0, 1, '{}')")
            connection.execute(f"PRAGMA user_version = {_LAYOUT}")
        connection.execute("COMMIT")
        return connection


def position_in(connection: sqlite3.Connection) -> Position:
    """Return the position of what a connection sees."""
    (text,) = connection.execute("SELECT position FROM store").fetchone()
    return Position.from_json(text)


def _connected(path: Path, *, read_only: bool) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    return sqlite3.connect(
        address, uri=True, timeout=30.0, isolation_level=None, check_same_thread=False
    )


def _locked(path: Path) -> TextIO:
    # The lock is the process's: it is gone with the process, however that ends.
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = open(path.with_suffix(".lock"), "a+", encoding="utf-8")  # noqa: SIM115 - held while open
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "another process"
        lock.close()
        raise StoreInUseError(str(path), holder) from None
    lock.truncate(0)
    lock.write(f"process {os.getpid()}")
    lock.flush()
    return lock
