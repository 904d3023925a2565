"""Where in the binlog a connector is, as its offset has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Mapping


class Position(NamedTuple):
    """A place where reading may begin, and how many events with rows after it are done with.

    Such places are the ends of transactions and statements; rows cannot be read without the
    description of their table, which the binlog has before them.
    """

    file: str
    pos: int
    events: int = 0

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> Self:
        """Read an offset."""
        return cls(str(offset["file"]), int(offset["pos"]), int(offset.get("event", 0)))

    def offset(self, gtid: str | None = None) -> dict[str, object]:
        """Return it as Debezium names it."""
        offset: dict[str, object] = {"file": self.file, "pos": self.pos, "event": self.events}
        return offset if gtid is None else {**offset, "gtids": gtid}
