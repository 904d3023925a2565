"""The log of a partition: appending and reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import (
    NOW,
    SMALL_SEGMENTS,
    TOPIC_ID,
    append,
    assert_files_are_sound,
    fill,
    open_log,
    values,
)

from headwater.log.config import LogConfig
from headwater.log.errors import OffsetOutOfRange
from headwater.log.log import LogPosition
from headwater.log.records.batch import parse_header

if TYPE_CHECKING:
    from pathlib import Path


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
