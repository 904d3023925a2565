"""Durations and windows."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.plan.errors import PlanError
from headwater.plan.windows import (
    SessionWindow,
    SlidingWindow,
    Window,
    duration_text,
    milliseconds,
)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1 minute", 60_000),
        ("90s", 90_000),
        ("250 ms", 250),
        ("1.5 hours", 5_400_000),
        ("1 day, 2 hours", 93_600_000),
        ("2h 30m", 9_000_000),
        ("0s", 0),
    ],
)
def test_durations(text: str, ms: int) -> None:
    assert milliseconds(text) == ms


@pytest.mark.parametrize("text", ["", "a minute", "5", "1 fortnight", "-1 s", "0.1 ms"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(PlanError):
        milliseconds(text)


def test_time_spans() -> None:
    assert milliseconds(datetime.timedelta(minutes=1)) == 60_000
    with pytest.raises(PlanError):
        milliseconds(datetime.timedelta(microseconds=1))
    with pytest.raises(PlanError):
        milliseconds(datetime.timedelta(seconds=-1))


@given(st.integers(0, 10**12))
def test_text_of_a_duration_is_read_back(ms: int) -> None:
    assert milliseconds(duration_text(ms)) == ms


def test_text_of_windows() -> None:
    assert str(Window(60_000, 60_000)) == "tumbling 1 minute, grace 0 ms"
    assert str(SessionWindow(60_000, 500)) == "session with a gap of 1 minute, grace 500 ms"
    assert str(SlidingWindow(2_000, 500)) == "sliding 2 seconds, grace 500 ms"
    assert str(Window(60_000, 1_000, 5_000)) == "hopping 1 minute every 1 second, grace 5 seconds"
