from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.log.log_batches import NOW, append, open_log, values

from headwater.log.config import LogConfig

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.log import Log

SIZE = 171
"""Bytes of a batch of one record of 100 bytes."""


def log_of_segments(tmp_path: Path, count: int, **settings: Any) -> Log:
    """Segments of one batch each, a second apart; the last one is active."""
    log = open_log(tmp_path, LogConfig(segment_bytes=SIZE, **settings))
    for number in range(count):
        append(log, b"%0100d" % number, timestamp=NOW + number * 1000, now_ms=NOW + 10**6)
    assert log.size == count * SIZE
    assert len(log.segments) == count
    log.flush()
    return log


@pytest.mark.parametrize(
    ("age_of_first", "removed"), [(0, 0), (5000, 0), (5001, 1), (6001, 2), (8001, 4)]
)
def test_retention_ms_goes_by_the_youngest_record_of_a_segment(
    tmp_path: Path, age_of_first: int, removed: int
) -> None:
    log = log_of_segments(tmp_path, 5, retention_ms=5000)

    assert log.apply_retention(NOW + age_of_first) == removed
    assert log.log_start_offset == removed
    assert len(values(log)) == 5 - removed


def test_an_expired_active_segment_is_rolled_and_then_removed(tmp_path: Path) -> None:
    log = log_of_segments(tmp_path, 3, retention_ms=5000)

    assert log.apply_retention(NOW + 7001) == 3

    assert (log.log_start_offset, log.log_end_offset) == (3, 3)
    assert log.size == 0
    assert log.apply_retention(NOW + 10**9) == 0
    assert append(log, b"next", timestamp=NOW).base_offset == 3


def test_a_young_record_in_between_keeps_what_follows(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=SIZE, retention_ms=5000))
    for timestamp in (NOW, NOW + 9000, NOW, NOW):
        append(log, b"%0100d" % 1, timestamp=timestamp)
    log.flush()

    assert log.apply_retention(NOW + 9000) == 1


def test_without_timestamps_the_files_age_counts(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=SIZE, retention_ms=5000))
    for _ in range(3):
        append(log, b"%0100d" % 1, timestamp=-1)
    log.flush()
    for segment, age_s in zip(log.segments, (9, 1, 0), strict=True):
        os.utime(segment.path(".log"), (NOW / 1000 - age_s, NOW / 1000 - age_s))

    assert log.apply_retention(NOW) == 1


@pytest.mark.parametrize(
    ("retention_bytes", "removed"),
    [(-1, 0), (5 * SIZE, 0), (4 * SIZE + 1, 0), (4 * SIZE, 1), (SIZE, 4), (1, 4), (0, 4)],
)
def test_retention_bytes_keeps_at_least_that_much_and_the_active_segment(
    tmp_path: Path, retention_bytes: int, removed: int
) -> None:
    log = log_of_segments(tmp_path, 5, retention_ms=-1, retention_bytes=retention_bytes)

    assert log.apply_retention(NOW + 10**9) == removed
    assert len(values(log)) == 5 - removed


def test_compacted_logs_lose_only_what_is_below_the_log_start(tmp_path: Path) -> None:
    log = log_of_segments(
        tmp_path, 5, retention_ms=1, retention_bytes=1, cleanup_policy=frozenset({"compact"})
    )
    assert log.apply_retention(NOW + 10**9) == 0

    log.delete_records(2)
    assert log.apply_retention(NOW) == 2

    log.update_config(replace(log.config, cleanup_policy=frozenset({"compact", "delete"})))
    assert log.apply_retention(NOW + 10**9) == 3


def test_a_segment_with_the_log_start_in_it_stays(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(retention_ms=-1))
    append(log, b"a", b"b", b"c")
    log.roll(NOW)
    append(log, b"d")
    log.delete_records(2)

    assert log.apply_retention(NOW) == 0
    assert values(log) == [b"c", b"d"]
    log.delete_records(3)
    assert log.apply_retention(NOW) == 1


def test_removed_segments_stay_away_after_a_crash(tmp_path: Path) -> None:
    log = log_of_segments(tmp_path, 5, retention_ms=5000)
    log.apply_retention(NOW + 6001)

    recovered = open_log(tmp_path, log.config, clean=False)

    assert recovered.log_start_offset == 2
    assert len(values(recovered)) == 3


def test_what_was_never_flushed_is_flushed_before_it_goes(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=SIZE, retention_ms=5000))
    for number in range(3):
        append(log, b"%0100d" % number)
    assert log.recovery_point == 0

    assert log.apply_retention(NOW + 6000) == 3
    assert log.recovery_point == 3
