"""The read side: statements of accounts in an SQLite file, which catches up after it was down."""

from __future__ import annotations

import sqlite3
from itertools import islice
from typing import TYPE_CHECKING

from examples.bank.program import EVENTS
from examples.event_log import EventLog

if TYPE_CHECKING:
    from pathlib import Path

_AT_ONCE = 500


class Statements:
    """Entries and the position up to which they go, in one transaction: none twice, none lost."""

    def __init__(self, servers: str, file: Path) -> None:
        self._log = EventLog(servers, EVENTS, "bank-statements")
        self._database = sqlite3.connect(file)
        self._database.executescript(
            """
            CREATE TABLE IF NOT EXISTS entry
              (place INTEGER PRIMARY KEY, account TEXT, type TEXT, amount INTEGER, at INTEGER);
            CREATE INDEX IF NOT EXISTS entry_account ON entry (account, place);
            """
        )

    def catch_up(self) -> int:
        """Take all that has happened since; returns how many events that were."""
        (last,) = self._database.execute("SELECT max(place) FROM entry").fetchone()
        news = self._log.replay(0 if last is None else last + 1)
        taken = 0
        while some := list(islice(news, _AT_ONCE)):
            rows = [
                (each.offset, each.key, each.event["type"], each.event["amount"], each.time_ms)
                for each in some
            ]
            with self._database:
                self._database.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", rows)
            taken += len(rows)
        return taken

    def of(self, account: str) -> list[tuple[str, int]]:
        """Return what happened to an account, in its order."""
        query = "SELECT type, amount FROM entry WHERE account = ? ORDER BY place"
        return self._database.execute(query, (account,)).fetchall()

    def close(self) -> None:
        """Leave; the file stays, and goes on from where it is."""
        self._log.close()
        self._database.close()
