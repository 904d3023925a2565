"""One line for each cause and minute, whoever asks for it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.log.rate_limited_logger import RateLimitedLogger

if TYPE_CHECKING:
    import pytest

logger = logging.getLogger("headwater.log")


def test_a_cause_is_told_once_a_minute_with_how_often_it_came(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    limited = RateLimitedLogger(logger, clock=lambda: now[0])

    assert limited.error("disk", "the disk %s is full", "a")
    assert not any(limited.error("disk", "the disk %s is full", "a") for _ in range(7))
    assert limited.warning("net", "another cause")
    now[0] = 60.0
    assert limited.error("disk", "the disk %s is full", "a")

    assert [record.getMessage() for record in caplog.records] == [
        "the disk a is full",
        "another cause",
        "the disk a is full (7 more times since it was last told)",
    ]


def test_countless_causes_do_not_take_the_memory(caplog: pytest.LogCaptureFixture) -> None:
    limited = RateLimitedLogger(logger)
    for number in range(3000):
        limited.warning(number, "cause %d", number)
    assert len(limited._told) == 1000
    assert len(caplog.records) == 3000
