"""What the disk takes for one flush, and how much of that a journal saves."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.log.config import LogConfig
from headwater.log.journal.journal_format import LogId
from headwater.log.manager import LogManager
from headwater.log.records.record import Record, encode_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from benchmarks.results import Results

    Way = Callable[[Path, bytes], "Generator[None, None, None]"]

SIZES = {"4 KB": 4 << 10, "64 KB": 64 << 10, "1 MB": 1 << 20}
FILES = 16
FLUSHES = 60
BESIDE = 50 << 20  # bytes a second
SETTLED = 32 << 20

_libc = ctypes.CDLL(None, use_errno=True)
_SYNC_FILE_RANGE_WRITE = 2


def measure(rounds: int, results: Results, say: Callable[[str], None]) -> None:
    """Measure every way of making some bytes durable; they take turns flush by flush."""
    for round_number in range(1, rounds + 1):
        for column, size in SIZES.items():
            say(f"The disk, round {round_number} of {rounds}: {column}")
            data = os.urandom(size)
            _measure_ways(WAYS, column, data, results)
            _measure_ways(BUSY_WAYS, column, data, results)


def _measure_ways(all_ways: Mapping[str, Way], column: str, data: bytes, results: Results) -> None:
    # Not in the temporary directory, which may be in memory.
    directory = Path(tempfile.mkdtemp(prefix="headwater-bench-", dir=Path.cwd()))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, directory)
        ways = {}
        for number, (row, way) in enumerate(all_ways.items()):
            place = directory / str(number)
            place.mkdir()
            ways[row] = stack.enter_context(closing(way(place, data)))
        for flush, (row, flushes) in product(range(-1, FLUSHES), ways.items()):
            started = time.perf_counter()
            next(flushes)
            if flush >= 0:
                results.add(row, "ms", column, 1000 * (time.perf_counter() - started))


def _append(directory: Path, data: bytes) -> Generator[None, None, None]:
    with (directory / "file").open("ab", buffering=0) as file:
        while True:
            file.write(data)
            os.fdatasync(file.fileno())
            yield


def _reserved(directory: Path, data: bytes) -> Generator[None, None, None]:
    with (directory / "file").open("wb", buffering=0) as file:
        os.posix_fallocate(file.fileno(), 0, (FLUSHES + 1) * len(data))
        while True:
            file.write(data)
            os.fdatasync(file.fileno())
            yield


def _overwrite(directory: Path, data: bytes) -> Generator[None, None, None]:
    with (directory / "file").open("wb", buffering=0) as file:
        _fill(file.fileno(), data)
        while True:
            file.write(data)
            os.fdatasync(file.fileno())
            yield


def _overwrite_beside(directory: Path, data: bytes) -> Generator[None, None, None]:
    with _writing(directory / "other"):
        yield from _overwrite(directory, data)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Write to a file as a broker writes its logs, and bring it to disk piece by piece."""
    ended = threading.Event()

    def write() -> None:
        piece, written = os.urandom(1 << 20), 0
        with path.open("wb", buffering=0) as file:
            while not ended.wait(len(piece) / BESIDE):
                file.write(piece)
                written += len(piece)
                if written % SETTLED == 0:
                    os.fdatasync(file.fileno())
                    file.seek(0)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _overwrite_dsync(directory: Path, data: bytes) -> Generator[None, None, None]:
    with (directory / "file").open("wb", buffering=0) as file:
        _fill(file.fileno(), data)
        position = 0
        while True:
            os.pwritev(file.fileno(), [data], position, os.RWF_DSYNC)
            position += len(data)
            yield


def _fill(fd: int, data: bytes) -> None:
    for number in range(FLUSHES + 1):
        os.pwrite(fd, data, number * len(data))
    os.fsync(fd)


def _one_by_one(directory: Path, data: bytes) -> Generator[None, None, None]:
    for fds in _written(directory, data):
        for fd in fds:
            os.fdatasync(fd)
        yield


