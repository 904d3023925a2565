"""Damage on the disk while a log is in use: it is told, and what is intact can be read."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import (
    NOW,
    append,
    assert_files_are_sound,
    open_log,
    read_all,
    values,
)

from headwater.log.config import LogConfig
from headwater.log.errors import CorruptBatch
from headwater.log.indexes.index_rebuild import rebuild_indexes

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.log import Log

CONFIG = LogConfig(segment_bytes=8000, index_interval_bytes=100)
COUNT = 200
EXPECTED = [b"value %03d" % number for number in range(COUNT)]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A log with closed segments of some eighty batches, with an index entry for every other."""
    log = open_log(tmp_path, CONFIG)
    for number, value in enumerate(EXPECTED):
        append(log, value, timestamp=NOW + number)
    log.flush()
    assert len(log.segments) >= 2
    return log


def path_of(log: Log, kind: str, number: int = 0) -> Path:
    return log.directory / f"{log.segments[number].base_offset:020d}{kind}"


def damage(path: Path, position: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        file.write(data)


def reads_all_offsets(log: Log) -> None:
    for offset in range(COUNT):
        assert values(log, offset)[0] == EXPECTED[offset]


@pytest.mark.parametrize("seed", range(6))
def test_flipped_positions_cost_no_record_and_are_repaired(
    log: Log, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(seed)
    path = path_of(log, ".index")
    entries = path.stat().st_size // 8
    for number in chance.sample(range(entries), k=entries * 9 // 10):
        at = number * 8 + chance.randrange(8)
        damage(path, at, bytes([path.read_bytes()[at] ^ 1 << chance.randrange(8)]))

    reads_all_offsets(log)
    log.faults.close()

    assert log.faults.rebuilt_indexes >= 1
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1
    assert f"{path_of(log, '.log')}: its index is damaged" in told[0]
    assert "rebuilding it" in told[0]
    assert_files_are_sound(log.directory)
    rebuilt = log.faults.rebuilt_indexes
    reads_all_offsets(log)
    assert log.faults.rebuilt_indexes == rebuilt


@pytest.mark.parametrize("change", ["removed", "emptied", "cut", "zeros", "ones"])
@pytest.mark.parametrize("kind", [".index", ".timeindex"])
def test_an_index_that_somebody_took_away_comes_back(log: Log, kind: str, change: str) -> None:
    log.segments[0].release_indexes()
    path = path_of(log, kind)
    size = path.stat().st_size
    match change:
        case "removed":
            path.unlink()
        case "cut" | "emptied":
            os.truncate(path, 0 if change == "emptied" else size // 2 + 1)
        case _:
            path.write_bytes((b"\x00" if change == "zeros" else b"\xff") * size)

    reads_all_offsets(log)
    for number in range(0, COUNT, 7):
        found = log.offset_for_timestamp(NOW + number, COUNT)
        assert found is not None
        assert found.offset == number
    log.faults.close()

    assert path.stat().st_size in (size, size + 12)
    assert_files_are_sound(log.directory)


@pytest.mark.parametrize("seed", range(6))
def test_a_time_index_that_lies_misleads_nobody(log: Log, seed: int) -> None:
    chance = random.Random(seed)
    path = path_of(log, ".timeindex")
    for number in range(path.stat().st_size // 12):
        if chance.random() < 0.5:
            at = number * 12 + chance.randrange(12)
            damage(path, at, bytes([path.read_bytes()[at] ^ 1 << chance.randrange(8)]))

    for number in range(COUNT):
        found = log.offset_for_timestamp(NOW + number, COUNT)
        assert found is not None
        assert found.offset == number
    log.faults.close()
    assert log.faults.rebuilt_indexes
    assert_files_are_sound(log.directory)


def test_retention_does_not_believe_an_index_that_calls_young_records_old(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=2000, retention_ms=60_000))
    for number in range(60):
        append(log, EXPECTED[number], timestamp=NOW + number)
    log.close()
    path = path_of(log, ".timeindex")
    # One entry, of a segment without others: nothing in the index contradicts it.
    assert path.stat().st_size == 12
    damage(path, 0, (NOW - 10**9).to_bytes(8, "big"))

    reopened = open_log(tmp_path, log.config)
    assert reopened.apply_retention(NOW + 1000) == 0
    reopened.faults.close()
    assert reopened.apply_retention(NOW + 1000) == 0
    assert values(reopened) == EXPECTED[:60]
    assert reopened.segments[0].max_timestamp > NOW


@pytest.mark.parametrize(("field", "flip"), [(16, 0x40), (8, 0x40), (11, 0x01)])
def test_a_damaged_batch_is_told_once_and_all_others_are_served(
    log: Log, field: int, flip: int, caplog: pytest.LogCaptureFixture
) -> None:
    target = 30
    found = log.segments[0].locate(target)
    assert found is not None
    position = found[0]
    path = path_of(log, ".log")
    damage(path, position + field, bytes([path.read_bytes()[position + field] ^ flip]))
    log.segments[0].release_indexes()

    lost = []
    for offset in range(COUNT):
        try:
            # What comes after the first batch is up to the client to check.
            assert log.read(offset, 1, log.end).read()[60:].count(EXPECTED[offset])
        except (CorruptBatch, AssertionError):
            lost.append(offset)
    # Those up to the next entry of the index can be found from the damaged one only.
    assert lost
    assert set(lost) <= {target, target + 1, target + 2}
    for _ in range(100):
        if field == 16:
            with pytest.raises(CorruptBatch, match="is damaged"):
                log.read(target, 1 << 20, log.end)
    log.faults.close()

    told = [record.getMessage() for record in caplog.records if "is damaged" in record.getMessage()]
    assert len(told) == len(set(told)) <= 2
    for message in told:
        assert str(path) in message
        assert "at byte" in message
        assert "seek to offset" in message
    assert log.faults.corrupt_batches > (100 if field == 16 else 0)
    assert log.faults.rebuilt_indexes == 0


def test_an_index_is_rebuilt_past_a_damaged_batch(log: Log) -> None:
    segment = log.segments[0]
    found = segment.locate(30)
    assert found is not None
    damage(path_of(log, ".log"), found[0] + 16, b"\x09")
    damage(path_of(log, ".index"), 44, b"\x00\x00\x00\x05")

    rebuild_indexes(log, segment)

    assert log.faults.rebuilt_indexes == 1
    for offset in (*range(30), *range(33, COUNT)):
        assert log.read(offset, 1, log.end).read()[60:].count(EXPECTED[offset])


def test_a_start_keeps_what_lies_behind_a_damaged_batch(log: Log) -> None:
    second = log.segments[1]
    log.close()
    path = path_of(log, ".log")
    size = path.stat().st_size
    damage(path, 16, b"\x09")
    path_of(log, ".timeindex").unlink()

    reopened = open_log(log.directory.parent, CONFIG)

    assert path.stat().st_size == size
    assert values(reopened, 5)[0] == EXPECTED[5]
    assert values(reopened, second.base_offset) == EXPECTED[second.base_offset :]


def test_an_active_index_is_rebuilt_while_it_grows(log: Log) -> None:
    active = log.segments[-1]
    damage(path_of(log, ".index", -1), 4, b"\x00\x00\x00\x05")
    rebuild_indexes(log, active)
    append(log, b"one more", timestamp=NOW + COUNT)
    assert values(log, active.base_offset) == [*EXPECTED[active.base_offset :], b"one more"]
    log.close()
    assert_files_are_sound(log.directory)
    reopened = open_log(log.directory.parent, CONFIG)
    assert [record.offset for record in read_all(reopened)] == list(range(COUNT + 1))


def test_what_a_crash_leaves_of_a_repair_is_cleared_away(log: Log) -> None:
    log.close()
    torn = path_of(log, ".index").with_name(path_of(log, ".index").name + ".tmp")
    torn.write_bytes(b"half of it")
    assert values(open_log(log.directory.parent, CONFIG)) == EXPECTED
    assert not torn.exists()


def test_a_repair_that_the_disk_refuses_is_told_and_reads_go_on(
    log: Log, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("headwater.log.indexes.index_file.write_atomically", full)
    path_of(log, ".index").unlink()
    log.segments[0].release_indexes()
    reads_all_offsets(log)
    log.faults.close()
    assert any("anew failed" in record.getMessage() for record in caplog.records)
    assert log.faults.rebuilt_indexes == 0
