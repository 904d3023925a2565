"""How long a table's updates are held back, and what happens when there are too many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.nodes import Buffer
from headwater.plan.windows import milliseconds
from headwater.streams.location import Located

if TYPE_CHECKING:
    from headwater.plan.windows import Duration


@dataclass(frozen=True)
class Suppressed:
    """What `until_time_limit` makes, for `KTable.suppress`; the buffer has no bound unless said."""

    buffer: Buffer

    def max_records(self, count: int) -> Suppressed:
        """Hold back the updates of at most this many keys."""
        with Located():
            return Suppressed(replace(self.buffer, max_records=_positive(count, "max_records")))

    def max_bytes(self, size: int) -> Suppressed:
        """Hold back at most this many bytes of rows."""
        with Located():
            return Suppressed(replace(self.buffer, max_bytes=_positive(size, "max_bytes")))

    def emit_early_when_full(self) -> Suppressed:
        """Emit what has waited longest when there is no more room, as is usual."""
        return Suppressed(replace(self.buffer, when_full="emit early"))

    def shut_down_when_full(self) -> Suppressed:
        """Fail the program when there is no more room, rather than emit too early."""
        return Suppressed(replace(self.buffer, when_full="shut down"))


def until_time_limit(limit: Duration) -> Suppressed:
    """Hold the updates of a key back for so long after the first, and then emit the last.

    >>> until_time_limit("5 seconds").max_records(1000).buffer.max_records
    1000
    """
    with Located():
        return Suppressed(Buffer(milliseconds(limit)))


def _positive(number: int, name: str) -> int:
    if number <= 0:
        raise PlanError(f"{name}({number}): the buffer needs room for something")
    return number
