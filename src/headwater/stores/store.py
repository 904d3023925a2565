"""What all kinds of stores have in common: whether they are ready, and where they are."""

from __future__ import annotations

from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Self, Unpack

from headwater.stores.bounds import WAIT_S
from headwater.stores.database import Database, position_in
from headwater.stores.errors import (
    PositionNotReachedError,
    StoreClosedError,
    StoreLoadingError,
)
from headwater.stores.follower import Follower
from headwater.stores.keys import KeyCodec
from headwater.stores.values import value_reader

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from headwater.clients import ClusterAccess
    from headwater.serde import SchemaRegistryClient
    from headwater.stores.bounds import Bound
    from headwater.stores.position import Position
    from headwater.stores.table import FollowedTable

_BEGINNING, _END = b"", b"\xff"


class Store:
    """A table's file on this machine, which follows its topic until it is closed.

    It can be used from any thread. Look-ups take what `Bound` says.
    """

    def __init__(
        self,
        table: FollowedTable,
        access: ClusterAccess,
        directory: Path,
        registry: SchemaRegistryClient | None = None,
    ) -> None:
        self.table = table
        self.keys = KeyCodec(table, registry)
        self._value: Callable[[bytes], Any] = value_reader(
            table.value, table.topic, "value", registry
        )
        self._database = Database(directory / f"{table.name}.db", table.name)
        self._follower = Follower(table, access.for_admin(), self._database, self.keys)
        self._is_open = True
        self._follower.start()

    @property
    def name(self) -> str:
        """Its name."""
        return self.table.name

    @property
    def is_ready(self) -> bool:
        """Whether what it shows was true at some time; false while it loads."""
        return not self._follower.is_loading

    @property
    def trouble(self) -> str | None:
        """What keeps it from following at the moment, or None."""
        return self._follower.trouble

    @property
    def skipped(self) -> int:
        """How many records had no key, or none of the table's type, since it was opened."""
        return self._follower.skipped

    def position(self) -> Position:
        """Return how far the table was followed, and where that is known, what it was made of."""
        return self._follower.position

    def wait_until_ready(self, timeout_s: float = 60.0) -> None:
        """Wait for the end of loading; raises StoreLoadingError."""
        if not self._follower.wait_for(lambda: self.is_ready, timeout_s):
            self._check_open()
            raise StoreLoadingError(self.name, self._why_loading())

    def wait_until(self, position: Position, timeout_s: float = WAIT_S) -> None:
        """Wait until the store is ready and has come so far; raises PositionNotReachedError."""

        def is_there() -> bool:
            return self.is_ready and position.reached_by(self.position())

        if not self._follower.wait_for(is_there, timeout_s):
            self._check_open()
            raise PositionNotReachedError(self.name, position, self.position(), timeout_s)

    def approximate_num_entries(self, **bound: Unpack[Bound]) -> int:
        """Return how many entries there are, which takes longer than a look-up."""
        self._check(bound)
        counted = self._database.reader().execute("SELECT count(*) FROM entry")
        return int(counted.fetchone()[0])

    @contextmanager
    def snapshot(self, **bound: Unpack[Bound]) -> Iterator[Position]:
        """Let all look-ups of this thread see one state of the table; its position is given.

        with counts.snapshot():
            total = counts.get("all") - counts.get("boiler-1")
        """
        self._check(bound)
        connection = self._database.reader()
        connection.execute("BEGIN")
        try:
            yield position_in(connection)
        finally:
            connection.execute("ROLLBACK")

    def close(self) -> None:
        """Stop following and close the file; the next who opens it goes on from there."""
        if self._is_open:
            self._is_open = False
            self._follower.stop()
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _one(self, key: bytes, bound: Bound) -> Any:
        self._check(bound)
        row = self._database.reader().execute("SELECT value FROM entry WHERE key = ?", (key,))
        found = row.fetchone()
        return None if found is None else self._value(found[0])

    def _some(
        self, first: bytes, end: bytes, bound: Bound, *, backward: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        """Go through keys and values from the first to before the end, in one state of the table.

        It is checked at once whether there may be an answer, and not when the first is asked for.
        """
        self._check(bound)
        own = self._database.reader()
        # Whoever stops in the middle must not keep this thread's later look-ups in the past.
        scanning = nullcontext(own) if own.in_transaction else closing(self._database.snapshot())
        return self._entries(scanning, first, end, backward=backward)

    def _entries(
        self,
        scanning: AbstractContextManager[sqlite3.Connection],
        first: bytes,
        end: bytes,
        *,
        backward: bool,
    ) -> Iterator[tuple[Any, Any]]:
        with scanning as connection:
            rows = connection.execute(
                "SELECT key, value FROM entry WHERE key >= ? AND key < ? ORDER BY key"
                + (" DESC" if backward else ""),
                (first, end),
            )
            for key, value in rows:
                yield self.keys.key(key), self._value(value)

    def _all(self, bound: Bound, *, backward: bool = False) -> Iterator[tuple[Any, Any]]:
        return self._some(_BEGINNING, _END, bound, backward=backward)

    def _check(self, bound: Bound) -> None:
        self._check_open()
        if self._database.reader().in_transaction:
            return  # within a snapshot, which was checked
        position = bound.get("at_least")
        if position is not None:
            self.wait_until(position, bound.get("timeout_s", WAIT_S))
        if self._follower.is_loading and not bound.get("stale", False):
            raise StoreLoadingError(self.name, self._why_loading())

    def _check_open(self) -> None:
        if not self._is_open:
            raise StoreClosedError(self.name)

    def _why_loading(self) -> str:
        trouble = self._follower.trouble
        if trouble is not None:
            return trouble
        at = self.position()
        if self.table.batches is not None and not at.topics:
            return f"no batch of the program that writes {self.table.topic} is finished yet"
        return f"{self.table.topic} is being read, and is at {at}"
