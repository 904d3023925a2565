"""One line for each cause and minute, and how many there would have been."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.log.rate_limited_logger import PERIOD_S, RateLimitedLogger

if TYPE_CHECKING:
    import pytest


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_one_line_for_each_cause_and_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    log = RateLimitedLogger(logging.getLogger("headwater.test"), clock=clock)
    for number in range(5):
        log.error("disk", "no space for %d", number)
        log.warning("client", "bad frame %d", number)
    assert caplog.messages == ["no space for 0", "bad frame 0"]
    clock.now += PERIOD_S
    caplog.clear()
    log.error("disk", "no space for %d", 5)
    log.error("disk", "no space for %d", 6)
    assert caplog.messages == ["no space for 5 (4 more like this were not logged)"]
    clock.now += 10 * PERIOD_S
    caplog.clear()
    log.error("disk", "no space for %d", 7)
    clock.now += PERIOD_S
    log.error("disk", "no space for %d", 8)
    assert caplog.messages == [
        "no space for 7 (1 more like this were not logged)",
        "no space for 8",
    ]


def test_some_lines_may_come_together(caplog: pytest.LogCaptureFixture) -> None:
    log = RateLimitedLogger(logging.getLogger("headwater.test"), burst=3, clock=Clock())
    for number in range(10):
        log.warning("client", "%d", number)
    assert caplog.messages == ["0", "1", "2"]


def test_causes_without_end_are_forgotten() -> None:
    log = RateLimitedLogger(logging.getLogger("headwater.test"), clock=Clock())
    for number in range(5000):
        log.warning(number, "cause %d", number)
    assert len(log._causes) <= 1000
