"""Counts the checks that a service has missed in a row, to tell a hang from a short silence."""

from __future__ import annotations

import time

from headwater.up.health import UnhealthyError, UnresponsiveError


class Misses:
    """Checks that were not answered at all; a wrong answer is one, and ends the row.

    Whoever is asked again at once, as a service that does not listen is, misses one in an interval.
    """

    def __init__(self, interval_s: float) -> None:
        self.count = 0
        self._interval_s = interval_s
        self._first = self._last = 0.0
        self._reason = ""

    def __str__(self) -> str:
        return (
            f"has missed {self.count} health checks in a row, in {self._last - self._first:.1f} s "
            f"({self._reason})"
        )

    def add(self, failure: UnhealthyError) -> None:
        """Note how a check failed."""
        if not isinstance(failure, UnresponsiveError):
            self.clear()
            return
        now = time.monotonic()
        if self.count and now - self._last < self._interval_s:
            return
        if not self.count:
            self._first = now
        self.count += 1
        self._last = now
        self._reason = str(failure)

    def clear(self) -> None:
        """A check was answered."""
        self.count = 0
