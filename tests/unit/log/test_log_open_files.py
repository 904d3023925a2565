"""More files than may be open: they come and go, and nobody who uses one notices."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.unit.log.log_batches import append, open_log, values

from headwater.log import open_files as module
from headwater.log.config import LogConfig
from headwater.log.open_files import FileHolder, OpenFiles

MANY = 30


class Holder(FileHolder):
    """A file and nothing else."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    @property
    def file_path(self) -> str:
        return str(self._path)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> OpenFiles:
    """So few descriptors that almost every use has to open a file."""
    few = OpenFiles(lambda: 4)
    monkeypatch.setattr(module, "open_files", few)
    return few


def open_descriptors(directory: Path) -> int:
    count = 0
    for fd in Path("/proc/self/fd").iterdir():
        try:
            count += str(fd.readlink()).startswith(str(directory))
        except FileNotFoundError:
            continue
    return count


def holders(directory: Path, count: int) -> list[Holder]:
    for number in range(count):
        (directory / str(number)).write_bytes(b"%d" % number)
    return [Holder(directory / str(number)) for number in range(count)]


def test_no_more_are_open_than_may_be(tmp_path: Path, few: OpenFiles) -> None:
    files = holders(tmp_path, MANY)
    for _ in range(2):
        for number, holder in enumerate(files):
            assert holder.file.read(9, 0) == b"%d" % number
            assert open_descriptors(tmp_path) <= 4
    assert len(few) == 4


def test_what_is_used_again_and_again_stays_open(tmp_path: Path, few: OpenFiles) -> None:
    hot, *others = holders(tmp_path, MANY)
    file = hot.file
    for holder in others:
        assert hot.file is file
        holder.file.read(1, 0)


def test_what_is_not_on_disk_stays_open(tmp_path: Path, few: OpenFiles) -> None:
    written, *others = holders(tmp_path, MANY)
    file = written.file
    file.write(b"new", 0)
    for holder in others:
        holder.file.read(1, 0)
    assert written.file is file
    file.sync()
    for holder in others:
        holder.file.read(1, 0)
    assert written.file is not file
    assert written.file.read(3, 0) == b"new"


def test_where_nothing_is_on_disk_the_limit_still_holds(tmp_path: Path, few: OpenFiles) -> None:
    for holder in holders(tmp_path, MANY):
        holder.file.write(b"x", 0)
    assert open_descriptors(tmp_path) <= 4


def test_a_reader_keeps_what_it_reads_from(tmp_path: Path, few: OpenFiles) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=200))
    for number in range(60):
        append(log, b"value %03d" % number)
    log.flush()
    slices = [log.read(offset, 1 << 20, log.end) for offset in range(0, 60, 2)]
    log.delete_records(50)
    log.apply_retention(0)
    for offset, batches in zip(range(0, 60, 2), slices, strict=True):
        assert b"value %03d" % offset in batches.read()


def test_a_log_lives_with_four_descriptors(tmp_path: Path, few: OpenFiles) -> None:
    config = LogConfig(segment_bytes=2000, index_interval_bytes=100)
    expected = [b"value %03d" % number for number in range(200)]
    log = open_log(tmp_path, config)
    for number, value in enumerate(expected):
        append(log, value)
        if number % 10 == 0:
            log.flush()
    assert values(log) == expected
    log.close()
    assert values(open_log(tmp_path, config)) == expected
    assert values(open_log(tmp_path, config, clean=False)) == expected


def test_threads_never_read_from_a_file_that_was_closed_under_them(
    tmp_path: Path, few: OpenFiles
) -> None:
    files = holders(tmp_path, 12)
    wrong: list[object] = []

    def read(start: int) -> None:
        try:
            for turn in range(2000):
                number = (start + turn * 5) % len(files)
                found = files[number].file.read(9, 0)
                if found != b"%d" % number:
                    wrong.append((number, found))
        except OSError as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(start,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert open_descriptors(tmp_path) <= 4


def test_a_file_that_nobody_has_any_more_is_closed(tmp_path: Path, few: OpenFiles) -> None:
    files = holders(tmp_path, 3)
    for holder in files:
        assert os.fstat(holder.file.fd)
    del files, holder
    assert open_descriptors(tmp_path) == 0
