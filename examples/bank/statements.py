"""The read side: statements of accounts in an SQLite file, which catches up after it was down."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, TopicPartition
from examples.bank.program import EVENTS
from examples.bank.teller import PARTITION

if TYPE_CHECKING:
    from pathlib import Path

_WITHIN_S = 30.0
_AT_ONCE = 500


class Statements:
    """Entries and the position up to which they go, in one transaction: none twice, none lost."""

    def __init__(self, servers: str, file: Path) -> None:
        self._database = sqlite3.connect(file)
        self._database.executescript(
            """
            CREATE TABLE IF NOT EXISTS entry
              (place INTEGER PRIMARY KEY, account TEXT, type TEXT, amount INTEGER, at INTEGER);
            CREATE INDEX IF NOT EXISTS entry_account ON entry (account, place);
            """
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "bank-statements",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )

    def catch_up(self) -> int:
        """Take all that has happened since; returns how many events that were."""
        (last,) = self._database.execute("SELECT max(place) FROM entry").fetchone()
        start = 0 if last is None else last + 1
        self._consumer.assign([TopicPartition(EVENTS, PARTITION, start)])
        taken = 0
        while True:
            rows, is_end = [], False
            for message in self._consumer.consume(_AT_ONCE, timeout=_WITHIN_S):
                if message.error() is not None:
                    if message.error().code() != -191:  # the end of the partition
                        raise RuntimeError(f"reading {EVENTS} failed: {message.error()}")
                    is_end = True
                    break
                event = json.loads(message.value() or b"{}")
                key, at = (message.key() or b"").decode(), message.timestamp()[1]
                rows.append((message.offset(), key, event["type"], event["amount"], at))
            with self._database:
                self._database.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", rows)
            taken += len(rows)
            if is_end or not rows:
                return taken

    def of(self, account: str) -> list[tuple[str, int]]:
        """Return what happened to an account, in its order."""
        query = "SELECT type, amount FROM entry WHERE account = ? ORDER BY place"
        return self._database.execute(query, (account,)).fetchall()

    def close(self) -> None:
        """Leave; the file stays, and goes on from where it is."""
        self._consumer.close()
        self._database.close()
