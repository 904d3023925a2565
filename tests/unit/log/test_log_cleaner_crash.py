"""Compaction that is killed anywhere: the child by SIGKILL, the broker between any two steps."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.log.log_contents import (
    NOW,
    Logs,
    PassInThisProcess,
    append,
    compacted_config,
    open_log,
    read_log,
    state_of,
)

from headwater.log.compaction import cleaner as cleaner_module
from headwater.log.compaction.clean_job import CleanedGroup, CleanJob
from headwater.log.compaction.clean_pass import clean_pass
from headwater.log.compaction.clean_process import CleanCalledOff, CleanInterrupted, CleanProcess
from headwater.log.compaction.cleaner import CleanerConfig, LogCleaner
from headwater.log.compaction.record_filter import LastRecord
from headwater.log.records.compression_type import CompressionType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from headwater.log.log import Log
    from headwater.log.records.record import Record

WORKER = [sys.executable, "-P", "-m", "headwater.log.compaction.clean_worker"]


def fill(log: Log, rounds: int = 60, seed: int = 1) -> list[Record]:
    """Updates and deletions of a few keys in all codecs, over many small segments."""
    chance = random.Random(seed)
    records = []
    for number in range(rounds):
        pairs = [
            (
                f"key-{chance.randrange(30)}",
                None if chance.random() < 0.2 else f"{number} {'x' * 20}",
            )
            for _ in range(chance.randrange(1, 8))
        ]
        records += append(log, *pairs, codec=chance.choice(list(CompressionType)))
    return records


def check(directory: Path, records: list[Record], recovery_point: int) -> None:
    """Open the log as after a crash: it holds the model's state, and only what was written."""
    log = open_log(directory, recovery_point=recovery_point)
    kept = read_log(log)
    assert log.log_end_offset == len(records)
    assert all(record == records[record.offset] for record in kept)
    assert state_of(kept) == state_of(records)
    left = {path.name for path in directory.iterdir() if path.suffix in (".cleaned", ".swap")}
    assert not left
    log.close()


class Crash(BaseException):
    """The broker dies here; nothing may catch it."""


STEPS = ("rename", "unlink", "open", "fsync", "fdatasync", "utime", "ftruncate", "pwrite")


