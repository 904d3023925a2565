"""Producers after a start: from snapshots, from batches, and from what a crash left of both."""

from __future__ import annotations

import logging
import shutil
import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from tests.effort import often
from tests.unit.log.log_batches import NOW, SMALL_SEGMENTS, batch, open_log

from headwater.log.errors import OutOfOrderSequence, StorageError
from headwater.log.log import AppendInfo, AppendOrigin, Log
from headwater.log.producers.producer_entry import ProducerEntry
from headwater.log.producers.producer_snapshot import list_snapshots, snapshot_path, write_snapshot
from headwater.log.records.end_txn_marker import EndTxnMarker, encode_marker


def send(
    log: Log, pid: int, sequence: int, *, epoch: int = 0, size: int = 10, in_txn: bool = False
) -> AppendInfo:
    if in_txn:
        log.producers.allow_transaction(pid, epoch, numbered_from_zero=False)
    return log.append(
        batch(
            b"x" * size,
            producer_id=pid,
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=in_txn,
        ),
        leader_epoch=0,
        now_ms=NOW,
    )


def end(log: Log, pid: int, *, committed: bool, epoch: int = 0) -> AppendInfo:
    marker = encode_marker(
        EndTxnMarker(committed, 0), producer_id=pid, producer_epoch=epoch, timestamp=NOW + 7
    )
    origin = AppendOrigin.COORDINATOR
    return log.append(memoryview(marker), leader_epoch=0, now_ms=NOW, origin=origin)


def known(log: Log) -> tuple[Any, ...]:
    """All that a log knows of its producers and of aborted transactions."""
    producers = {
        entry.producer_id: (
            entry.epoch,
            entry.coordinator_epoch,
            entry.last_timestamp,
            entry.txn_first_offset,
            tuple(entry.batches),
        )
        for entry in log.producers.entries
    }
    aborted = log.aborted_transactions(0, log.log_end_offset)
    return producers, log.producers.first_open_offset, aborted


