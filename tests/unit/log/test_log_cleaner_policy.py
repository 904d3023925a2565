"""Which segments may be compacted, and when a log is worth a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.log.log_contents import NOW, append, compacted_config, open_log

from headwater.log.compaction.cleaner_policy import dirtiest, examine, first_dirty_offset

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.log import Log

HOUR = 3_600_000


def log_with_segments(directory: Path, *ages_ms: int, **settings: Any) -> Log:
    """A log with one record of each age in a segment of its own, and an active one of one more."""
    log = open_log(directory, compacted_config(segment_bytes=1 << 20, **settings))
    for number, age in enumerate(ages_ms):
        append(log, (f"k{number}", "x" * 100), now_ms=NOW - age)
        log.roll(NOW - age)
    append(log, ("active", "x" * 100), now_ms=NOW)
    log.flush()
    return log


def test_all_but_the_active_segment(tmp_path: Path) -> None:
    log = log_with_segments(tmp_path / "t-0", 3, 2, 1)
    found = examine(log, None, 10**9, NOW)
    assert [segment.base_offset for segment in found.segments] == [0, 1, 2]
    assert (found.first_dirty_offset, found.upper_offset) == (0, 3)
    assert found.dirty_bytes == sum(segment.size for segment in log.segments[:3])
    assert found.clean_bytes == 0
    assert found.dirty_ratio == 1.0


def test_a_log_of_one_segment_has_nothing(tmp_path: Path) -> None:
    found = examine(log_with_segments(tmp_path / "t-0"), None, 10**9, NOW)
    assert found.segments == ()
    assert not found.is_worth_it


@pytest.mark.parametrize(("upper", "count"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3)])
def test_whole_segments_below_the_upper_offset(tmp_path: Path, upper: int, count: int) -> None:
    found = examine(log_with_segments(tmp_path / "t-0", 1, 1, 1), None, upper, NOW)
    assert len(found.segments) == count
    assert found.upper_offset == count


@pytest.mark.parametrize(
    ("checkpoint", "expected"), [(None, 0), (-5, 0), (0, 0), (2, 2), (4, 4), (5, 0)]
)
def test_where_the_dirty_part_starts(tmp_path: Path, checkpoint: int | None, expected: int) -> None:
    log = log_with_segments(tmp_path / "t-0", 1, 1, 1)
    assert first_dirty_offset(log, checkpoint) == expected


def test_the_dirty_part_starts_no_earlier_than_the_log(tmp_path: Path) -> None:
    log = log_with_segments(tmp_path / "t-0", 1, 1, 1)
    log.delete_records(2)
    assert first_dirty_offset(log, 1) == 2


def test_the_ratio_is_of_dirty_bytes(tmp_path: Path) -> None:
    log = log_with_segments(tmp_path / "t-0", 1, 1, 1, 1, min_cleanable_dirty_ratio=0.5)
    assert examine(log, 1, 10**9, NOW).dirty_ratio == 0.75
    assert examine(log, 1, 10**9, NOW).is_worth_it
    assert not examine(log, 2, 10**9, NOW).is_worth_it
    assert not examine(log, 4, 10**9, NOW).is_worth_it


def test_young_segments_wait(tmp_path: Path) -> None:
    log = log_with_segments(
        tmp_path / "t-0", 3 * HOUR, 2 * HOUR, HOUR // 2, 5 * HOUR, min_compaction_lag_ms=HOUR
    )
    found = examine(log, None, 10**9, NOW)
    # The old segment after the young one waits with it.
    assert (len(found.segments), found.upper_offset) == (2, 2)
    assert len(examine(log, None, 10**9, NOW + HOUR).segments) == 4


def test_an_overdue_segment_needs_no_ratio(tmp_path: Path) -> None:
    log = log_with_segments(
        tmp_path / "t-0", 9 * HOUR, HOUR, min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=HOUR
    )
    assert examine(log, None, 10**9, NOW).is_overdue
    assert examine(log, None, 10**9, NOW).is_worth_it
    later = examine(log, 1, 10**9, NOW)
    assert not later.is_overdue
    assert not later.is_worth_it
    assert examine(log, 1, 10**9, NOW + 1).is_worth_it
    assert not examine(log, 2, 10**9, NOW + HOUR).is_worth_it


def test_the_dirtiest_one_that_is_worth_it(tmp_path: Path) -> None:
    logs = [log_with_segments(tmp_path / f"t-{n}", 1, 1, 1, 1) for n in range(3)]
    found = [
        examine(log, checkpoint, 10**9, NOW)
        for log, checkpoint in zip(logs, (2, 1, 4), strict=True)
    ]
    assert dirtiest(found) is found[1]
    assert dirtiest(found[2:]) is None
    assert dirtiest([]) is None