def _in_threads(directory: Path, data: bytes) -> Generator[None, None, None]:
    with ThreadPoolExecutor(FILES) as threads:
        for fds in _written(directory, data):
            list(threads.map(os.fdatasync, fds))
            yield


def _started_together(directory: Path, data: bytes) -> Generator[None, None, None]:
    for fds in _written(directory, data):
        for fd in fds:
            _libc.sync_file_range(fd, ctypes.c_long(0), ctypes.c_long(0), _SYNC_FILE_RANGE_WRITE)
        for fd in fds:
            os.fdatasync(fd)
        yield


def _whole_file_system(directory: Path, data: bytes) -> Generator[None, None, None]:
    for fds in _written(directory, data):
        _libc.syncfs(fds[0])
        yield


def _written(directory: Path, data: bytes) -> Iterator[list[int]]:
    files = [(directory / str(number)).open("ab", buffering=0) for number in range(FILES)]
    share = data[: len(data) // FILES]
    try:
        while True:
            for file in files:
                file.write(share)
            yield [file.fileno() for file in files]
    finally:
        for file in files:
            file.close()


def _each_log(directory: Path, data: bytes) -> Generator[None, None, None]:
    logs = _logs(directory, 0)
    with ThreadPoolExecutor(8) as threads:
        while True:
            _append_to(logs, data)
            list(threads.map(lambda log: log.flush(), logs.logs.values()))
            yield


def _journal(directory: Path, data: bytes) -> Generator[None, None, None]:
    logs = _logs(directory, 256 << 20)
    assert logs.journal is not None
    named = [(LogId(bytes(16), key[1]), log) for key, log in logs.logs.items()]
    while True:
        _append_to(logs, data)
        logs.journal.commit(named)
        yield


def _logs(directory: Path, journal_bytes: int) -> LogManager:
    logs = LogManager(directory, LogConfig(), journal_bytes)
    logs.load({("t", index): (bytes(16), LogConfig()) for index in range(FILES)}, _now_ms())
    return logs


def _append_to(logs: LogManager, data: bytes) -> None:
    batch = encode_batch([Record(0, _now_ms(), None, data[: len(data) // FILES])])
    for log in logs.logs.values():
        log.append(memoryview(bytearray(batch)), leader_epoch=0, now_ms=_now_ms())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


WAYS: dict[str, Way] = {
    "one file: append, fdatasync": _append,
    "one file with reserved space: write, fdatasync": _reserved,
    "one file that was written before: write, fdatasync": _overwrite,
    "one file that was written before: write with RWF_DSYNC": _overwrite_dsync,
    f"{FILES} files: append, fdatasync of one after the other": _one_by_one,
    f"{FILES} files: append, fdatasync in {FILES} threads": _in_threads,
    f"{FILES} files: append, sync_file_range of all, then fdatasync": _started_together,
    f"{FILES} files: append, syncfs": _whole_file_system,
    f"{FILES} logs: append, flush of each in 8 threads": _each_log,
    f"{FILES} logs: append, one commit of the journal": _journal,
}
BUSY_WAYS: dict[str, Way] = {
    "one file that was written before, beside 50 MB/s: write, fdatasync": _overwrite_beside
}
"""Measured after the others, which they would hold up."""

INTRODUCTION = f"""What one flush costs on the disk of this machine, by how the bytes get there: the
column's bytes in all, in one file or in {FILES}, through the page cache. The last two rows are our
own logs, with a batch for each of them: without [the journal](decisions/0024-journal.md), and with
it. The ways take turns, flush by flush.

A file that grows needs a commit of the file system's own journal for each flush, and waits for
whatever else is in that: this run was on a busy machine, where the difference is largest. On the
same disk with little else to do (20 to 60 flushes each, a script of the same calls), an append and
fdatasync of 64 KB took 0.25 ms, writing it over again 0.14 ms, and 1 MB in 16 files 3.2 ms one
after the other, 1.4 ms in 16 threads, and 0.5 ms in one file that was written before. That last one
is the limit that this disk sets for a group commit of 1 MB: 2 GB/s."""
