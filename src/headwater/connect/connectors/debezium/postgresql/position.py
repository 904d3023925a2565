"""Where in PostgreSQL's log a connector is, as its offset has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class Seen(NamedTuple):
    """What a snapshot has seen: transactions, as `pg_current_snapshot()` writes it.

    All that it has seen were committed before `lsn`.

    >>> seen = Seen("10:20:12,15", 999)
    >>> [seen.has(xid, 5) for xid in (9, 12, 13, 20)]
    [True, False, True, False]
    """

    xids: str
    lsn: int

    def has(self, xid: int, lsn: int) -> bool:
        """Whether a transaction's changes are in the snapshot's rows."""
        first, end, running = self.xids.split(":")
        whole = _whole(xid, int(end))
        if lsn > self.lsn or whole >= int(end):
            return False
        return whole < int(first) or str(whole) not in running.split(",")


class Position(NamedTuple):
    """The last transaction of which something was read, by where its commit is in the log.

    `events` counts the messages about rows that are done with; None: all of them.
    """

    lsn: int = 0
    events: int | None = None
    seen: Seen | None = None

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> Self:
        """Read an offset."""
        xids = offset.get("snapshot_xids")
        seen = None if xids is None else Seen(str(xids), int(offset["snapshot_lsn"]))
        events = offset.get("event")
        return cls(int(offset["lsn"]), None if events is None else int(events), seen)

    def offset(self) -> dict[str, object]:
        """Return it as a map."""
        offset: dict[str, object] = {"lsn": self.lsn}
        if self.events is not None:
            offset["event"] = self.events
        if self.seen is not None:
            offset |= {"snapshot_xids": self.seen.xids, "snapshot_lsn": self.seen.lsn}
        return offset

    def done(self, lsn: int) -> int | None:
        """Return how many messages of a transaction are done with; None for all of them."""
        if lsn > self.lsn:
            return 0
        return None if lsn < self.lsn else self.events


def _whole(xid: int, near: int) -> int:
    """The log has the lower 32 bits of a transaction's number, which is not far from others."""
    candidate = near & ~0xFFFF_FFFF | xid
    if candidate > near + 2**31:
        return candidate - 2**32
    return candidate + 2**32 if candidate < near - 2**31 else candidate