class Dying:
    """Counts the system calls that change files and dies before a chosen one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, die_at: int | None) -> None:
        self.count = 0
        self.die_at = die_at
        for name in STEPS:
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            if self.die_at is not None and self.count >= self.die_at:
                raise Crash
            self.count += 1
            return call(*arguments, **options)

        return step


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Path, list[Record]]:
    log = open_log(tmp_path / "template" / "t-0")
    records = fill(log)
    log.close()
    return log.directory, records


def test_the_broker_dies_before_any_step(tmp_path: Path, filled: tuple[Path, list[Record]]) -> None:
    template, records = filled

    def attempt(name: str, die_at: int | None) -> int:
        logs = Logs(tmp_path / name)
        shutil.copytree(template, logs.data_dir / "t-0")
        log = open_log(logs.data_dir / "t-0", clean=True)
        logs.logs["t", 0] = log
        recovery_point = log.recovery_point
        cleaner = LogCleaner(logs, CleanerConfig(), start=PassInThisProcess)
        with pytest.MonkeyPatch.context() as patched:
            # What the dying cleaner would tidy up stays as it is, as after a real crash.
            dying = Dying(patched, die_at)
            patched.setattr(cleaner_module, "_remove_cleaned", lambda _: None)
            with contextlib.suppress(Crash):
                assert cleaner.run_once(NOW)
        # Locks held by the dead are of no use to the living.
        check(log.directory, records, recovery_point)
        check(log.directory, records, recovery_point)
        shutil.rmtree(logs.data_dir)
        return dying.count

    steps = attempt("whole", None)
    assert steps > 30
    for number in range(steps):
        assert attempt(f"dies-{number}", number) == number


def test_a_pass_that_is_run_again_and_again_after_crashes(
    tmp_path: Path, filled: tuple[Path, list[Record]]
) -> None:
    """Each round dies somewhere else, and the next goes on with what the last one left."""
    template, records = filled
    logs = Logs(tmp_path / "data")
    shutil.copytree(template, logs.data_dir / "t-0")
    chance = random.Random(5)
    now = NOW
    for _ in range(60):
        log = logs.logs["t", 0] = open_log(logs.data_dir / "t-0", recovery_point=0, now_ms=now)
        kept = read_log(log)
        assert all(record == records[record.offset] for record in kept)
        assert state_of(kept) == state_of(records)
        now += 400
        records += append(
            log, (f"key-{chance.randrange(30)}", chance.choice([None, "new"])), now_ms=now
        )
        log.roll(now)
        log.flush()
        cleaner = LogCleaner(logs, CleanerConfig(), start=PassInThisProcess)
        with pytest.MonkeyPatch.context() as patched:
            Dying(patched, chance.randrange(60))
            patched.setattr(cleaner_module, "_remove_cleaned", lambda _: None)
            with contextlib.suppress(Crash):
                cleaner.run_once(now)
    check(logs.data_dir / "t-0", records, 0)


def large_job(
    directory: Path, bytes_per_second: float | None = None
) -> tuple[CleanJob, list[Record]]:
    config = compacted_config(segment_bytes=100_000)
    log = open_log(directory, config)
    records = []
    for number in range(200):
        pairs = [(f"key-{(number * 37 + i) % 900}", "x" * 50) for i in range(40)]
        records += append(
            log, *pairs, codec=CompressionType.LZ4 if number % 2 else CompressionType.NONE
        )
    log.flush()
    job = CleanJob(
        directory=str(directory),
        segments=tuple(segment.base_offset for segment in log.segments[:-1]),
        first_dirty_offset=0,
        upper_offset=log.segments[-1].base_offset,
        now_ms=NOW,
        delete_retention_ms=1000,
        segment_bytes=100_000,
        segment_index_bytes=1 << 20,
        index_interval_bytes=4096,
        map_memory=1 << 20,
        bytes_per_second=bytes_per_second,
    )
    log.close()
    return job, records


def test_the_child_is_killed_at_random_points(tmp_path: Path) -> None:
    chance = random.Random(11)
    logs = Logs(tmp_path)
    log = logs.add("t", compacted_config(segment_bytes=30_000))
    records: list[Record] = []
    outcomes = set()
    for attempt in range(25):
        for number in range(20):
            pairs = [(f"key-{(attempt + number * 37 + i) % 300}", "x" * 50) for i in range(20)]
            records += append(
                log, *pairs, codec=chance.choice([CompressionType.NONE, CompressionType.ZSTD])
            )
        log.roll(NOW)
        # A pass takes about 100 ms; the kill comes anywhere from before its start to its end.
        killer: list[threading.Timer] = []

        def start(job: CleanJob, killer: list[threading.Timer] = killer) -> CleanProcess:
            process = CleanProcess(job)
            killer.append(threading.Timer(chance.uniform(0, 0.2), process.kill))
            killer[0].start()
            return process

        (result,) = LogCleaner(logs, CleanerConfig(), start=start).run_once(NOW)
        killer[0].cancel()
        killer[0].join()
        outcomes.add(type(result.error))
        assert result.error is None or isinstance(result.error, CleanCalledOff)
        kept = read_log(log)
        assert state_of(kept) == state_of(records)
        assert all(record == records[record.offset] for record in kept)
        assert not list(log.directory.glob("*.cleaned"))
        if attempt % 5 == 4:
            log = logs.logs["t", 0] = open_log(
                log.directory, log.config, recovery_point=log.recovery_point
            )
            assert state_of(read_log(log)) == state_of(records)
    assert CleanCalledOff in outcomes


def worker(job: CleanJob) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(job.to_json().encode() + b"\n")
    process.stdin.flush()
    return process


def test_the_child_does_not_outlive_its_parent(tmp_path: Path) -> None:
    # At this rate it would take hours.
    job, records = large_job(tmp_path / "t-0", bytes_per_second=10.0)
    with worker(job) as process:
        assert process.poll() is None
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() != 0
    check(tmp_path / "t-0", records, 0)


def test_the_child_ends_when_a_killed_parent_drops_the_pipe(tmp_path: Path) -> None:
    job, _ = large_job(tmp_path / "t-0", bytes_per_second=10.0)
    parent_code = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen({WORKER!r}, stdin=subprocess.PIPE)\n"
        "child.stdin.write(sys.stdin.buffer.readline())\n"
        "child.stdin.flush()\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    # The pipe reaches its end when the last holder of its other side is gone: the grandchild too.
    alive, held = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", parent_code],
        stdin=subprocess.PIPE,
        stdout=held,
    ) as parent:
        os.close(held)
        assert parent.stdin is not None
        parent.stdin.write(job.to_json().encode() + b"\n")
        parent.stdin.flush()
        assert int(os.read(alive, 100)) > 0
        os.kill(parent.pid, signal.SIGKILL)
        assert os.read(alive, 100) == b""
    os.close(alive)


def test_a_child_without_a_job_just_ends() -> None:
    assert subprocess.run(WORKER, stdin=subprocess.DEVNULL, check=False).returncode != 0


def results_of(job: CleanJob) -> Iterator[object]:
    yield from CleanProcess(job).results()


def test_child_and_function_do_the_same(tmp_path: Path) -> None:
    job, _ = large_job(tmp_path / "t-0")
    # More than a pipe takes in one go.
    producers = {number: LastRecord(number, 0) for number in range(5000)}
    job = replace(job, active_producers=producers)
    here = list(clean_pass(job))
    files = {path.name: path.read_bytes() for path in (tmp_path / "t-0").glob("*.cleaned")}
    there = list(results_of(job))
    assert there[:-1] == here[:-1]
    assert [type(result) for result in here].count(CleanedGroup) > 1
    assert {path.name: path.read_bytes() for path in (tmp_path / "t-0").glob("*.cleaned")} == files


def test_closing_the_results_ends_the_child(tmp_path: Path) -> None:
    job, _ = large_job(tmp_path / "t-0")
    process = CleanProcess(job)
    results = process.results()
    assert isinstance(next(results), CleanedGroup)
    results.close()
    assert process._process is not None
    assert process._process.returncode is not None


def test_somebody_else_kills_the_child(tmp_path: Path) -> None:
    job, records = large_job(tmp_path / "t-0", bytes_per_second=10.0)

    class Victim(CleanProcess):
        def _start(self) -> subprocess.Popen[bytes]:
            process = super()._start()
            os.kill(process.pid, signal.SIGKILL)
            return process

    with pytest.raises(CleanInterrupted, match="code -9") as caught:
        list(Victim(job).results())
    assert not isinstance(caught.value, CleanCalledOff)
    check(tmp_path / "t-0", records, 0)


def test_a_killed_pass_never_starts(tmp_path: Path) -> None:
    job, _ = large_job(tmp_path / "t-0")
    process = CleanProcess(job)
    process.kill()
    with pytest.raises(CleanCalledOff):
        next(process.results())


def test_what_the_child_complains_about_is_passed_on(tmp_path: Path) -> None:
    job, _ = large_job(tmp_path / "t-0")
    (tmp_path / "t-0" / f"{job.segments[-1]:020d}.log").unlink()
    with pytest.raises(CleanInterrupted, match="went away"):
        list(results_of(job))
