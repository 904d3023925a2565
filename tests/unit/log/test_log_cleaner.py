"""The cleaner on real logs: what it chooses, how passes end, and what it leaves alone."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

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

from headwater.log.compaction.clean_process import CleanCalledOff, CleanInterrupted, CleanProcess
from headwater.log.compaction.cleaner import (
    CLEANER_OFFSETS,
    RETRY_MS,
    CleanerConfig,
    CleanResult,
    LogCleaner,
)
from headwater.log.errors import CorruptBatch, StorageError
from headwater.log.log import AppendOrigin
from headwater.log.records.batch import parse_header
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.end_txn_marker import EndTxnMarker, encode_marker

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from headwater.log.compaction.clean_job import CleanedGroup, CleanJob, CleanStats
    from headwater.log.log import Log
    from headwater.log.records.record import Record


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def make_cleaner(logs: Logs, config: CleanerConfig | None = None) -> LogCleaner:
    return LogCleaner(logs, config or CleanerConfig(), start=PassInThisProcess)


def fill(
    log: Log, rounds: int = 20, keys: int = 5, codec: CompressionType = CompressionType.NONE
) -> list[Record]:
    records = []
    for number in range(rounds):
        pairs = [(f"key-{key}", f"{log.name} {number} {'x' * 30}") for key in range(keys)]
        records += append(log, *pairs, codec=codec)
    return records


def checkpoint(logs: Logs) -> str:
    return (logs.data_dir / CLEANER_OFFSETS).read_text()


def test_a_real_child_process_compacts(logs: Logs) -> None:
    log = logs.add("orders")
    records = fill(log, rounds=80, codec=CompressionType.ZSTD)
    assert len(log.segments) > 3
    active = log.segments[-1].base_offset
    results = LogCleaner(logs, CleanerConfig()).run_once(NOW)
    assert [(result.topic, result.partition, result.error) for result in results] == [
        ("orders", 0, None)
    ]
    stats = results[0].stats
    assert stats is not None
    assert stats.end_offset == active
    assert checkpoint(logs) == f"0\n1\norders 0 {active}\n"
    kept = read_log(log)
    assert set(kept) < set(records)
    assert state_of(kept) == state_of(records)
    assert [record for record in kept if record.offset >= active] == records[active:]
    assert len([record for record in kept if record.offset < active]) == 5
    assert not list(log.directory.glob("*.cleaned"))
    assert not list(log.directory.glob("*.swap"))


def test_what_was_compacted_is_there_after_a_restart(logs: Logs) -> None:
    log = logs.add("orders")
    fill(log)
    assert make_cleaner(logs).run_once(NOW)
    kept = read_log(log)
    end = log.log_end_offset
    log.close()
    for clean in (True, False):
        again = open_log(log.directory, clean=clean, recovery_point=end)
        assert read_log(again) == kept
        assert again.log_end_offset == end
        again.close()


def test_every_offset_can_still_be_fetched(logs: Logs) -> None:
    log = logs.add("orders")
    fill(log)
    make_cleaner(logs).run_once(NOW)
    kept = read_log(log)
    for offset in range(log.log_start_offset, log.log_end_offset):
        assert read_log(log, offset) == [record for record in kept if record.offset >= offset]


def test_the_dirtiest_log_is_first_and_then_the_next(logs: Logs) -> None:
    first, second = logs.add("first"), logs.add("second")
    fill(first)
    fill(second)
    cleaner = make_cleaner(logs)
    while cleaner.run_once(NOW):
        pass
    fill(first, rounds=4)
    fill(second, rounds=20)
    assert [result.topic for result in cleaner.run_once(NOW)] == ["second"]
    assert [result.topic for result in cleaner.run_once(NOW)] == ["first"]
    assert cleaner.run_once(NOW) == []


def test_nothing_but_compacted_logs_is_touched(logs: Logs) -> None:
    deleted = logs.add("deleted", compacted_config(cleanup_policy=frozenset({"delete"})))
    both = logs.add("both", compacted_config(cleanup_policy=frozenset({"compact", "delete"})))
    records = fill(deleted)
    fill(both)
    cleaner = make_cleaner(logs)
    assert [result.topic for result in cleaner.run_once(NOW)] == ["both"]
    assert cleaner.run_once(NOW) == []
    assert read_log(deleted) == records


def test_the_checkpoint_survives_a_restart_and_forgets_deleted_logs(logs: Logs) -> None:
    log, gone = logs.add("orders"), logs.add("gone")
    fill(log)
    fill(gone)
    cleaner = make_cleaner(logs)
    while cleaner.run_once(NOW):
        pass
    assert "gone 0 " in checkpoint(logs)
    assert make_cleaner(logs).run_once(NOW) == []
    del logs.logs["gone", 0]
    fill(log)
    assert make_cleaner(logs).run_once(NOW)
    assert "gone" not in checkpoint(logs)


@pytest.mark.parametrize("is_told", [True, False])
def test_a_topic_that_comes_back_is_compacted_from_its_start(logs: Logs, is_told: bool) -> None:
    log = logs.add("orders")
    fill(log)
    cleaner = make_cleaner(logs)
    assert cleaner.run_once(NOW)
    if is_told:
        cleaner.forget("orders", 0)
        assert checkpoint(logs) == "0\n0\n"
    log.delete()
    log = logs.add("orders")
    fill(log, rounds=40)
    assert cleaner.run_once(NOW)[0].first_dirty_offset == 0


def test_a_checkpoint_from_another_life_of_the_log_is_not_believed(logs: Logs) -> None:
    (logs.data_dir / CLEANER_OFFSETS).write_text("0\n1\norders 0 999999\n")
    fill(logs.add("orders"))
    assert make_cleaner(logs).run_once(NOW)[0].first_dirty_offset == 0


def test_a_damaged_checkpoint_costs_work_but_no_data(
    logs: Logs, caplog: pytest.LogCaptureFixture
) -> None:
    (logs.data_dir / CLEANER_OFFSETS).write_bytes(b"\xff\xfe nonsense")
    log = logs.add("orders")
    records = fill(log)
    assert make_cleaner(logs).run_once(NOW)
    assert state_of(read_log(log)) == state_of(records)
    assert CLEANER_OFFSETS in caplog.text


def test_a_small_map_takes_several_passes(logs: Logs) -> None:
    log = logs.add("orders")
    for number in range(60):
        append(log, (f"key-{number % 20}", f"{number}" * 20), (f"other-{number}", "y" * 20))
    records = read_log(log)
    cleaner = make_cleaner(logs, CleanerConfig(dedupe_buffer_size=400))
    ends = []
    while results := cleaner.run_once(NOW):
        assert results[0].stats is not None
        ends.append(results[0].stats.end_offset)
        assert state_of(read_log(log)) == state_of(records)
    assert ends == sorted(set(ends))
    assert len(ends) > 3
    assert ends[-1] == log.segments[-1].base_offset
    keys = [record.key for record in read_log(log) if record.offset < ends[-1]]
    assert len(keys) == len(set(keys))


def end_transaction(log: Log, *, committed: bool) -> None:
    marker = encode_marker(
        EndTxnMarker(committed, 0), producer_id=7, producer_epoch=0, timestamp=NOW
    )
    origin = AppendOrigin.COORDINATOR
    log.append(memoryview(marker), leader_epoch=0, now_ms=NOW, origin=origin)


def begin_transaction(log: Log, *records: tuple[str, str]) -> None:
    log.producers.allow_transaction(7, 0, numbered_from_zero=False)
    append(log, *records, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)


def test_nothing_after_the_start_of_an_open_transaction_counts(logs: Logs) -> None:
    log = logs.add("orders")
    fill(log)
    log.roll(NOW)
    boundary = log.log_end_offset
    begin_transaction(log, ("key-0", "perhaps"))
    fill(log)
    before = read_log(log)
    cleaner = make_cleaner(logs)
    assert cleaner.run_once(NOW)
    assert checkpoint(logs).endswith(f"orders 0 {boundary}\n")
    kept = read_log(log)
    assert len(kept) < len(before)
    assert [record for record in kept if record.offset >= boundary] == before[boundary:]
    assert cleaner.run_once(NOW) == []
    end_transaction(log, committed=True)
    assert cleaner.run_once(NOW)


@pytest.mark.parametrize("committed", [True, False])
def test_only_committed_records_replace_older_ones(logs: Logs, committed: bool) -> None:
    log = logs.add("orders")
    append(log, ("a", "old"))
    begin_transaction(log, ("a", "new"))
    end_transaction(log, committed=committed)
    log.roll(NOW)
    append(log, ("b", "x"))
    assert make_cleaner(logs).run_once(NOW)
    values = [record.value for record in read_log(log) if record.key == b"a"]
    assert values == ([b"new"] if committed else [b"old"])
    # The marker stays for those who are in the middle of the transaction, and the index with it.
    aborted = log.aborted_transactions(0, log.log_end_offset)
    assert [txn.first_offset for txn in aborted] == ([] if committed else [1])


def test_what_is_not_on_disk_replaces_nothing(logs: Logs) -> None:
    log = logs.add("orders")
    fill(log)
    assert log.recovery_point == 0
    jobs: list[tuple[CleanJob, int]] = []

    def start(job: CleanJob) -> PassInThisProcess:
        jobs.append((job, log.recovery_point))
        return PassInThisProcess(job)

    assert LogCleaner(logs, CleanerConfig(), start=start).run_once(NOW)
    ((job, recovery_point),) = jobs
    assert job.upper_offset <= recovery_point


def test_the_last_batch_of_a_producer_leaves_its_sequence(logs: Logs) -> None:
    log = logs.add("orders")
    append(log, ("a", "1"), producer_id=7, producer_epoch=0, base_sequence=0)
    fill(log, keys=1)
    append(log, ("a", "2"))
    log.roll(NOW)
    append(log, ("a", "3"))
    assert make_cleaner(logs).run_once(NOW)
    first = parse_header(log.read(0, 1 << 20, log.end).read())
    assert (first.producer_id, first.record_count) == (7, 0)
    log.close()
    again = open_log(log.directory, clean=False)
    known = again.producers.get(7)
    assert known is not None
    assert known.last_sequence == 0
    again.close()


class TestFailures:
    def damage(self, log: Log) -> None:
        segment = log.segments[1]
        with open(segment.path(".log"), "r+b") as file:
            file.seek(segment.size - 1)
            file.write(b"\xff")

    @pytest.mark.parametrize("in_child", [True, False])
    def test_a_damaged_log_is_left_alone_and_others_go_on(
        self, logs: Logs, caplog: pytest.LogCaptureFixture, in_child: bool
    ) -> None:
        damaged, sound = logs.add("damaged"), logs.add("sound")
        fill(damaged, rounds=25)
        records = fill(sound)
        self.damage(damaged)
        damaged.flush()
        files = sorted(path.name for path in damaged.directory.iterdir())
        cleaner = LogCleaner(logs, CleanerConfig()) if in_child else make_cleaner(logs)
        results = []
        while result := cleaner.run_once(NOW):
            results += result
        assert {result.topic for result in results} == {"damaged", "sound"}
        (failed,) = (result for result in results if result.error)
        assert failed.topic == "damaged"
        assert isinstance(failed.error, CorruptBatch)
        assert cleaner.uncleanable == {("damaged", 0)}
        assert sorted(path.name for path in damaged.directory.iterdir()) == files
        assert state_of(read_log(sound)) == state_of(records)
        (line,) = (each for each in caplog.records if each.levelno == logging.ERROR)
        assert "damaged-0 is damaged" in line.getMessage()
        assert damaged.segments[1].path(".log") in line.getMessage()
        assert cleaner.run_once(NOW + 10 * RETRY_MS) == []

    def test_a_refusing_disk_is_tried_again_later(self, logs: Logs) -> None:
        log = logs.add("orders")
        records = fill(log)

        class FullDisk(PassInThisProcess):
            def results(self) -> Generator[CleanedGroup | CleanStats]:
                yield next(super().results())
                raise StorageError("No space left on device.")

        cleaner = LogCleaner(logs, CleanerConfig(), start=FullDisk)
        (result,) = cleaner.run_once(NOW)
        assert isinstance(result.error, StorageError)
        assert not list(log.directory.glob("*.cleaned"))
        assert not (logs.data_dir / CLEANER_OFFSETS).exists()
        assert state_of(read_log(log)) == state_of(records)
        assert cleaner.run_once(NOW + RETRY_MS - 1) == []
        assert len(cleaner.run_once(NOW + RETRY_MS)) == 1
        assert make_cleaner(logs).run_once(NOW)[0].error is None
        assert state_of(read_log(log)) == state_of(records)

    def test_retention_may_take_the_segments_meanwhile(self, logs: Logs) -> None:
        log = logs.add("orders")
        records = fill(log)

        class Late(PassInThisProcess):
            def results(self) -> Generator[CleanedGroup | CleanStats]:
                results = super().results()
                first = next(results)
                log.delete_records(log.segments[2].base_offset)
                log.apply_retention(NOW)
                yield first
                yield from results

        (result,) = LogCleaner(logs, CleanerConfig(), start=Late).run_once(NOW)
        assert result.error is not None
        assert read_log(log) == records[log.log_start_offset :]
        assert make_cleaner(logs).run_once(NOW + RETRY_MS)[0].error is None
        assert state_of(read_log(log)) == state_of(records)

    def test_a_log_can_be_deleted_meanwhile(
        self, logs: Logs, caplog: pytest.LogCaptureFixture
    ) -> None:
        log = logs.add("orders")
        fill(log)

        class Late(PassInThisProcess):
            def results(self) -> Generator[CleanedGroup | CleanStats]:
                del logs.logs["orders", 0]
                log.delete()
                yield from super().results()

        (result,) = LogCleaner(logs, CleanerConfig(), start=Late).run_once(NOW)
        assert isinstance(result.error, StorageError)

        class Gone(PassInThisProcess):
            def results(self) -> Generator[CleanedGroup | CleanStats]:
                other = logs.logs.pop(("other", 0))
                yield from ()
                raise CleanInterrupted(f"{other.name} went away.")

        fill(logs.add("other"))
        assert LogCleaner(logs, CleanerConfig(), start=Gone).run_once(NOW)[0].error is not None
        assert not [line for line in caplog.records if line.levelno >= logging.WARNING]

    def test_a_log_that_takes_no_writes_is_left_alone(self, logs: Logs) -> None:
        log = logs.add("orders")
        fill(log)
        log._flusher.failure = StorageError("The disk is broken.")
        assert make_cleaner(logs).run_once(NOW) == []


class TestStopping:
    """The pass is stopped in its child process, which is so throttled that it would take hours."""

    started: threading.Event

    def make_cleaner(self, logs: Logs) -> LogCleaner:
        started = self.started = threading.Event()

        class Telling(CleanProcess):
            def results(self) -> Generator[CleanedGroup | CleanStats]:
                started.set()
                yield from super().results()

        return LogCleaner(logs, CleanerConfig(io_max_bytes_per_second=1.0), start=Telling)

    def run_and(self, interrupt: Callable[[], None], cleaner: LogCleaner, logs: Logs) -> None:
        log = logs.add("orders")
        records = fill(log)
        results: list[CleanResult] = []
        thread = threading.Thread(target=lambda: results.extend(cleaner.run_once(NOW)))
        thread.start()
        self.started.wait()
        interrupt()
        thread.join()
        assert read_log(log) == records
        assert not list(log.directory.glob("*.cleaned"))
        assert not (logs.data_dir / CLEANER_OFFSETS).exists()
        (result,) = results
        assert isinstance(result.error, CleanCalledOff)

    def test_stop_gives_up_at_once(self, logs: Logs) -> None:
        cleaner = self.make_cleaner(logs)
        self.run_and(cleaner.stop, cleaner, logs)
        assert cleaner.run_once(NOW) == []
        cleaner.stop()

    def test_forget_waits_for_the_end_of_the_pass(
        self, logs: Logs, caplog: pytest.LogCaptureFixture
    ) -> None:
        cleaner = self.make_cleaner(logs)

        def forget() -> None:
            cleaner.forget("orders", 0)
            assert cleaner._running is None

        self.run_and(forget, cleaner, logs)
        assert not [line for line in caplog.records if line.levelno >= logging.WARNING]


def test_appends_and_reads_go_on_during_a_pass(logs: Logs) -> None:
    log = logs.add("orders")
    records = fill(log, rounds=200, keys=20)
    cleaner = LogCleaner(logs, CleanerConfig())
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.extend(cleaner.run_once(NOW)))
    thread.start()
    rounds = 0
    while thread.is_alive() or rounds < 5:
        records += append(log, (f"key-{rounds % 3}", f"meanwhile {rounds}"))
        if rounds % 50 == 0:
            log.flush()
            seen = read_log(log)
            assert set(seen) <= set(records)
            assert state_of(seen) == state_of(records)
        rounds += 1
    thread.join()
    assert results
    assert getattr(results[0], "error", "missing") is None
    while cleaner.run_once(NOW):
        pass
    assert state_of(read_log(log)) == state_of(records)
    assert len(read_log(log)) < len(records)


def test_segments_merge_as_they_shrink(logs: Logs) -> None:
    log = logs.add("orders")
    fill(log, rounds=100)
    before = len(log.segments)
    cleaner = make_cleaner(logs)
    assert cleaner.run_once(NOW)
    fill(log, rounds=10)
    assert cleaner.run_once(NOW)
    assert len(log.segments) <= before / 5
    log.purge_deleted(NOW + 10)
    on_disk = {path.name for path in log.directory.glob("*.log*")}
    assert on_disk == {f"{segment.base_offset:020d}.log" for segment in log.segments}


def test_settings_of_the_topic_are_those_at_the_time(logs: Logs) -> None:
    log = logs.add("orders", compacted_config(min_cleanable_dirty_ratio=1.0))
    fill(log)
    cleaner = make_cleaner(logs)
    assert cleaner.run_once(NOW) == []
    log.update_config(replace(log.config, min_cleanable_dirty_ratio=0.5))
    assert cleaner.run_once(NOW)
