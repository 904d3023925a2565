"""A stop with one sync for all logs: what it leaves, what it leaves out, and when it is cut off."""

from __future__ import annotations

import errno
import random
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import NOW, append, assert_files_are_sound, values
from tests.unit.log.power_cut import Disk, journal_files

from headwater.log import closing, manager
from headwater.log.config import LogConfig
from headwater.log.errors import StorageError
from headwater.log.file_system import FileSystem
from headwater.log.journal.journal import LEAST_BYTES
from headwater.log.journal.journal_format import LogId
from headwater.log.manager import LogManager

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOPIC_ID = bytes([7] * 16)
CONFIG = LogConfig(segment_bytes=2000, index_interval_bytes=200)
KEYS = [("orders", index) for index in range(4)]
WANTED = dict.fromkeys(KEYS, (TOPIC_ID, CONFIG))
CLEAN = ".kafka_cleanshutdown"


class PowerCut(Exception):  # noqa: N818 - it states the fact
    """Nothing is done after it."""


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A disk that forgets, and a file system that can be synced as a whole, with few logs too."""
    disk = Disk(tmp_path, monkeypatch)
    monkeypatch.setattr(closing, "MANY_LOGS", 2)
    monkeypatch.setattr(FileSystem, "under", classmethod(lambda cls, directory: cls(directory)))
    monkeypatch.setattr(FileSystem, "sync", lambda _: disk.sync_all())
    return disk


def started(data_dir: Path, journal_bytes: int = LEAST_BYTES) -> LogManager:
    logs = LogManager(data_dir, CONFIG, journal_bytes)
    logs.load(WANTED, NOW)
    return logs


def write(logs: LogManager, chance: random.Random) -> dict[int, list[bytes | None]]:
    """Append to the logs: nothing, a batch, or some segments; and have all of it committed."""
    for key, count in zip(KEYS, (0, 1, 12, chance.randint(0, 12)), strict=True):
        for _ in range(count):
            append(logs.logs[key], chance.randbytes(chance.choice([20, 400])))
    if logs.journal is not None:
        logs.journal.commit([(LogId(TOPIC_ID, key[1]), logs.logs[key]) for key in KEYS])
    return contents(logs)


def contents(logs: LogManager) -> dict[int, list[bytes | None]]:
    return {key[1]: values(logs.logs[key]) for key in KEYS}


@pytest.mark.parametrize("journal_bytes", [0, LEAST_BYTES])
def test_one_sync_brings_all_logs_to_disk(tmp_path: Path, disk: Disk, journal_bytes: int) -> None:
    for life in range(3):
        logs = started(tmp_path, journal_bytes)
        written = write(logs, random.Random(life))
        before = disk.syncs
        logs.close()
        assert disk.syncs == before
        assert (tmp_path / CLEAN).exists()
        assert not journal_files(tmp_path)
        disk.lose_all()
        logs = started(tmp_path, journal_bytes)
        assert contents(logs) == written
        for key in KEYS:
            assert logs.logs[key].recovery_point == logs.logs[key].log_end_offset
            assert_files_are_sound(logs.logs[key].directory)
        logs.close()


def test_few_logs_are_synced_each(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "MANY_LOGS", len(KEYS) + 1)
    monkeypatch.setattr(FileSystem, "sync", lambda _: pytest.fail("others may be writing"))
    logs = started(tmp_path)
    written = write(logs, random.Random(1))
    logs.close()
    disk.lose_all()
    assert contents(started(tmp_path)) == written


def test_a_log_on_another_disk_is_synced_by_itself(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileSystem, "has", lambda _, directory: directory.name != "orders-1")
    monkeypatch.setattr(FileSystem, "sync", lambda _: None)
    logs = started(tmp_path)
    before = disk.syncs
    write(logs, random.Random(1))
    logs.close()
    assert disk.syncs == before + 1


def test_when_a_write_has_failed_the_journal_stays_and_the_next_start_checks(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: FileSystem) -> None:
        raise OSError(errno.EIO, "Input/output error")

    logs = started(tmp_path)
    written = write(logs, random.Random(1))
    monkeypatch.setattr(FileSystem, "sync", fail)
    # Nor can the files' own syncs be relied on, which may have lost the error.
    monkeypatch.setattr("headwater.log.disk.sync_data", lambda _: None)
    logs.close()
    assert "Bringing all logs to disk failed: Input/output error" in caplog.text
    assert not (tmp_path / CLEAN).exists()
    assert journal_files(tmp_path)
    disk.cut_power(random.Random(1))
    monkeypatch.undo()
    assert contents(started(tmp_path)) == written


def test_a_log_that_takes_no_writes_is_no_clean_stop(tmp_path: Path, disk: Disk) -> None:
    logs = started(tmp_path)
    write(logs, random.Random(1))
    logs.logs[KEYS[1]]._flusher.failure = StorageError("the disk is broken")
    logs.close()
    assert not (tmp_path / CLEAN).exists()
    assert journal_files(tmp_path)


def test_a_log_that_cannot_be_completed_is_no_clean_stop(
    tmp_path: Path, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    logs = started(tmp_path)
    write(logs, random.Random(1))
    segment = logs.logs[KEYS[1]].segments[-1]
    segment.time_index.path = str(tmp_path / "nowhere" / "index")
    segment.time_index.close_file()
    logs.close()
    assert "Closing orders-1 failed" in caplog.text
    assert not (tmp_path / CLEAN).exists()


@pytest.mark.parametrize("survives", ["the system", "nothing"])
def test_a_stop_that_is_cut_off_anywhere_loses_nothing(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch, survives: str
) -> None:
    """Killed, or without power, before each step of the stop in turn, and in the end after all."""
    chance = random.Random(f"stop {survives}")
    cut_at = steps = -1

    def step(work: Callable[..., object]) -> Callable[..., object]:
        def maybe(*args: object, **kwargs: object) -> object:
            nonlocal steps
            steps += 1
            if cut_at >= 0 and steps >= cut_at:
                raise PowerCut
            return work(*args, **kwargs)

        return maybe

    with monkeypatch.context() as patch:
        patch.setattr(closing, "_complete", step(closing._complete))
        patch.setattr(FileSystem, "sync", step(FileSystem.sync))
        for name in ("write_offsets", "remove_journal", "write_clean_shutdown"):
            patch.setattr(manager, name, step(getattr(manager, name)))
        for life in range(20):
            logs = started(tmp_path)
            written = write(logs, chance)
            steps, cut_at = 0, life + 1
            try:
                logs.close()
            except PowerCut:
                cut_at = -1
            else:
                break
            if survives == "nothing":
                disk.cut_power(chance)
            assert contents(started(tmp_path)) == written
            for key in KEYS:
                assert_files_are_sound(tmp_path / f"{key[0]}-{key[1]}")
        else:
            pytest.fail("the stop has more steps than were tried")
    disk.lose_all()
    assert (tmp_path / CLEAN).exists()
    assert contents(started(tmp_path)) == written
