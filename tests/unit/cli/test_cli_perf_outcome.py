"""The arithmetic of the perf commands."""

from __future__ import annotations

import pytest

from headwater.cli.commands.perf import _percentile, _shares
from headwater.cli.perf.workers import Outcome


def test_shares_add_up_and_differ_by_one_at_most() -> None:
    assert _shares(10, 3) == [4, 3, 3]
    assert _shares(2, 3) == [1, 1, 0]


@pytest.mark.parametrize(("percent", "expected"), [(50, 50.0), (99, 99.0), (99.9, 100.0), (1, 1.0)])
def test_percentiles_are_values_that_were_measured(percent: float, expected: float) -> None:
    assert _percentile([float(number) for number in range(1, 101)], percent) == expected


def test_workers_are_timed_from_the_first_start_to_the_last_end() -> None:
    total = Outcome.total([Outcome(1, 10, 5.0, 7.0, [3.0]), Outcome(2, 20, 4.0, 6.0, [1.0])])
    assert total == Outcome(3, 30, 4.0, 7.0, [1.0, 3.0])
