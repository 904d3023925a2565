"""The index of orders: SQLite's full text search, in a file that follows the topic."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from examples.event_log import EventLog
from examples.orders.program import ORDERS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from pathlib import Path

    from examples.event_log import Recorded

_TABLES = """
CREATE TABLE IF NOT EXISTS found (place INTEGER PRIMARY KEY, id TEXT UNIQUE, "order" TEXT);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(id, customer, product, state, failed);
CREATE TABLE IF NOT EXISTS taken (up_to INTEGER);
"""


class SearchIndex:
    """Orders as they last were, and the place up to which they go, in one transaction."""

    def __init__(self, file: Path) -> None:
        self._file = file
        with closing(self._open()) as database, database:
            # Who asks does not wait for who writes.
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(_TABLES)

    def follow(self, servers: str) -> Generator[int]:
        """Take orders as they come, for ever; gives how many events these were."""
        log = EventLog(servers, ORDERS, "order-search")
        try:
            with closing(self._open()) as database:
                (taken,) = database.execute("SELECT coalesce(max(up_to), 0) FROM taken").fetchone()
                for some in log.follow(taken):
                    if some:
                        with database:
                            _take(database, some)
                    yield len(some)
        finally:
            log.close()

    def find(self, words: Sequence[str], most: int) -> list[dict[str, Any]]:
        """Return the orders in which each of the words begins one, the best ones first."""
        wanted = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
        query = """SELECT "order" FROM words JOIN found ON found.place = words.rowid
                   WHERE words MATCH ? ORDER BY words.rank, place LIMIT ?"""
        with closing(self._open()) as database:
            return [json.loads(row[0]) for row in database.execute(query, (wanted, most))]

    def size(self) -> int:
        """Return how many orders there are."""
        with closing(self._open()) as database:
            (size,) = database.execute("SELECT count(*) FROM found").fetchone()
        return int(size)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._file)


def _take(database: sqlite3.Connection, events: Iterable[Recorded]) -> None:
    for each in events:
        order = each.event
        found = database.execute(
            """INSERT INTO found (id, "order") VALUES (?, ?)
               ON CONFLICT (id) DO UPDATE SET "order" = excluded."order" RETURNING place""",
            (each.key, json.dumps(order)),
        )
        (place,) = found.fetchone()
        failed = " ".join(order["failed"])
        row = (place, each.key, order["customer"], order["product"], order["state"], failed)
        database.execute("DELETE FROM words WHERE rowid = ?", (place,))
        database.execute(
            """INSERT INTO words (rowid, id, customer, product, state, failed)
               VALUES (?, ?, ?, ?, ?, ?)""",
            row,
        )
        up_to = each.offset + 1
    database.execute("DELETE FROM taken")
    database.execute("INSERT INTO taken VALUES (?)", (up_to,))
