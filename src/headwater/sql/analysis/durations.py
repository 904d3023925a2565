"""Lengths of time in milliseconds."""

from __future__ import annotations

from headwater.sql.errors import SqlError
from headwater.sql.tree.queries import Duration, TimeUnit

_MILLISECONDS = {
    TimeUnit.MILLISECONDS: 1,
    TimeUnit.SECONDS: 1_000,
    TimeUnit.MINUTES: 60_000,
    TimeUnit.HOURS: 3_600_000,
    TimeUnit.DAYS: 86_400_000,
}


def milliseconds(duration: Duration) -> int:
    """Return a length of time in milliseconds; refuse units whose length is not fixed."""
    if duration.unit not in _MILLISECONDS:
        raise SqlError(
            f"{duration.unit.value} are not all of one length: write DAYS", duration.location
        )
    return duration.amount * _MILLISECONDS[duration.unit]
