"""Disks that refuse: the errors are the kernel's own, the log stays readable and recovers."""

from __future__ import annotations

import os
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import (
    NOW,
    SMALL_SEGMENTS,
    append,
    assert_files_are_sound,
    open_log,
    values,
)

from headwater.log.config import LogConfig
from headwater.log.errors import StorageError
from headwater.log.manager import LogManager

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.log.log import Log


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size`: a write is cut short, the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def replaced_by(fd: int, path: str, flags: int = os.O_RDWR) -> Iterator[None]:
    """Let an open descriptor stand for another file, whose errors are then real."""
    original, other = os.dup(fd), os.open(path, flags)
    os.dup2(other, fd)
    try:
        yield
    finally:
        os.dup2(original, fd)
        os.close(original)
        os.close(other)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    log = open_log(tmp_path, LogConfig(index_interval_bytes=1))
    append(log, b"a" * 100)
    append(log, b"b" * 100)
    log.flush()
    return log


def test_a_write_cut_short_is_taken_back(log: Log) -> None:
    end = log.end

    with file_size_limit(log.size + 50), pytest.raises(StorageError, match="ulimit -f"):
        append(log, b"c" * 100)

    assert log.end == end
    assert Path(log.segments[0].path(".log")).stat().st_size == end.position
    assert values(log) == [b"a" * 100, b"b" * 100]
    assert append(log, b"d").base_offset == 2
    assert values(log) == [b"a" * 100, b"b" * 100, b"d"]
    assert_files_are_sound(log.directory)


@pytest.mark.parametrize("kind", ["offset_index", "time_index"])
def test_an_index_that_cannot_be_written_takes_the_batch_back(log: Log, kind: str) -> None:
    segment = log.segments[0]
    index = getattr(segment, kind)
    taken, counts = 0, (0, 0)

    def append_until_it_fails() -> None:
        nonlocal taken, counts
        # An index that is not short any more writes its entries some dozens at a time.
        for number in range(200):
            counts = segment.offset_index.count, segment.time_index.count
            append(log, b"x", timestamp=NOW + number)
            taken += 1

    for number in range(100):
        append(log, b"w", timestamp=NOW - 100 + number)
    with replaced_by(index.file.fd, index.path, os.O_RDONLY), pytest.raises(StorageError):
        append_until_it_fails()

    assert log.log_end_offset == 102 + taken
    assert 0 < taken < 200
    assert (segment.offset_index.count, segment.time_index.count) == counts
    assert Path(segment.path(".log")).stat().st_size == log.end.position
    # The index could not even be shortened, so that nobody vouches for the log any more.
    assert log.failure is not None
    reopened = values(open_log(log.directory.parent, clean=False))
    assert reopened == [b"a" * 100, b"b" * 100, *[b"w"] * 100, *[b"x"] * taken]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KB."""
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(mount)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk takes rights that this user lacks")
    yield mount
    # The traceback of an expected error may still hold files open, hence lazily.
    subprocess.run(["umount", "-l", str(mount)], check=True)


def test_a_full_disk_gives_an_error_and_later_appends_succeed(small_disk: Path) -> None:
    log = open_log(small_disk)
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(128 << 10))

    def fill_up() -> None:
        for number in range(1000):
            append(log, b"%08d" % number + bytes(1000))

    with pytest.raises(StorageError, match="free some disk space"):
        fill_up()
    count = log.log_end_offset
    assert 0 < count < 1000
    assert len(values(log)) == count

    ballast.unlink()

    assert append(log, b"again").base_offset == count
    log.flush()
    recovered = open_log(small_disk, clean=False)
    assert [value[:8] for value in values(recovered) if value] == [
        *(b"%08d" % number for number in range(count)),
        b"again",
    ]
    assert_files_are_sound(log.directory)


def test_bytes_that_cannot_be_taken_back_end_the_writing(log: Log) -> None:
    with (
        replaced_by(log.segments[0].file.fd, "/dev/full"),
        pytest.raises(StorageError, match="No space left"),
    ):
        append(log, b"c")

    with pytest.raises(StorageError, match="No space left"):
        append(log, b"d")
    assert values(log) == [b"a" * 100, b"b" * 100]
    assert values(open_log(log.directory.parent, clean=False)) == [b"a" * 100, b"b" * 100]


def test_after_a_failed_sync_nothing_is_written_until_the_next_start(log: Log) -> None:
    append(log, b"c")
    with (
        # Syncing a character device fails in the kernel.
        replaced_by(log.segments[0].file.fd, "/dev/null"),
        pytest.raises(StorageError, match="no more writes until the broker is restarted"),
    ):
        log.flush()

    assert log.recovery_point == 2
    with pytest.raises(StorageError, match="no more writes"):
        append(log, b"d")
    with pytest.raises(StorageError, match="no more writes"):
        log.flush()
    upper = log.position_of(log.recovery_point)
    assert len(log.read(0, 1 << 20, upper)) == upper.position
    log.close()

    recovered = open_log(log.directory.parent, clean=False, recovery_point=2)
    assert values(recovered) == [b"a" * 100, b"b" * 100, b"c"]
    append(recovered, b"d")


def test_a_segment_that_cannot_be_created_leaves_the_log_as_it_was(log: Log) -> None:
    end = log.end
    blocker = log.directory / f"{2:020d}.log"
    blocker.write_bytes(b"not ours")

    with pytest.raises(StorageError, match="Beginning a new segment"):
        log.roll(NOW)

    assert log.end == end
    assert blocker.read_bytes() == b"not ours"
    blocker.unlink()
    log.roll(NOW)
    append(log, b"c")
    assert [segment.base_offset for segment in log.segments] == [0, 2]


def test_too_many_open_files_are_an_error_for_one_append_only(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=300))
    append(log, b"x" * 100)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest_free = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        with pytest.raises(StorageError, match="ulimit -n"):
            append(log, b"y" * 200)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert append(log, b"y" * 200).base_offset == 1
    assert len(log.segments) == 2
    assert values(log) == [b"x" * 100, b"y" * 200]


def test_a_directory_that_is_gone_fails_the_flush_but_not_the_log(log: Log) -> None:
    away = log.directory.with_name("away")
    append(log, b"c")
    log.roll(NOW)
    log.directory.rename(away)

    with pytest.raises(StorageError, match="Flushing orders-0 failed"):
        log.flush()
    assert log.recovery_point == 2
    away.rename(log.directory)
    assert log.flush().offset == 3
    assert log.recovery_point == 3


def test_a_failed_log_leaves_no_marker_of_a_clean_shutdown(tmp_path: Path) -> None:
    manager = LogManager(tmp_path, LogConfig())
    manager.load({}, NOW)
    broken = manager.create("broken", 0, bytes(16), SMALL_SEGMENTS, NOW)
    sound = manager.create("sound", 0, bytes(16), SMALL_SEGMENTS, NOW)
    append(broken, b"a")
    append(sound, b"a")
    with replaced_by(broken.segments[0].file.fd, "/dev/null"), pytest.raises(StorageError):
        manager.flush_all()
    assert sound.recovery_point == 1

    manager.close()

    assert not (tmp_path / ".kafka_cleanshutdown").exists()
    again = LogManager(tmp_path, LogConfig())
    again.load({(name, 0): (bytes(16), SMALL_SEGMENTS) for name in ("broken", "sound")}, NOW)
    assert values(again.logs["broken", 0]) == [b"a"]
    assert values(again.logs["sound", 0]) == [b"a"]
