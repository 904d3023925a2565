"""The index of aborted transactions against a plain list."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import given

from headwater.log.indexes.txn_index import AbortedTxn, TransactionIndex


def transactions(shape: list[tuple[int, int, int]]) -> list[AbortedTxn]:
    """Aborted transactions with growing markers, of producers that overlap."""
    made: list[AbortedTxn] = []
    last = 0
    for pid, length, step in shape:
        last += step
        made.append(AbortedTxn(pid, max(0, last - length), last, last + 1))
    return made


def test_there_is_no_file_before_the_first_abort(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.txnindex"
    index = TransactionIndex.load(str(path))
    assert index.collect(0, 100) == ([], False)
    index.sync()
    index.truncate(0)
    assert not path.exists()
    index.append(AbortedTxn(1, 2, 3, 4))
    assert path.read_bytes() == struct.pack(">hqqqq", 0, 1, 2, 3, 4)


def test_a_file_of_kafkas_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.txnindex"
    path.write_bytes(
        bytes.fromhex("0000 0000000000000000 0000000000000000 0000000000000001 0000000000000002")
    )
    assert list(TransactionIndex.load(str(path))) == [AbortedTxn(0, 0, 1, 2)]


def test_a_torn_entry_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.txnindex"
    path.write_bytes(struct.pack(">hqqqq", 0, 1, 2, 3, 4) + b"torn")
    index = TransactionIndex.load(str(path))
    index.append(AbortedTxn(5, 6, 7, 8))
    assert list(index) == [AbortedTxn(1, 2, 3, 4), AbortedTxn(5, 6, 7, 8)]
    assert path.stat().st_size == 68


def test_the_last_entry_can_be_taken_back(tmp_path: Path) -> None:
    index = TransactionIndex(str(tmp_path / "00000000000000000000.txnindex"))
    index.append(AbortedTxn(1, 2, 3, 4))
    index.append(AbortedTxn(5, 6, 7, 8))
    index.take_back()
    index.append(AbortedTxn(5, 6, 9, 10))
    assert list(index) == [AbortedTxn(1, 2, 3, 4), AbortedTxn(5, 6, 9, 10)]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 40), st.integers(1, 20)), max_size=150),
    st.integers(0, 500),
    st.integers(0, 500),
)
def test_it_finds_what_a_walk_over_all_finds(
    shape: list[tuple[int, int, int]], start: int, length: int
) -> None:
    expected = transactions(shape)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "0.txnindex"
        index = TransactionIndex.load(str(path))
        for aborted in expected:
            index.append(aborted)
        end = start + length
        found, complete = index.collect(start, end)
        overlapping = [
            txn for txn in expected if txn.last_offset >= start and txn.first_offset < end
        ]
        if complete:
            # What is left out can only have begun after the readable range.
            stable = next(t.last_offset for t in expected if t.last_stable_offset >= end)
            overlapping = [txn for txn in overlapping if txn.last_offset <= max(stable, start)]
            assert found[: len(overlapping)] == overlapping
        else:
            assert found == overlapping
        again = TransactionIndex.load(str(path))
        again.truncate(start)
        assert list(again) == [txn for txn in expected if txn.last_offset < start]
        assert path.exists() == bool(expected)
