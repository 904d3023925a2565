"""One pass of compaction: what is kept, where it ends up, and in which form."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.clean_records import batch, record, survivors
from tests.unit.log.segment_files import (
    NOW,
    clean,
    job_for,
    read_batches,
    read_records,
    segment_bases,
    write_segment,
)

from headwater.log.compaction.clean_job import CleanedGroup, CleanJob
from headwater.log.compaction.clean_pass import SegmentSize, clean_pass, group_segments
from headwater.log.compaction.offset_map import BYTES_PER_KEY
from headwater.log.compaction.record_filter import LastRecord
from headwater.log.dump import dump_file
from headwater.log.dump_lines import IndexLine, Problem, TimeIndexLine
from headwater.log.indexes.txn_index import AbortedTxn
from headwater.log.records.batch import TimestampType, parse_header
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.record import Record, encode_batch

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("batch_size", [1, 2, 3, 11])
@pytest.mark.parametrize("segment_batches", [1, 2, 100])
@pytest.mark.parametrize("codec", CompressionType)
def test_the_example_of_the_documents(
    tmp_path: Path, batch_size: int, segment_batches: int, codec: CompressionType
) -> None:
    keys = ["K1", "K2", "K1", "K1", "K3", "K2", "K4", "K5", "K5", "K2", "K6"]
    records = [record(offset, key, f"V{offset + 1}") for offset, key in enumerate(keys)]
    batches = [
        encode_batch(records[start : start + batch_size], codec=codec)
        for start in range(0, len(records), batch_size)
    ]
    for start in range(0, len(batches), segment_batches):
        base = parse_header(batches[start]).base_offset
        write_segment(tmp_path, base, batches[start : start + segment_batches])
    stats = clean(tmp_path, 11)
    assert survivors(tmp_path) == [
        (3, "K1", "V4"),
        (4, "K3", "V5"),
        (6, "K4", "V7"),
        (8, "K5", "V9"),
        (9, "K2", "V10"),
        (10, "K6", "V11"),
    ]
    assert (stats.end_offset, stats.records_read, stats.records_kept) == (11, 11, 6)
    assert all(each.timestamp == NOW - 1000 + each.offset for each in read_records(tmp_path))


def test_the_clean_part_is_compacted_by_the_dirty_part(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, [batch(0, ("a", "old"), ("b", "kept"), ("b", "also kept"))])
    write_segment(tmp_path, 3, [batch(3, ("a", "new"), ("c", "1"), ("c", "2"))])
    clean(tmp_path, 6, first_dirty_offset=3)
    # The duplicate in the part that counts as clean is not looked for.
    assert survivors(tmp_path) == [
        (1, "b", "kept"),
        (2, "b", "also kept"),
        (3, "a", "new"),
        (5, "c", "2"),
    ]


def test_a_batch_that_stays_whole_is_copied_byte_for_byte(tmp_path: Path) -> None:
    whole = batch(0, ("a", "1"), ("b", "2"), codec=CompressionType.GZIP, level=1, producer_id=5)
    partial = batch(
        2, ("c", "3"), ("d", "4"), ("c", "5"), codec=CompressionType.GZIP, producer_id=5
    )
    write_segment(tmp_path, 0, [whole, partial])
    clean(tmp_path, 5)
    (first, first_bytes), (second, _) = read_batches(tmp_path)
    assert first_bytes == whole
    assert first == parse_header(whole)
    before = parse_header(partial)
    assert second._replace(batch_length=0, crc=0) == before._replace(
        batch_length=0, crc=0, record_count=2
    )


def test_everything_about_a_record_survives_a_rebuilt_batch(tmp_path: Path) -> None:
    records = [
        Record(10, NOW + 5, b"a", b"gone"),
        Record(11, NOW - 70_000, b"b", b"x" * 300, (("h", b"1"), ("n", None))),
        Record(14, NOW + 2, b"a", b""),
    ]
    built = encode_batch(
        records,
        base_offset=8,
        last_offset=20,
        codec=CompressionType.ZSTD,
        leader_epoch=7,
        producer_id=900,
        producer_epoch=3,
        base_sequence=2**31 - 4,
        is_transactional=True,
    )
    write_segment(tmp_path, 8, [built])
    clean(tmp_path, 21, aborted=())
    ((header, _),) = read_batches(tmp_path)
    assert (header.base_offset, header.last_offset, header.leader_epoch) == (8, 20, 7)
    assert (header.producer_id, header.producer_epoch) == (900, 3)
    assert header.base_sequence == 2**31 - 4
    assert header.is_transactional
    assert header.codec == CompressionType.ZSTD
    assert header.max_timestamp == NOW + 2
    assert read_records(tmp_path) == [
        records[1]._replace(sequence=2**31 - 1),
        records[2]._replace(sequence=2),
    ]


def test_log_append_time_stays_the_batchs(tmp_path: Path) -> None:
    append_time = TimestampType.LOG_APPEND_TIME
    write_segment(
        tmp_path,
        0,
        [
            batch(0, ("a", "1"), ("b", "2"), ("c", "3"), timestamp_type=append_time),
            batch(3, ("c", None), ("b", "4"), timestamp_type=append_time),
        ],
    )
    before = [header.max_timestamp for header, _ in read_batches(tmp_path)]
    clean(tmp_path, 5)
    assert [header.max_timestamp for header, _ in read_batches(tmp_path)] == before
    assert [each.timestamp for each in read_records(tmp_path)] == [before[0], before[1], before[1]]


def test_tombstones_go_after_their_time_and_not_before(tmp_path: Path) -> None:
    retention = 1000
    write_segment(tmp_path, 0, [batch(0, ("a", "1"), ("b", "1"), codec=CompressionType.LZ4)])
    write_segment(tmp_path, 2, [batch(2, ("a", None), ("c", "1"), codec=CompressionType.LZ4)])
    write_segment(tmp_path, 4, [batch(4, ("d", "1"))])

    def pass_at(now_ms: int) -> list[tuple[int, str, str | None]]:
        clean(tmp_path, 5, now_ms=now_ms, delete_retention_ms=retention, segment_bytes=1)
        return survivors(tmp_path)

    with_tombstone = [(1, "b", "1"), (2, "a", None), (3, "c", "1"), (4, "d", "1")]
    timestamps = [each.timestamp for each in read_records(tmp_path)]
    assert pass_at(NOW) == with_tombstone
    horizon = NOW + retention
    marked = [header for header, _ in read_batches(tmp_path) if header.has_delete_horizon]
    assert [(header.base_offset, header.base_timestamp) for header in marked] == [(2, horizon)]
    assert [each.timestamp for each in read_records(tmp_path)] == timestamps[1:]
    # The time counts from the first pass that saw it; a later pass does not start it anew.
    assert pass_at(horizon - 1) == with_tombstone
    assert pass_at(horizon) == [(1, "b", "1"), (3, "c", "1"), (4, "d", "1")]


def test_a_tombstone_that_was_replaced_is_not_waited_for(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, [batch(0, ("a", None)), batch(1, ("a", "back"))])
    clean(tmp_path, 2)
    assert survivors(tmp_path) == [(1, "a", "back")]
    assert not any(header.has_delete_horizon for header, _ in read_batches(tmp_path))


def test_records_without_a_key_go(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, [batch(0, (None, "1"), ("a", "1"), (None, "2"))])
    write_segment(tmp_path, 3, [batch(3, (None, "3")), batch(4, ("b", "1"))])
    clean(tmp_path, 5)
    assert survivors(tmp_path) == [(1, "a", "1"), (4, "b", "1")]


def test_an_empty_key_is_a_key(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, [batch(0, ("", "1"), ("a", "1"), ("", "2"))])
    clean(tmp_path, 3)
    assert survivors(tmp_path) == [(1, "a", "1"), (2, "", "2")]


def test_the_end_of_the_section_is_not_forgotten(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, [batch(0, ("a", "1")), batch(1, (None, "x"), (None, "y"))])
    clean(tmp_path, 3)
    assert [(header.last_offset, header.record_count) for header, _ in read_batches(tmp_path)] == [
        (0, 1),
        (2, 0),
    ]


def test_the_last_batch_of_an_active_producer_keeps_its_sequence(tmp_path: Path) -> None:
    write_segment(
        tmp_path,
        0,
        [
            batch(0, ("a", "1"), ("b", "1"), producer_id=1, producer_epoch=4, base_sequence=10),
            batch(
                2,
                ("a", "2"),
                ("b", "2"),
                producer_id=2,
                base_sequence=0,
                codec=CompressionType.SNAPPY,
            ),
            batch(4, ("a", "3"), ("b", "3"), producer_id=3, base_sequence=0),
            batch(6, ("a", "4"), ("b", "4")),
        ],
    )
    active = {1: LastRecord(1, 4), 2: LastRecord(3, -1), 3: LastRecord(99, -1)}
    clean(tmp_path, 8, active_producers=active)
    headers = [header for header, _ in read_batches(tmp_path)]
    assert [(header.producer_id, header.record_count) for header in headers] == [
        (1, 0),
        (2, 0),
        (-1, 2),
    ]
    first = headers[0]
    assert (first.base_offset, first.last_offset, first.base_sequence) == (0, 1, 10)
    assert first.producer_epoch == 4
    assert headers[1].codec == CompressionType.NONE
    # When the producer is forgotten, so is the empty batch.
    clean(tmp_path, 8, first_dirty_offset=0)
    assert [header.base_offset for header, _ in read_batches(tmp_path)] == [6]


def test_a_full_map_ends_the_pass_early_and_the_next_goes_on(tmp_path: Path) -> None:
    keys = [f"k{offset % 40}" for offset in range(200)]
    for base in range(0, 200, 20):
        write_segment(
            tmp_path,
            base,
            [
                batch(start, *((key, f"v{start + i}") for i, key in enumerate(keys[start:][:5])))
                for start in range(base, base + 20, 5)
            ],
        )
    before = survivors(tmp_path)
    latest = {key: offset for offset, key in enumerate(keys)}
    dirty, ends = 0, []
    while dirty < 200:
        stats = clean(
            tmp_path,
            200,
            first_dirty_offset=dirty,
            map_memory=23 * BYTES_PER_KEY,
            segment_bytes=900,
        )
        assert stats.end_offset > dirty
        dirty = stats.end_offset
        ends.append(dirty)
        state: dict[str, str | None] = {}
        for _, key, value in survivors(tmp_path):
            state[key] = value
        assert state == {key: f"v{offset}" for key, offset in latest.items()}
    assert len(ends) > 3
    expected = [entry for entry in before if latest[entry[1]] == entry[0]]
    assert survivors(tmp_path) == expected


def test_a_map_for_one_key_still_makes_progress(tmp_path: Path) -> None:
    write_segment(tmp_path, 0, [batch(0, ("a", "1"), ("b", "1"), ("a", "2"), ("b", "2"))])
    dirty = 0
    while dirty < 4:
        stats = clean(tmp_path, 4, first_dirty_offset=dirty, map_memory=0, load_factor=0.1)
        assert stats.end_offset > dirty
        dirty = stats.end_offset
    assert survivors(tmp_path) == [(2, "a", "2"), (3, "b", "2")]


class TestGrouping:
    def test_small_segments_become_one(self, tmp_path: Path) -> None:
        for base in range(0, 50, 10):
            pairs = [(f"k{base + i:02d}", "v" * 20) for i in range(10)]
            write_segment(tmp_path, base, [batch(base, *pairs)])
        size = (tmp_path / f"{0:020d}.log").stat().st_size
        clean(tmp_path, 50, segment_bytes=2 * size)
        assert segment_bases(tmp_path) == (0, 20, 40)
        assert len(read_records(tmp_path)) == 50
        clean(tmp_path, 50, segment_bytes=1 << 20)
        assert segment_bases(tmp_path) == (0,)
        assert len(read_records(tmp_path)) == 50

    def test_the_limits(self) -> None:
        def groups(*segments: SegmentSize, size: int = 100, index: int = 100) -> list[list[int]]:
            found = group_segments(segments, size, index)
            return [[segment.base_offset for segment in group] for group in found]

        assert groups() == []
        one, two, three = (SegmentSize(b, b + 10, 50, 0, 0) for b in (0, 10, 20))
        assert groups(one, two, three) == [[0, 10], [20]]
        assert groups(one, two, three, size=49) == [[0], [10], [20]]
        one, two = SegmentSize(0, 5, 1, 60, 0), SegmentSize(5, 9, 1, 41, 0)
        assert groups(one, two) == [[0], [5]]
        assert groups(one, two, index=101) == [[0, 5]]
        one, two = SegmentSize(0, 5, 1, 0, 60), SegmentSize(5, 9, 1, 0, 41)
        assert groups(one, two) == [[0], [5]]
        one, two = SegmentSize(0, 5, 1, 0, 0), SegmentSize(5, 2**31, 1, 0, 0)
        assert groups(one, two) == [[0, 5]]
        two = SegmentSize(5, 2**31 + 1, 1, 0, 0)
        assert groups(one, two) == [[0], [5]]

    def test_a_segment_that_would_not_change_is_left_alone(self, tmp_path: Path) -> None:
        write_segment(tmp_path, 0, [batch(0, ("a", "1"), ("b", "1"))])
        write_segment(tmp_path, 2, [batch(2, ("c", "1"), ("c", "2"))])
        results = list(clean_pass(job_for(tmp_path, 4, segment_bytes=1)))
        assert [each.segments for each in results if isinstance(each, CleanedGroup)] == [(2,)]
        assert not (tmp_path / f"{0:020d}.log.cleaned").exists()


def test_the_new_indexes_are_right(tmp_path: Path) -> None:
    batches = [
        batch(offset, (f"k{offset % 300}", "v" * 50), (f"x{offset}", "w" * 20))
        for offset in range(0, 2000, 2)
    ]
    write_segment(tmp_path, 0, batches[:500])
    write_segment(tmp_path, 1000, batches[500:])
    modified = 1_600_000_000_123_456_789
    os.utime(tmp_path / f"{1000:020d}.log", ns=(modified, modified))
    clean(tmp_path, 2000, index_interval_bytes=400)
    assert segment_bases(tmp_path) == (0,)
    log = tmp_path / f"{0:020d}.log"
    assert log.stat().st_mtime_ns == modified
    index = list(dump_file(log.with_suffix(".index")))
    times = list(dump_file(log.with_suffix(".timeindex")))
    assert not [line for line in index + times if isinstance(line, Problem)]
    assert len([line for line in index if isinstance(line, IndexLine)]) > 50
    last = times[-1]
    assert isinstance(last, TimeIndexLine)
    assert last.timestamp == NOW - 1000 + 1999


def test_batches_larger_than_the_read_buffer(tmp_path: Path) -> None:
    large = "x" * (3 << 20)
    write_segment(
        tmp_path,
        0,
        [batch(0, ("a", large)), batch(1, ("b", "1")), batch(2, ("c", large), ("b", large))],
    )
    clean(tmp_path, 4)
    assert [(offset, key) for offset, key, _ in survivors(tmp_path)] == [
        (0, "a"),
        (2, "c"),
        (3, "b"),
    ]


def test_a_job_survives_json(tmp_path: Path) -> None:
    job = job_for(
        tmp_path,
        7,
        active_producers={5: LastRecord(3, 1), 2**60: LastRecord(-1, 0)},
        aborted=(AbortedTxn(1, 2, 3, 4),),
        bytes_per_second=1.5,
    )
    assert CleanJob.from_json(job.to_json()) == job
    assert CleanJob.from_json(job_for(tmp_path, 7).to_json()) == job_for(tmp_path, 7)
