"""Windows in event time, by size or by what comes, and durations in the words people use."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import TypeAlias

from headwater.plan.errors import PlanError

Duration: TypeAlias = datetime.timedelta | str
"""`timedelta(minutes=1)` or `"1 minute"`, `"90s"`, `"250 ms"`."""

_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*,?")
_UNITS_MS = {
    1: ("ms", "millis", "millisecond", "milliseconds"),
    1_000: ("s", "sec", "secs", "second", "seconds"),
    60_000: ("m", "min", "mins", "minute", "minutes"),
    3_600_000: ("h", "hour", "hours"),
    86_400_000: ("d", "day", "days"),
    604_800_000: ("w", "week", "weeks"),
}
_MS = {name: ms for ms, names in _UNITS_MS.items() for name in names}


@dataclass(frozen=True)
class Window:
    """Windows of `size_ms` that start every `advance_ms`; tumbling when the two are equal.

    A record is late when its window's end plus `grace_ms` has passed in event time.
    """

    size_ms: int
    advance_ms: int
    grace_ms: int = 0

    @property
    def is_tumbling(self) -> bool:
        """Whether the windows do not overlap."""
        return self.size_ms == self.advance_ms

    def __str__(self) -> str:
        kind = "tumbling" if self.is_tumbling else "hopping"
        text = f"{kind} {duration_text(self.size_ms)}"
        if not self.is_tumbling:
            text += f" every {duration_text(self.advance_ms)}"
        return text + f", grace {duration_text(self.grace_ms)}"


@dataclass(frozen=True)
class SessionWindow:
    """Windows that reach from record to record, as long as none is `gap_ms` after the one before.

    A session begins with its first record and ends with its last. A record is late when it belongs
    to no session that is open, and the gap and `grace_ms` after it have passed in event time.
    """

    gap_ms: int
    grace_ms: int = 0

    def __str__(self) -> str:
        grace = duration_text(self.grace_ms)
        return f"session with a gap of {duration_text(self.gap_ms)}, grace {grace}"


@dataclass(frozen=True)
class SlidingWindow:
    """Windows of records that are at most `difference_ms` apart, both ends included.

    For each record there is one that ends with it, and one that begins a millisecond after it if
    that has any records. A record is late when the end of the second and `grace_ms` have passed in
    event time.
    """

    difference_ms: int
    grace_ms: int = 0

    def __str__(self) -> str:
        grace = duration_text(self.grace_ms)
        return f"sliding {duration_text(self.difference_ms)}, grace {grace}"


AnyWindow: TypeAlias = Window | SessionWindow | SlidingWindow


def milliseconds(duration: Duration) -> int:
    """Return a duration in milliseconds; refuse what is not one."""
    if isinstance(duration, datetime.timedelta):
        found = duration / datetime.timedelta(milliseconds=1)
    else:
        found = _parse(duration)
    if found != int(found) or found < 0:
        raise PlanError(f"{duration!r} is not a whole number of milliseconds")
    return int(found)


def duration_text(ms: int) -> str:
    """Return milliseconds in the largest unit that has no fraction."""
    names = {unit: names[-1] for unit, names in _UNITS_MS.items() if unit > 1}
    for unit in sorted(names, reverse=True):
        if ms and ms % unit == 0:
            count = ms // unit
            return f"{count} {names[unit] if count > 1 else names[unit][:-1]}"
    return f"{ms} ms"


def _parse(text: str) -> float:
    total = 0.0
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None or match[2].lower() not in _MS:
            raise PlanError(
                f"{text!r} is no duration: write it as '90 seconds', '1 minute', '2h' or a "
                "timedelta"
            )
        total += float(match[1]) * _MS[match[2].lower()]
        position = match.end()
    if not text.strip():
        raise PlanError("an empty text is no duration: write it as '1 minute' or a timedelta")
    return total