def test_a_duplicate_has_the_place_of_the_original(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    first = send(log, 1, 0)
    send(log, 2, 0)
    again = send(log, 1, 0)
    assert (again.base_offset, again.last_offset) == (first.base_offset, first.last_offset)
    assert again.is_duplicate
    assert not first.is_duplicate
    assert again.end == log.end
    assert log.log_end_offset == 2
    log.close()


def test_a_clean_start_needs_only_the_snapshot(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for sequence in range(8):
        send(log, 1, sequence)
    before = known(log)
    log.close()
    assert list(list_snapshots(log.directory)) == [8]
    again = open_log(tmp_path)
    assert known(again) == before
    assert send(again, 1, 3).base_offset == 3
    with pytest.raises(OutOfOrderSequence):
        send(again, 1, 2)
    again.close()
    # The batches are not looked at: what the snapshot says is believed.
    write_snapshot(snapshot_path(log.directory, 8), [ProducerEntry(99, 4)])
    believing = open_log(tmp_path)
    assert list(known(believing)[0]) == [99]
    believing.close()


def test_each_segment_begins_with_a_snapshot_and_takes_it_along(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    for sequence in range(60):
        send(log, 1, sequence, size=100)
    bases = [segment.base_offset for segment in log.segments]
    assert len(bases) > 3
    assert list(list_snapshots(log.directory)) == bases[1:]
    log.flush()
    log.delete_records(bases[2])
    log.apply_retention(NOW)
    assert list(list_snapshots(log.directory)) == bases[2:]
    log.close()
    again = open_log(tmp_path, SMALL_SEGMENTS, log_start_offset=bases[2])
    send(again, 1, 60)
    again.apply_retention(NOW)
    assert list(list_snapshots(log.directory)) == [*bases[2:], 60]
    again.close()


def test_a_damaged_snapshot_is_replaced_by_an_older_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    for sequence in range(60):
        send(log, 1, sequence, size=100)
    before = known(log)
    log.close()
    newest = snapshot_path(log.directory, 60)
    newest.write_bytes(newest.read_bytes()[:-1])
    with caplog.at_level(logging.WARNING):
        again = open_log(tmp_path, SMALL_SEGMENTS)
    assert "checksum" in caplog.text
    assert known(again) == before
    assert not newest.exists()
    again.close()


def test_a_snapshot_of_what_was_cut_off_is_removed(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for sequence in range(10):
        send(log, 1, sequence)
    log.flush()
    size = log.segments[0].size
    write_snapshot(snapshot_path(log.directory, 10), log.producers.entries)
    with open(log.segments[0].path(".log"), "r+b") as file:
        file.truncate(size - 5)
    again = open_log(tmp_path, clean=False)
    assert again.log_end_offset == 9
    assert list(list_snapshots(log.directory)) == []
    assert send(again, 1, 9).base_offset == 9
    again.close()


def test_aborted_transactions_are_indexed_again_after_a_crash(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 1, 0, in_txn=True)
    send(log, 2, 0, in_txn=True)
    end(log, 1, committed=False)
    before = known(log)
    assert [txn.first_offset for txn in before[2]] == [0]
    log.flush()
    index = Path(log.segments[0].path(".txnindex"))
    index.write_bytes(index.read_bytes() * 3 + b"torn")
    again = open_log(tmp_path, clean=False)
    assert known(again) == before
    assert again.producers.first_unstable_offset(again.log_end_offset) == 1
    again.close()


def test_a_marker_that_cannot_be_indexed_is_not_written(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 1, 0, in_txn=True)
    before = log.end
    Path(log.segments[0].path(".txnindex")).mkdir()
    with pytest.raises(StorageError):
        end(log, 1, committed=False)
    assert log.end == before
    Path(log.segments[0].path(".txnindex")).rmdir()
    end(log, 1, committed=False)
    assert [txn.first_offset for txn in log.aborted_transactions(0, 2)] == [0]
    log.close()


step = st.one_of(
    st.tuples(st.just("send"), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("end"), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("roll"), st.just(0), st.just(False)),
    st.tuples(st.just("flush"), st.just(0), st.just(False)),
)


class Writer:
    """Takes steps as producers and a coordinator would, never a wrong one."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.next: dict[int, tuple[int, int]] = {}
        self.open: set[int] = set()

    def take(self, what: str, pid: int, choice: bool) -> None:
        epoch, sequence = self.next.get(pid, (0, 0))
        if what == "send":
            in_txn = pid in self.open or choice
            send(self.log, pid, sequence, epoch=epoch, size=60, in_txn=in_txn)
            self.next[pid] = (epoch, sequence + 1)
            if in_txn:
                self.open.add(pid)
        elif what == "end" and pid in self.open:
            end(self.log, pid, committed=choice, epoch=epoch + 1)
            self.next[pid] = (epoch + 1, 0)
            self.open.discard(pid)
        elif what == "roll":
            self.log.roll(NOW)
        elif what == "flush":
            self.log.flush()


@settings(max_examples=often(40, in_soak=500), deadline=None)
@given(
    st.lists(step, min_size=5, max_size=60),
    st.integers(0, 400),
    st.lists(st.integers(0, 5), max_size=3),
)
def test_whatever_a_crash_leaves_the_batches_decide(
    steps: list[tuple[str, int, bool]], cut: int, lost: list[int]
) -> None:
    """Snapshots and indexes may be stale, torn or gone: the answer is that of a full replay."""
    with tempfile.TemporaryDirectory() as directory:
        log = open_log(Path(directory) / "a", SMALL_SEGMENTS)
        writer = Writer(log)
        for each in steps:
            writer.take(*each)
        recovery_point = log.recovery_point
        active = log.segments[-1]
        unflushed = log.end.offset - max(recovery_point, active.base_offset)
        if unflushed and active.size:
            floor = log.position_of(max(recovery_point, active.base_offset)).position
            with open(active.path(".log"), "r+b") as file:
                file.truncate(max(floor, active.size - cut))
        snapshots = list(list_snapshots(log.directory).values())
        for number in lost:
            if number < len(snapshots):
                snapshots[number].write_bytes(b"lost")
        plain = Path(directory) / "b" / log.directory.name
        shutil.copytree(log.directory, plain)
        for path in (*plain.glob("*.snapshot"), *plain.glob("*.txnindex")):
            path.unlink()

        recovered = open_log(
            Path(directory) / "a", SMALL_SEGMENTS, clean=False, recovery_point=recovery_point
        )
        replayed = open_log(Path(directory) / "b", SMALL_SEGMENTS, clean=False)
        assert recovered.log_end_offset == replayed.log_end_offset
        assert known(recovered) == known(replayed)
        recovered.close()
        reopened = open_log(Path(directory) / "a", SMALL_SEGMENTS)
        assert known(reopened) == known(replayed)
        reopened.close()
        replayed.close()
