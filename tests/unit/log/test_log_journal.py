"""The journal: one sync for many logs, files that are used again, and disks that refuse."""

from __future__ import annotations

import errno
import mmap
import os
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import NOW, append, values, write_cleaned
from tests.unit.log.power_cut import Disk, journal_files
from tests.waiting import wait_for

from headwater.log.config import LogConfig
from headwater.log.errors import StorageError
from headwater.log.file_names import JOURNAL
from headwater.log.journal.journal import LEAST_BYTES, MOST_FILES
from headwater.log.journal.journal_format import BLOCK, LogId
from headwater.log.manager import LogManager

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.log import Log

TOPIC_ID = bytes([7] * 16)
SMALL = LogConfig(segment_bytes=2000, index_interval_bytes=100, file_delete_delay_ms=0)


def start(data_dir: Path, partitions: int = 1, config: LogConfig = SMALL) -> LogManager:
    logs = LogManager(data_dir, config, LEAST_BYTES)
    logs.load({("orders", index): (TOPIC_ID, config) for index in range(partitions)}, NOW)
    return logs


def commit(logs: LogManager) -> list[object]:
    assert logs.journal is not None
    return list(
        logs.journal.commit([(LogId(TOPIC_ID, key[1]), log) for key, log in logs.logs.items()])
    )


def only(logs: LogManager) -> Log:
    return logs.logs["orders", 0]


def write(log: Log, count: int) -> None:
    for number in range(count):
        append(log, b"value %03d" % (log.log_end_offset or number))


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path, monkeypatch)


def test_one_commit_makes_all_logs_safe_and_syncs_none_of_them(tmp_path: Path, disk: Disk) -> None:
    logs = start(tmp_path, 16)
    for log in logs.logs.values():
        append(log, b"kept")
    syncs = disk.syncs

    ends = commit(logs)

    assert ends == [log.end for log in logs.logs.values()]
    assert disk.syncs == syncs
    assert {log.recovery_point for log in logs.logs.values()} == {0}
    disk.lose_all()
    assert [values(log) for log in start(tmp_path, 16).logs.values()] == [[b"kept"]] * 16


def test_a_clean_stop_leaves_no_journal(tmp_path: Path) -> None:
    logs = start(tmp_path)
    append(only(logs), b"kept")
    commit(logs)
    assert journal_files(tmp_path)

    logs.close()

    assert not journal_files(tmp_path)
    assert (tmp_path / ".kafka_cleanshutdown").exists()
    assert values(only(start(tmp_path))) == [b"kept"]


