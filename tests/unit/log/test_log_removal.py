"""What goes from a log: records, files, the whole of it, and what compaction replaces."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import (
    NOW,
    SMALL_SEGMENTS,
    append,
    batch,
    fill,
    open_log,
    read_all,
    values,
    write_cleaned,
)

from headwater.log.config import LogConfig
from headwater.log.errors import CorruptBatch, LogError, OffsetOutOfRange, StorageError
from headwater.log.log import LogPosition
from headwater.log.records.batch import parse_header

if TYPE_CHECKING:
    from pathlib import Path


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
