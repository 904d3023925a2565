"""What is said of a group, by samples written down here."""

from __future__ import annotations

import pytest

from headwater.metrics.cluster_state import Owner
from headwater.monitor.lags import PartitionLag
from headwater.monitor.verdicts import Judge, Sample, Status

WINDOW = 4
MEMBER = Owner("member-1", "/10.0.0.7", "etl")


def judged(
    samples: list[tuple[int, int]], owner: Owner | None = MEMBER
) -> tuple[Status, str, float]:
    """Judge a partition by (offset, end) every 10 s."""
    judge = Judge(WINDOW)
    for number, (offset, end) in enumerate(samples):
        lag = PartitionLag("orders", 0, offset, end, owner)
        (verdict,) = judge.judge({"billing": [lag]}, number * 10_000).values()
    assert verdict.group == "billing"
    (partition,) = verdict.partitions
    assert partition.status is verdict.status
    return verdict.status, verdict.reason, partition.complete


@pytest.mark.parametrize(
    ("samples", "status"),
    [
        ([(5, 5)], Status.OK),
        ([(5, 9)] * (WINDOW - 1), Status.OK),  # not watched for long enough
        ([(5, 5), (5, 6), (5, 7), (5, 8)], Status.OK),  # at the end in this window
        ([(5, 9)] * WINDOW, Status.STALL),
        ([(5, 9), (5, 10), (5, 11), (5, 12)], Status.STALL),
        ([(5, 5), *[(5, 9)] * WINDOW], Status.STALL),  # the end has left the window
        ([(5, 9), (6, 11), (7, 13), (8, 15)], Status.WARN),
        ([(5, 9), (6, 10), (7, 11), (8, 12)], Status.WARN),  # as far behind as before
        ([(5, 9), (6, 11), (9, 11), (10, 13)], Status.OK),  # it caught up a little
        ([(5, 99), (20, 99), (40, 99), (60, 99)], Status.OK),  # far behind, and catching up
        ([(5, 9), (3, 9)], Status.REWIND),
        ([(5, 5), (5, 5), (0, 5), (5, 5)], Status.REWIND),
    ],
)
def test_a_partition_is_judged_by_how_it_came_along(
    samples: list[tuple[int, int]], status: Status
) -> None:
    assert judged(samples)[0] is status


def test_a_partition_that_nobody_reads_is_stopped() -> None:
    status, reason, _ = judged([(5, 9)] * WINDOW, owner=None)
    assert status is Status.STOP
    assert "no member reads it" in reason


def test_a_reason_says_where_who_and_for_how_long() -> None:
    _, reason, complete = judged([(5, 9)] * WINDOW)
    assert complete == 1
    for part in ("orders-0", "etl", "/10.0.0.7", "30 s", "4 records"):
        assert part in reason, part


def test_a_log_that_was_cut_off_above_an_offset_is_no_negative_lag() -> None:
    assert judged([(5, 3)])[0] is Status.OK


def test_a_group_is_as_well_as_its_worst_partition() -> None:
    judge = Judge(2)
    for time_ms, ends in ((0, (9, 5, 7)), (1, (9, 6, 7))):
        lags = [PartitionLag("orders", index, 5, end, None) for index, end in enumerate(ends)]
        (verdict,) = judge.judge({"billing": lags}, time_ms).values()
    assert [each.status for each in verdict.partitions] == [Status.STOP, Status.OK, Status.STOP]
    assert verdict.status is Status.STOP
    assert verdict.max_lag is not None
    assert verdict.max_lag.lag.partition == 0
    assert verdict.reason.startswith("orders-0: ")
    assert "1 more" in verdict.reason


def test_a_group_without_offsets_is_well() -> None:
    assert Judge(2).judge({"new": []}, 0)["new"].status is Status.OK


def test_a_group_that_was_away_is_judged_anew() -> None:
    judge = Judge(2)
    lag = PartitionLag("orders", 0, 5, 9, None)
    judge.judge({"billing": [lag]}, 0)
    judge.judge({}, 1)
    assert judge.judge({"billing": [lag]}, 2)["billing"].status is Status.OK


def test_the_looks_of_a_window_are_told_from_the_first_at_a_partition_on() -> None:
    judge = Judge(3)
    told = []
    for number in range(5):
        ends = {0: 9} if number == 0 else {0: 9, 1: 7 + number}
        lags = [PartitionLag("orders", index, 5, end, None) for index, end in ends.items()]
        verdict = judge.judge({"billing": lags}, number * 10_000)["billing"]
        told.append([(each.history.first, each.history.last) for each in verdict.partitions])
    since = [0, 0, 0, 10_000, 20_000]
    assert [each[0] for each in told] == [
        (Sample(first, 5, 4), Sample(number * 10_000, 5, 4)) for number, first in enumerate(since)
    ]
    assert [each[1] for each in told[1:]] == [
        (Sample(10_000, 5, 3), Sample(10_000, 5, 3)),
        (Sample(10_000, 5, 3), Sample(20_000, 5, 4)),
        (Sample(10_000, 5, 3), Sample(30_000, 5, 5)),
        (Sample(20_000, 5, 4), Sample(40_000, 5, 6)),
    ]
