"""Which offsets count as being on disk, and threads that flush and clean while another appends."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tests.unit.log.log_batches import (
    NOW,
    SMALL_SEGMENTS,
    append,
    assert_files_are_sound,
    open_log,
    read_all,
    write_cleaned,
)

from headwater.log.config import LogConfig

if TYPE_CHECKING:
    from pathlib import Path


def test_the_recovery_point_moves_with_each_flush_only(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", b"b")
    assert log.recovery_point == 0

    assert log.flush() == log.end
    assert log.recovery_point == 2
    append(log, b"c")
    assert log.recovery_point == 2
    assert log.flush().offset == 3
    assert log.flush().offset == 3


def test_closed_segments_can_be_flushed_alone(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", b"b")
    log.roll(NOW)
    append(log, b"c")

    log.flush_closed_segments()
    assert log.recovery_point == 2
    log.flush_closed_segments()
    assert log.recovery_point == 2
    log.flush()
    assert log.recovery_point == 3


def test_leader_epochs_are_on_disk_before_the_recovery_point_passes_their_segment(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path)
    path = log.directory / "leader-epoch-checkpoint"
    append(log, b"a", epoch=1)
    log.flush()
    assert not path.exists()
    log.roll(NOW)
    append(log, b"b", epoch=2)
    log.flush()
    assert path.read_text() == "0\n2\n1 0\n2 1\n"


def test_flushes_beside_appends_never_claim_too_much(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    done = threading.Event()
    claimed: list[tuple[int, int]] = []

    def flush() -> None:
        while not done.is_set():
            end = log.flush()
            claimed.append((end.offset, log.recovery_point))
            data = log.read(0, 1 << 30, end)
            assert len(data) <= log.segments[0].size

    with ThreadPoolExecutor(2) as pool:
        flushers = [pool.submit(flush) for _ in range(2)]
        for number in range(600):
            append(log, b"value %03d" % number)
        done.set()
        for flusher in flushers:
            flusher.result()

    log.flush()
    assert all(end <= recovery_point for end, recovery_point in claimed)
    assert log.recovery_point == 600
    assert [record.offset for record in read_all(log)] == list(range(600))
    recovered = open_log(tmp_path, SMALL_SEGMENTS, clean=False, recovery_point=600)
    assert len(read_all(recovered)) == 600
    assert_files_are_sound(log.directory)


def test_retention_beside_appends_and_reads(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=500, retention_bytes=2000))
    done = threading.Event()
    removed = 0

    def retain() -> int:
        nonlocal removed
        while not done.is_set():
            removed += log.apply_retention(NOW)
            log.purge_deleted(NOW)
        return removed

    with ThreadPoolExecutor(1) as pool:
        retention = pool.submit(retain)
        for number in range(600):
            append(log, b"value %03d" % number)
            assert log.read(number, 1000, log.end).read()[:8] == number.to_bytes(8, "big")
        done.set()
        retention.result()

    log.apply_retention(NOW)
    assert removed > 0
    offsets = [record.offset for record in read_all(log)]
    assert offsets == list(range(log.log_start_offset, 600))
    assert log.size < 2000 + 500


def test_compaction_beside_reads(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    for number in range(100):
        append(log, b"value %03d" % number, timestamp=NOW + number)
    log.flush()
    following = log.segments[3].base_offset
    done = threading.Event()

    def read() -> int:
        count = 0
        while not done.is_set():
            for offset in range(100):
                data = log.read(offset, 1 << 20, log.end).read()
                assert int.from_bytes(data[:8], "big") >= offset or offset < following
                assert data
                count += 1
            found = log.offset_for_timestamp(NOW + 90, 100)
            assert found is not None
            assert found.offset == 90
        return count

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        for kept in (range(0, following, 2), range(0, following, 4), range(0, following, 8)):
            first_three = [each for each in log.segments if each.base_offset < following]
            log.replace_segments(first_three, write_cleaned(log, kept))
        done.set()
        assert reader.result() > 0

    assert [each.offset for each in read_all(log)] == [
        *range(0, following, 8),
        *range(following, 100),
    ]


def test_neither_the_first_flush_nor_the_close_of_a_small_log_makes_a_file(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    names = sorted(path.name for path in log.directory.iterdir())
    append(log, b"a", epoch=3)
    log.flush()
    log.close()

    assert sorted(path.name for path in log.directory.iterdir()) == names
    assert open_log(tmp_path).epoch_of(0) == 3


def test_the_close_of_a_larger_log_writes_its_leader_epochs(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(index_interval_bytes=1))
    append(log, b"a", epoch=3)
    append(log, b"b", epoch=3)
    log.close()

    assert (log.directory / "leader-epoch-checkpoint").read_text() == "0\n1\n3 0\n"
