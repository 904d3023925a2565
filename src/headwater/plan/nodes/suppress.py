"""Updates of a table held back until a time limit, in a buffer that may be bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from headwater.plan.nodes.node import ChangelogMode
from headwater.plan.nodes.stateful import Stateful
from headwater.plan.windows import duration_text

WhenFull: TypeAlias = Literal["emit early", "shut down"]


@dataclass(frozen=True)
class Buffer:
    """How long updates wait, and how many there may be; None is without a bound."""

    limit_ms: int
    max_records: int | None = None
    max_bytes: int | None = None
    when_full: WhenFull = "emit early"

    def __str__(self) -> str:
        parts = [duration_text(self.limit_ms)]
        parts += [f"{self.max_records} records"] if self.max_records is not None else []
        parts += [f"{self.max_bytes} bytes"] if self.max_bytes is not None else []
        return f"{', '.join(parts)}, {self.when_full}" if len(parts) > 1 else parts[0]


@dataclass(frozen=True, eq=False, kw_only=True)
class Suppress(Stateful):
    """Holds each key's updates back and gives out the last one when its time is over.

    A key waits from the time of its first update that is held back. Time is that of all records
    so far; the buffer is one for all keys, and for each window of a windowed table.
    """

    buffer: Buffer

    @property
    def changelog(self) -> ChangelogMode:
        """Later updates of a key replace those before."""
        return ChangelogMode.UPSERT

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take a table."""
        del parent
        return mode is ChangelogMode.UPSERT

    @property
    def word(self) -> str:
        """What it does."""
        return "suppress"

    @property
    def in_arrival_order(self) -> bool:
        """The order says when time has passed, and what is oldest."""
        return True

    @property
    def waits(self) -> bool:
        """Others may replace what leaves."""
        return False

    @property
    def regroups(self) -> bool:
        """All rows go to one buffer."""
        return True
