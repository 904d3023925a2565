"""The lag of groups over time."""

from __future__ import annotations

from headwater.console.model.groups.lag_history import LagHistory
from headwater.console.view.groups.lag_chart import lag_chart


def test_points_are_apart_and_groups_are_few() -> None:
    history = LagHistory()
    lags = {f"g{number}": number for number in range(500)}
    for second in range(20):
        history.note(float(second), lags)
    assert [point.at for point in history.of("g499")] == [0.0, 5.0, 10.0, 15.0]
    assert history.of("g0") == (), "those that are most behind are kept"
    history.note(100.0, {"g0": 7})
    assert history.of("g499") == (), "a group that is gone is forgotten"
    assert [point.lag for point in history.of("g0")] == [7]


def test_a_chart() -> None:
    history = LagHistory()
    for number, lag in enumerate((0, 1_200, 300)):
        assert lag_chart(history.of("billing")) is None
        history.note(number * 60.0, {"billing": lag})
    chart = lag_chart(history.of("billing"))
    assert chart is not None
    assert "Lag over the last 2.0 min: at most 1,200, now 300" in chart
