"""Which checks count as missed: silence alone, and once in an interval."""

from __future__ import annotations

from headwater.up.health import UnhealthyError, UnresponsiveError
from headwater.up.misses import Misses

SILENT = UnresponsiveError("no answer within 5 s")
NEVER_S = 3600.0


def test_silence_is_counted_in_a_row() -> None:
    misses = Misses(interval_s=0)
    misses.add(SILENT)
    misses.add(UnresponsiveError("Connection refused"))
    assert misses.count == 2
    assert str(misses) == "has missed 2 health checks in a row, in 0.0 s (Connection refused)"
    misses.clear()
    misses.add(SILENT)
    assert misses.count == 1


def test_a_wrong_answer_is_an_answer() -> None:
    misses = Misses(interval_s=0)
    misses.add(SILENT)
    misses.add(UnhealthyError("HTTP 503 on /"))
    assert misses.count == 0


def test_who_is_asked_again_at_once_misses_one_in_an_interval() -> None:
    misses = Misses(interval_s=NEVER_S)
    for _ in range(10):
        misses.add(SILENT)
    assert misses.count == 1
