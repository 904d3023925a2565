"""The log of a partition: appending, reading, looking up, rolling and removing."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import (
    NOW,
    SMALL_SEGMENTS,
    TOPIC_ID,
    append,
    assert_files_are_sound,
    batch,
    open_log,
    read_all,
    values,
    write_cleaned,
)

from headwater.log.config import LogConfig
from headwater.log.errors import CorruptBatch, LogError, OffsetOutOfRange, StorageError
from headwater.log.log import LogPosition, TimestampOffset
from headwater.log.records.batch import parse_header

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.log import Log


def fill(log: Log, count: int, start: int = 0) -> None:
    """Batches of one record each, a second apart; about twenty to a small segment."""
    for number in range(start, start + count):
        append(log, b"value %03d" % number, timestamp=NOW + number * 1000, now_ms=NOW + 10**7)


def test_a_new_log_has_kafkas_files(tmp_path: Path) -> None:
    log = open_log(tmp_path, topic_id=TOPIC_ID)
    append(log, b"a")
    log.roll(NOW)
    log.close()

    assert {path.name for path in log.directory.iterdir()} == {
        "00000000000000000000.log",
        "00000000000000000000.index",
        "00000000000000000000.timeindex",
        "00000000000000000001.log",
        "00000000000000000001.index",
        "00000000000000000001.timeindex",
        "00000000000000000001.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    }
    assert (log.directory / "partition.metadata").read_text().endswith("AAECAwQFBgcICQoLDA0ODw")


def test_appends_get_consecutive_offsets_and_the_epoch(tmp_path: Path) -> None:
    log = open_log(tmp_path)

    first = append(log, b"a", b"b", b"c", epoch=4)
    second = append(log, b"d", epoch=4)

    assert (first.base_offset, first.last_offset, first.log_append_time) == (0, 2, -1)
    assert (second.base_offset, second.last_offset) == (3, 3)
    assert second.end == log.end == LogPosition(4, 0, log.size)
    data = log.read(0, 1 << 20, log.end).read()
    assert parse_header(data).leader_epoch == 4
    assert log.leader_epoch == 4
    assert values(log) == [b"a", b"b", b"c", b"d"]


def test_a_read_in_the_middle_of_a_batch_starts_with_that_batch(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", b"b", b"c")
    append(log, b"d", b"e", b"f")

    for offset, base in ((0, 0), (2, 0), (3, 3), (5, 3)):
        assert parse_header(log.read(offset, 1 << 20, log.end).read()).base_offset == base


def test_reads_end_at_the_upper_position(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a")
    upper = log.end
    append(log, b"b")

    assert len(log.read(0, 1 << 20, upper)) == upper.position
    assert len(log.read(1, 1 << 20, upper)) == 0
    assert len(log.read(2, 1 << 20, upper)) == 0
    assert len(log.read(1, 1 << 20, log.end)) == log.size - upper.position


def test_max_bytes_cuts_after_the_first_batch(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(3):
        append(log, b"x" * 100)
    size = log.size // 3

    assert len(log.read(0, size - 1, log.end)) == size
    assert len(log.read(0, size - 1, log.end, min_one=False)) == 0
    assert len(log.read(0, 0, log.end, min_one=False)) == 0
    assert len(log.read(0, size, log.end, min_one=False)) == size
    assert len(log.read(0, size + 40, log.end)) == size + 40
    assert len(log.read(1, 10 * size, log.end)) == 2 * size


@pytest.mark.parametrize("offset", [-1, 1, 4, 1 << 40])
def test_offsets_outside_are_refused(tmp_path: Path, offset: int) -> None:
    log = open_log(tmp_path)
    append(log, b"a", b"b", b"c")
    log.delete_records(2)

    with pytest.raises(OffsetOutOfRange, match="has 2 to 3"):
        log.read(offset, 1000, log.end)
    with pytest.raises(OffsetOutOfRange):
        log.position_of(offset)


def test_position_of_is_the_batchs_place(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    places = {}
    for number in range(60):
        end = log.end
        append(log, b"value %03d" % number, b"more")
        if log.end.segment_base != end.segment_base:
            end = LogPosition(end.offset, log.end.segment_base, 0)
        places[2 * number] = end

    assert len(log.segments) > 2
    for offset, place in places.items():
        assert log.position_of(offset) == place
        assert log.position_of(offset + 1) == place._replace(offset=offset + 1)
    assert log.position_of(120) == log.end


def test_a_reader_at_the_end_goes_on_in_the_next_segment(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a")
    old_end = log.end
    assert len(log.read(1, 1000, log.end)) == 0

    log.roll(NOW)
    append(log, b"b")

    assert values(log, 1) == [b"b"]
    # A high watermark that was taken before the roll is still good.
    assert len(log.read(0, 1000, old_end)) == old_end.position
    assert len(log.read(1, 1000, old_end)) == 0


@pytest.mark.parametrize("count", [1, 5, 100])
def test_every_offset_reads_the_same_from_any_segment(tmp_path: Path, count: int) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    fill(log, count)

    for offset in range(count):
        assert values(log, offset) == [b"value %03d" % number for number in range(offset, count)]
    assert_files_are_sound(log.directory)


def test_a_walk_goes_through_all_batches_of_all_segments(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    fill(log, 50)
    log.delete_records(30)
    log.update_config(LogConfig(max_message_bytes=2 << 20))
    append(log, b"x" * (1 << 20), b"second")  # more than is read at once

    found = list(log.batches())

    assert len(log.segments) > 1
    assert found[0][0].base_offset == 30
    assert [header.next_offset for header, _ in found] == [*range(31, 51), 52]
    assert all(len(data) == header.size for header, data in found)


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


def test_delete_records_moves_the_start_and_never_back(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    fill(log, 50)
    log.flush()
    count = len(log.segments)

    assert log.delete_records(30) == 30
    assert log.delete_records(10) == 30
    assert values(log)[0] == b"value 030"
    with pytest.raises(OffsetOutOfRange):
        log.delete_records(51)
    assert log.delete_records(50) == 50
    assert log.apply_retention(NOW) == count - 1
    assert values(log) == []
    append(log, b"next")
    assert values(log) == [b"next"]


def test_delete_files_after_their_delay_and_keep_open_slices_readable(tmp_path: Path) -> None:
    log = open_log(tmp_path, replace(SMALL_SEGMENTS, file_delete_delay_ms=100))
    fill(log, 30)
    log.flush()
    log.delete_records(30)
    first = log.segments[0]
    in_flight = open_log(tmp_path / "other").read(0, 1, LogPosition(0, 0, 0))
    in_flight.file, in_flight.length = first.file, 61
    before = in_flight.read()

    assert log.apply_retention(NOW) == 1
    assert (log.directory / f"{0:020d}.log.deleted").exists()
    assert log.purge_deleted(NOW) == 0
    assert log.purge_deleted(NOW + 99) == 0
    assert log.purge_deleted(NOW + 100) == 1
    assert not list(log.directory.glob("*.deleted"))
    assert in_flight.read() == before != b""


def test_a_deleted_log_takes_nothing_and_leaves_a_renamed_directory(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a")
    directory = log.directory

    target = log.delete()

    assert not directory.exists()
    assert target.is_dir()
    assert target.name.startswith("orders-0.")
    assert target.name.endswith("-delete")
    with pytest.raises(StorageError, match="deleted"):
        append(log, b"b")


def test_long_topic_names_can_be_deleted(tmp_path: Path) -> None:
    from headwater.log.log import Log

    log = Log.open(tmp_path / f"{'t' * 249}-11", LogConfig(), clean=True, now_ms=NOW)

    target = log.delete()

    assert len(target.name) == 255
    assert target.is_dir()


def test_closing_twice_is_fine_and_then_nothing_is_taken(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a")
    log.close()
    log.close()

    with pytest.raises(StorageError, match="closed"):
        append(log, b"b")
    assert values(open_log(tmp_path)) == [b"a"]


def open_descriptors() -> int:
    return sum(1 for _ in os.scandir("/dev/fd"))


def test_open_files_do_not_pile_up(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=200, index_interval_bytes=1))
    # As it is with an active segment that is in use.
    in_use = log.segments[-1].files()
    before = open_descriptors()
    del in_use
    fill(log, 200)
    log.flush()
    grown = open_descriptors() - before

    assert len(log.segments) == 100
    assert grown <= 100
    log.delete_records(200)
    log.apply_retention(NOW)
    log.purge_deleted(NOW)
    log.purge_deleted(NOW + log.config.file_delete_delay_ms)
    assert open_descriptors() <= before


def test_damage_in_the_middle_is_reported_with_its_place(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(3):
        append(log, b"x" * 100)
    path = log.directory / f"{0:020d}.log"
    size = log.size // 3
    with path.open("r+b") as file:
        file.seek(size + 8)
        file.write(b"\xff\xff\xff\xff")

    assert parse_header(log.read(0, 10, log.end).read()).base_offset == 0
    with pytest.raises(CorruptBatch, match=f"log is damaged: The batch at byte {size}"):
        log.read(2, 1000, log.end)


def test_a_compacted_segment_takes_the_place_of_others(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    fill(log, 100)
    log.flush()
    old = log.segments[:3]
    following = log.segments[3].base_offset
    upper = log.end
    log.read(0, 1000, upper)

    log.replace_segments(old, write_cleaned(log, [5, 17]))

    assert [segment.base_offset for segment in log.segments][:2] == [0, following]
    kept = [5, 17, *range(following, 100)]
    assert [record.offset for record in read_all(log)] == kept
    assert log.read(6, 1000, upper).read()[:8] == (17).to_bytes(8, "big")
    # An empty batch says up to where records are gone, so that a restart knows it as well.
    empty = parse_header(log.read(18, 1000, upper).read())
    assert (empty.record_count, empty.next_offset) == (0, old[-1].base_offset + 1)
    assert log.read(empty.next_offset, 1000, upper).read()[:8] == following.to_bytes(8, "big")
    assert not list(log.directory.glob("*.cleaned"))
    assert not list(log.directory.glob("*.swap"))
    log.close()
    assert [record.offset for record in read_all(open_log(tmp_path, SMALL_SEGMENTS))] == kept


def test_segments_can_vanish_completely(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    fill(log, 100)
    old = log.segments[1:3]
    first, following = log.segments[1].base_offset, log.segments[3].base_offset

    log.replace_segments(old, None)

    kept = [*range(first), *range(following, 100)]
    assert [record.offset for record in read_all(log)] == kept


def test_a_high_watermark_from_before_a_compaction_still_bounds_reads(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    fill(log, 50)
    log.flush()
    upper = log.position_of(10)

    log.replace_segments(log.segments[:1], write_cleaned(log, [3, 8, 15]))

    assert log.read(0, 1000, upper).length == log.position_of(10).position
    assert len(log.read(9, 1000, upper)) == 0


@pytest.mark.parametrize("which", [slice(0, 0), slice(-2, None), slice(0, 4, 2)])
def test_only_closed_neighbours_can_be_replaced(tmp_path: Path, which: slice) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    fill(log, 100)
    before = values(log)

    with pytest.raises(LogError, match="not neighbours"):
        log.replace_segments(log.segments[which], None)
    assert values(log) == before


def test_the_records_given_are_the_ones_written(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    view = batch(b"a", b"b")

    log.append(view, leader_epoch=9, now_ms=NOW)

    assert (log.directory / f"{0:020d}.log").read_bytes() == bytes(view)
