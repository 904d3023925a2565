"""When a log goes on in a new segment, and where a record of some time is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.log.log_batches import (
    NOW,
    SMALL_SEGMENTS,
    append,
    assert_files_are_sound,
    fill,
    open_log,
    read_all,
    values,
)

from headwater.log.config import LogConfig
from headwater.log.log import TimestampOffset

if TYPE_CHECKING:
    from pathlib import Path


def test_segments_roll_by_size(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=300))
    for _ in range(3):
        append(log, b"x" * 60)

    assert [segment.base_offset for segment in log.segments] == [0, 2]
    assert [segment.size for segment in log.segments] == [260, 130]


def test_segments_roll_by_the_time_between_records(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_ms=1000))
    for timestamp in (NOW, NOW + 1000, NOW + 1001, NOW + 500, NOW + 2002):
        append(log, b"x", timestamp=timestamp, now_ms=NOW + 10**6)

    assert [segment.base_offset for segment in log.segments] == [0, 2, 4]


def test_segments_without_timestamps_roll_by_the_clock(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_ms=1000))
    for now_ms in (NOW, NOW + 1000, NOW + 1001):
        append(log, b"x", timestamp=-1, now_ms=now_ms)

    assert [segment.base_offset for segment in log.segments] == [0, 2]


def test_jitter_lets_segments_roll_earlier_but_never_later(tmp_path: Path) -> None:
    config = LogConfig(segment_ms=1000, segment_jitter_ms=1000)
    log = open_log(tmp_path, config)
    for number in range(200):
        append(log, b"x", timestamp=NOW + 100 * number)

    spans = [
        after.base_offset - segment.base_offset
        for segment, after in zip(log.segments, log.segments[1:], strict=False)
    ]
    assert max(spans) <= 11
    assert min(spans) < 11


def test_compacted_segments_roll_before_the_longest_lag(tmp_path: Path) -> None:
    log = open_log(
        tmp_path, LogConfig(cleanup_policy=frozenset({"compact"}), max_compaction_lag_ms=500)
    )
    for timestamp in (NOW, NOW + 500, NOW + 501):
        append(log, b"x", timestamp=timestamp)

    assert [segment.base_offset for segment in log.segments] == [0, 2]


def test_segments_roll_when_an_index_is_full(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(index_interval_bytes=1, segment_index_bytes=40))
    for number in range(20):
        append(log, b"x", timestamp=NOW + number)

    for segment in log.segments:
        assert segment.offset_index.count * 8 <= 40
        assert segment.time_index.count * 12 <= 40
    assert len(log.segments) > 4
    assert len(read_all(log)) == 20
    assert_files_are_sound(log.directory)


def test_an_empty_segment_does_not_roll(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.roll(NOW)
    append(log, b"a")
    log.roll(NOW)
    log.roll(NOW)

    assert [segment.base_offset for segment in log.segments] == [0, 1]


def test_preallocated_segments_read_as_others_do(tmp_path: Path) -> None:
    config = LogConfig(segment_bytes=5000, preallocate=True)
    log = open_log(tmp_path, config)
    fill(log, 100)
    active = log.directory / f"{log.segments[-1].base_offset:020d}.log"

    assert active.stat().st_size == 5000
    assert len(values(log)) == 100
    crashed = open_log(tmp_path, config, clean=False)
    assert len(values(crashed)) == 100
    crashed.close()
    assert active.stat().st_size == crashed.segments[-1].size < 5000
    assert_files_are_sound(log.directory)


def test_offset_for_timestamp_is_the_first_record_not_older(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    fill(log, 100)

    for number in (0, 1, 19, 20, 57, 99):
        for timestamp in (NOW + number * 1000, NOW + number * 1000 - 999):
            found = log.offset_for_timestamp(timestamp, log.log_end_offset)
            assert found == TimestampOffset(NOW + number * 1000, number, 0)
    assert log.offset_for_timestamp(0, 100) == TimestampOffset(NOW, 0, 0)
    assert log.offset_for_timestamp(NOW + 99_001, 100) is None
    assert log.offset_for_timestamp(NOW + 50_000, 50) is None
    assert log.offset_for_timestamp(NOW + 49_000, 50) == TimestampOffset(NOW + 49_000, 49, 0)


def test_offset_for_timestamp_looks_into_batches(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", b"b", b"c", b"d", epoch=3)

    assert log.offset_for_timestamp(NOW + 2, 4) == TimestampOffset(NOW + 2, 2, 3)
    assert log.offset_for_timestamp(NOW + 2, 2) is None
    log.delete_records(3)
    assert log.offset_for_timestamp(NOW, 4) == TimestampOffset(NOW + 3, 3, 3)


def test_offset_for_timestamp_skips_segments_before_the_log_start(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"young", timestamp=NOW + 500)
    append(log, b"old", timestamp=NOW)
    log.roll(NOW)
    append(log, b"younger", timestamp=NOW + 600)
    log.delete_records(1)

    assert log.offset_for_timestamp(NOW + 400, 3) == TimestampOffset(NOW + 600, 2, 0)


def test_max_timestamp_is_the_first_record_that_has_it(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    assert log.max_timestamp() is None
    append(log, b"none", timestamp=-1)
    assert log.max_timestamp() == TimestampOffset(-1, 0, 0)
    fill(log, 30, 1)
    append(log, b"a", b"b", timestamp=NOW + 90_000, now_ms=NOW + 10**7)
    append(log, b"c", timestamp=NOW + 90_001, now_ms=NOW + 10**7)
    fill(log, 30, 34)

    assert log.max_timestamp() == TimestampOffset(NOW + 90_001, 32, 0)


def test_epoch_end_offsets_follow_the_appends(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", b"b", epoch=1)
    append(log, b"c", epoch=5)

    assert log.epoch_end_offset(1) == (1, 2)
    assert log.epoch_end_offset(3) == (1, 2)
    assert log.epoch_end_offset(5) == (5, 3)
    assert log.epoch_end_offset(6) == (-1, -1)
    assert [log.epoch_of(offset) for offset in range(3)] == [1, 1, 5]