def test_files_are_used_again_once_the_logs_are_on_disk(tmp_path: Path, disk: Disk) -> None:
    logs = start(tmp_path, config=LogConfig())
    log = only(logs)
    for _ in range(60):
        append(log, os.urandom(LEAST_BYTES // MOST_FILES // 8))
        assert commit(logs) == [log.end]

    assert log.recovery_point > 0
    assert len(journal_files(tmp_path)) <= MOST_FILES
    expected = values(log)
    disk.lose_all()
    assert values(only(start(tmp_path, config=LogConfig()))) == expected


def test_more_than_the_journal_can_take_goes_to_the_log_itself(tmp_path: Path) -> None:
    logs = start(tmp_path, config=LogConfig())
    log = only(logs)
    append(log, bytes(LEAST_BYTES // MOST_FILES))

    assert commit(logs) == [log.end]

    assert log.recovery_point == 1
    assert not journal_files(tmp_path)


def test_an_idempotent_producer_is_known_again(tmp_path: Path, disk: Disk) -> None:
    logs = start(tmp_path)
    for sequence in range(3):
        append(only(logs), b"v", producer_id=5, producer_epoch=0, base_sequence=sequence)
    commit(logs)
    disk.lose_all()

    log = only(start(tmp_path))

    again = append(log, b"v", producer_id=5, producer_epoch=0, base_sequence=2)
    assert (again.is_duplicate, again.base_offset) == (True, 2)
    assert append(log, b"v", producer_id=5, producer_epoch=0, base_sequence=3).base_offset == 3


def test_a_start_without_a_journal_replays_the_one_that_is_there(
    tmp_path: Path, disk: Disk
) -> None:
    logs = start(tmp_path)
    append(only(logs), b"kept")
    commit(logs)
    disk.lose_all()

    plain = LogManager(tmp_path, SMALL)
    plain.load({("orders", 0): (TOPIC_ID, SMALL)}, NOW)

    assert values(only(plain)) == [b"kept"]
    assert not journal_files(tmp_path)


def test_a_topic_that_was_made_anew_gets_nothing_of_the_former(tmp_path: Path, disk: Disk) -> None:
    logs = start(tmp_path)
    append(only(logs), b"former")
    commit(logs)
    logs.delete("orders", 0)
    new_id = bytes([8] * 16)
    log = logs.create("orders", 0, new_id, SMALL, NOW)
    append(log, b"new")
    assert logs.journal is not None
    logs.journal.commit([(LogId(new_id, 0), log)])
    disk.lose_all()

    again = LogManager(tmp_path, SMALL)
    again.load({("orders", 0): (new_id, SMALL)}, NOW)

    assert values(only(again)) == [b"new"]


def test_removed_segments_do_not_come_back(tmp_path: Path, disk: Disk) -> None:
    logs = start(tmp_path)
    log = only(logs)
    write(log, 60)
    commit(logs)
    log.delete_records(log.segments[2].base_offset)
    first = log.segments[2].base_offset
    assert log.apply_retention(NOW) == 2
    log.purge_deleted(NOW)
    logs.checkpoint()
    append(log, b"last")
    commit(logs)
    disk.lose_all()

    again = only(start(tmp_path))

    assert again.segments[0].base_offset == again.log_start_offset == first
    assert values(again)[-1] == b"last"


def test_a_compacted_segment_stays_as_it_is(tmp_path: Path, disk: Disk) -> None:
    logs = start(tmp_path)
    log = only(logs)
    write(log, 60)
    commit(logs)
    closed = log.segments[:-1]
    log.replace_segments(closed, write_cleaned(log, [3, 5]))
    log.purge_deleted(NOW)
    expected = values(log)
    assert expected[:2] == [b"value 003", b"value 005"]
    append(log, b"last")
    commit(logs)
    disk.lose_all()

    again = start(tmp_path)

    assert values(only(again)) == [*expected, b"last"]
    assert again.faults.journal_gaps == 0


def test_damage_in_the_middle_is_told_and_costs_only_what_it_hit(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    logs = start(tmp_path, 2)
    for number in range(3):
        for log in list(logs.logs.values())[: 1 + (number != 1)]:
            append(log, b"%d" % number)
        commit(logs)
    disk.lose_all()
    [journal] = journal_files(tmp_path)
    content = bytearray(journal.read_bytes())
    content[BLOCK + 100] ^= 1
    journal.write_bytes(content)

    again = start(tmp_path, 2)

    assert [values(log) for log in again.logs.values()] == [[b"0"], [b"0", b"2"]]
    assert again.faults.journal_gaps == 2
    assert "lacks groups 2 to 2" in caplog.text
    assert "what came before" in caplog.text


def test_a_journal_of_another_history_changes_nothing(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    logs = start(tmp_path)
    append(only(logs), b"journaled")
    commit(logs)
    disk.lose_all()
    [journal] = journal_files(tmp_path)
    stale = journal.read_bytes()
    journal.unlink()
    # A version that knows no journal goes on, and is killed.
    plain = LogManager(tmp_path, SMALL)
    plain.load({("orders", 0): (TOPIC_ID, SMALL)}, NOW)
    append(only(plain), b"other one")
    only(plain).flush()
    journal.write_bytes(stale)

    again = start(tmp_path)

    assert values(only(again)) == [b"other one"]
    assert "has another batch" in caplog.text


def test_a_journal_next_to_the_mark_of_a_clean_stop_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    logs = start(tmp_path)
    append(only(logs), b"kept")
    commit(logs)
    stale = {path: path.read_bytes() for path in journal_files(tmp_path)}
    logs.close()
    for path, content in stale.items():
        path.write_bytes(content)

    assert values(only(start(tmp_path))) == [b"kept"]
    assert "old journal" in caplog.text
    assert not journal_files(tmp_path)


def test_without_room_for_a_journal_each_log_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(fd: int, start: int, length: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    logs = start(tmp_path)
    append(only(logs), b"kept")

    assert commit(logs) == [only(logs).end]

    assert only(logs).recovery_point == 1
    assert not journal_files(tmp_path)
    assert "free some disk space" in caplog.text


def test_a_journal_that_cannot_be_written_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    logs = start(tmp_path)
    log = only(logs)
    write(log, 60)
    commit(logs)

    def malformed(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pwritev", malformed)
    append(log, b"last")

    assert commit(logs) == [log.end]
    assert log.recovery_point == log.log_end_offset
    assert "each log is brought to disk itself" in caplog.text
    # What it had is in the logs by now, so that these can remove their segments.
    log.delete_records(log.log_end_offset)
    wait_for(lambda: _removed(log), "the removal of old segments")
    logs.close()
    assert not journal_files(tmp_path)


def test_a_log_that_cannot_be_synced_keeps_its_entries(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = start(tmp_path, 2, config=LogConfig())
    malformed, sound = logs.logs.values()
    append(malformed, b"kept")
    commit(logs)

    def fail() -> None:
        raise StorageError("the disk reports errors")

    monkeypatch.setattr(malformed, "flush", fail)
    assert logs.journal is not None
    for _ in range(60):
        append(sound, os.urandom(LEAST_BYTES // MOST_FILES // 8))
        assert logs.journal.commit([(LogId(TOPIC_ID, 1), sound)]) == [sound.end]
    expected = values(sound)
    disk.lose_all()

    again = start(tmp_path, 2, config=LogConfig())

    assert [values(log) for log in again.logs.values()] == [[b"kept"], expected]


def test_what_only_the_page_cache_has_is_written_again(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk has refused pages, which the system counts as written and has until it reboots."""
    logs = start(tmp_path)
    write(only(logs), 9)
    commit(logs)
    expected = values(only(logs))
    forgotten: list[range] = []

    def forget(fd: int, start: int, length: int, advice: int) -> None:
        assert advice == os.POSIX_FADV_DONTNEED
        assert start % mmap.PAGESIZE == length % mmap.PAGESIZE == 0
        if not any(start in known for known in forgotten):
            forgotten.append(range(start, start + length))
            end = min(start + length, os.fstat(fd).st_size)
            os.pwrite(fd, bytes(end - start), start)  # what the disk has

    monkeypatch.setattr(os, "posix_fadvise", forget)
    again = start(tmp_path)
    assert forgotten
    assert values(only(again)) == expected


def test_a_deleted_log_fails_alone(tmp_path: Path) -> None:
    logs = start(tmp_path, 2)
    gone, kept = logs.logs.values()
    for log in (gone, kept):
        append(log, b"v")
    gone.delete()

    first, second = commit(logs)

    assert isinstance(first, StorageError)
    assert second == kept.end


def test_its_names_are_no_partitions(tmp_path: Path) -> None:
    logs = start(tmp_path)
    append(only(logs), b"kept")
    commit(logs)

    assert [path.name for path in journal_files(tmp_path)] == [f"{JOURNAL}0"]


def _removed(log: Log) -> bool:
    try:
        return log.apply_retention(NOW) > 0
    except StorageError:
        return False
