"""One pass of compaction over transactions, and over files that are damaged."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.log.clean_records import batch, record, survivors
from tests.unit.log.segment_files import (
    NOW,
    clean,
    read_batches,
    write_segment,
)

from headwater.log.compaction.record_filter import LastRecord
from headwater.log.dump import dump_file
from headwater.log.errors import CorruptBatch
from headwater.log.indexes.txn_index import AbortedTxn
from headwater.log.records.batch import CRC_POSITION, crc_of
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.record import Record, encode_batch

if TYPE_CHECKING:
    from pathlib import Path


class TestTransactions:
    """Producer 1 commits at offset 2 and aborts at 5; producer 2 writes without transactions."""

    @staticmethod
    def marker(offset: int, *, committed: bool, producer_id: int = 1) -> bytearray:
        key, value = struct.pack(">hh", 0, committed), struct.pack(">hi", 0, 0)
        return encode_batch(
            [Record(offset, NOW, key, value)],
            producer_id=producer_id,
            is_transactional=True,
            is_control=True,
        )

    def write(self, directory: Path) -> None:
        options: Any = {"producer_id": 1, "is_transactional": True}
        write_segment(
            directory,
            0,
            [
                batch(0, ("a", "committed"), ("b", "committed"), **options, base_sequence=0),
                self.marker(2, committed=True),
                batch(3, ("a", "aborted"), ("c", "aborted"), **options, base_sequence=2),
                self.marker(5, committed=False),
                batch(6, ("d", "plain")),
            ],
        )

    ABORTED = AbortedTxn(1, 3, 5, 6)

    def test_aborted_records_go_and_replace_nothing(self, tmp_path: Path) -> None:
        self.write(tmp_path)
        clean(tmp_path, 7, aborted=(self.ABORTED,))
        assert [
            (header.base_offset, header.is_control) for header, _ in read_batches(tmp_path)
        ] == [
            (0, False),
            (2, True),
            (5, True),
            (6, False),
        ]
        assert [each[:2] for each in survivors(tmp_path) if each[1] in "abcd"] == [
            (0, "a"),
            (1, "b"),
            (6, "d"),
        ]
        # The marker is still there, and so is what readers need to know of it.
        lines = [line.text for line in dump_file(tmp_path / f"{0:020d}.txnindex")]
        assert lines == [
            "version: 0 producerId: 1 firstOffset: 3 lastOffset: 5 lastStableOffset: 6"
        ]

    def test_a_marker_goes_after_its_records_and_its_time(self, tmp_path: Path) -> None:
        self.write(tmp_path)
        clean(tmp_path, 7, aborted=(self.ABORTED,))

        def markers() -> list[tuple[int, bool]]:
            return [
                (header.base_offset, header.has_delete_horizon)
                for header, _ in read_batches(tmp_path)
                if header.is_control
            ]

        assert markers() == [(2, False), (5, False)]
        write_segment(tmp_path, 7, [batch(7, ("a", "new"), ("b", "new"))])
        clean(tmp_path, 9, aborted=(self.ABORTED,), now_ms=NOW)
        # The committed records were seen in this pass, the aborted ones no longer.
        assert markers() == [(2, False), (5, True)]
        assert not (tmp_path / f"{0:020d}.txnindex").exists()
        clean(tmp_path, 9, aborted=(), now_ms=NOW + 999)
        assert markers() == [(2, True), (5, True)]
        clean(tmp_path, 9, aborted=(), now_ms=NOW + 1000)
        assert markers() == [(2, True)]
        clean(tmp_path, 9, aborted=(), now_ms=NOW + 2000)
        assert markers() == []
        assert survivors(tmp_path) == [(6, "d", "plain"), (7, "a", "new"), (8, "b", "new")]

    def test_an_active_producer_keeps_its_aborted_batch_or_its_marker(self, tmp_path: Path) -> None:
        self.write(tmp_path)
        active = {1: LastRecord(4, -1)}
        clean(tmp_path, 7, aborted=(self.ABORTED,), active_producers=active)
        counts = {header.base_offset: header.record_count for header, _ in read_batches(tmp_path)}
        assert counts == {0: 2, 2: 1, 3: 0, 5: 1, 6: 1}
        fenced = {1: LastRecord(-1, -1)}
        for now_ms in (NOW, NOW + 1000, NOW + 5000):
            clean(tmp_path, 7, aborted=(), active_producers=fenced, now_ms=now_ms)
        counts = {header.base_offset: header.record_count for header, _ in read_batches(tmp_path)}
        assert counts == {0: 2, 2: 1, 5: 0, 6: 1}

    def test_a_later_transaction_of_the_same_producer_is_not_aborted(self, tmp_path: Path) -> None:
        self.write(tmp_path)
        later = batch(7, ("a", "later"), producer_id=1, is_transactional=True)
        write_segment(tmp_path, 7, [later, self.marker(8, committed=True)])
        clean(tmp_path, 9, aborted=(self.ABORTED,), first_dirty_offset=7)
        assert (7, "a", "later") in survivors(tmp_path)
        assert (0, "a", "committed") not in survivors(tmp_path)
        # The same with an index that still lists a transaction whose marker is gone.
        write_segment(tmp_path, 9, [batch(9, ("e", "1"), producer_id=1, is_transactional=True)])
        clean(tmp_path, 10, aborted=(self.ABORTED, AbortedTxn(1, 0, 1, 2)))
        assert {"a", "e"} <= {key for _, key, _ in survivors(tmp_path)}

    def test_without_a_list_of_aborted_ones_nothing_is_lost(self, tmp_path: Path) -> None:
        self.write(tmp_path)
        write_segment(tmp_path, 7, [batch(7, ("b", "plain"))])
        clean(tmp_path, 8, now_ms=NOW)
        clean(tmp_path, 8, now_ms=NOW + 10**9)
        found = [(offset, key) for offset, key, _ in survivors(tmp_path)]
        assert [each for each in found if each[1] in "abcd"] == [
            (0, "a"),
            (3, "a"),
            (4, "c"),
            (6, "d"),
            (7, "b"),
        ]
        assert sum(header.is_control for header, _ in read_batches(tmp_path)) == 2


class TestDamage:
    def test_a_wrong_crc_stops_the_pass_and_leaves_no_files(self, tmp_path: Path) -> None:
        damaged = batch(2, ("a", "2"), ("b", "2"))
        damaged[CRC_POSITION] ^= 1
        write_segment(tmp_path, 0, [batch(0, ("a", "1"), ("b", "1")), damaged])
        before = (tmp_path / f"{0:020d}.log").read_bytes()
        for dirty in (0, 4):
            with pytest.raises(CorruptBatch, match=r"0000\.log is damaged.*offset 2.*CRC"):
                clean(tmp_path, 4, first_dirty_offset=dirty)
            assert not list(tmp_path.glob("*.cleaned"))
        assert (tmp_path / f"{0:020d}.log").read_bytes() == before

    @pytest.mark.parametrize("tail", [b"\x00" * 30, bytes(200), b"\xff" * 100])
    def test_bytes_that_are_no_batch(self, tmp_path: Path, tail: bytes) -> None:
        write_segment(tmp_path, 0, [batch(0, ("a", "1")), tail])
        with pytest.raises(CorruptBatch, match=r"0000\.log is damaged"):
            clean(tmp_path, 1)

    def test_records_that_cannot_be_read(self, tmp_path: Path) -> None:
        malformed = encode_batch([record(0, "a", "1")], codec=CompressionType.GZIP)
        liar = bytearray(malformed)
        struct.pack_into(">i", liar, 57, 3)
        struct.pack_into(">I", liar, CRC_POSITION, crc_of(liar))
        write_segment(tmp_path, 0, [liar])
        with pytest.raises(CorruptBatch):
            clean(tmp_path, 1)

    def test_what_an_interrupted_pass_left_is_written_over(self, tmp_path: Path) -> None:
        write_segment(tmp_path, 0, [batch(0, ("a", "1"), ("a", "2"))])
        for kind in ("log", "index", "timeindex", "txnindex"):
            (tmp_path / f"{0:020d}.{kind}.cleaned").write_bytes(b"x" * 5000)
        clean(tmp_path, 2)
        assert survivors(tmp_path) == [(1, "a", "2")]
        assert not (tmp_path / f"{0:020d}.txnindex").exists()
