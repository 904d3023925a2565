"""A log against a plain list: any sequence of operations, with crashes and restarts in between."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests.effort import often
from tests.unit.log.log_batches import NOW, assert_files_are_sound, read_all, write_cleaned

from headwater.log.config import LogConfig
from headwater.log.log import Log, TimestampOffset
from headwater.log.records.batch import parse_header
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.record import Record, encode_batch


class LogMachine(RuleBasedStateMachine):
    """What the log must hold is `records`; `start` and `end` are its offsets."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.records: list[Record] = []
        self.start = self.end = 0
        self.epoch = 0
        self.clock = NOW

    def teardown(self) -> None:
        del self.log
        shutil.rmtree(self.directory)

    @initialize(
        segment_bytes=st.integers(300, 3000),
        interval=st.sampled_from([1, 100, 500]),
        index_bytes=st.sampled_from([48, 10 << 20]),
    )
    def create(self, segment_bytes: int, interval: int, index_bytes: int) -> None:
        self.config = LogConfig(
            segment_bytes=segment_bytes,
            index_interval_bytes=interval,
            segment_index_bytes=index_bytes,
            retention_ms=100_000,
            file_delete_delay_ms=0,
        )
        self.open(clean=True)

    def open(self, **options: Any) -> None:
        self.log = Log.open(
            self.directory / "orders-0",
            self.config,
            now_ms=self.clock,
            log_start_offset=self.start,
            **options,
        )

    @rule(
        steps=st.lists(st.integers(-2000, 3000), min_size=1, max_size=4),
        codec=st.sampled_from([CompressionType.NONE, CompressionType.NONE, CompressionType.ZSTD]),
        size=st.integers(0, 40),
    )
    def append(self, steps: list[int], codec: CompressionType, size: int) -> None:
        batch = []
        for delta, step in enumerate(steps):
            self.clock += step
            value = b"%d" % (self.end + delta) + b"." * size
            batch.append(Record(delta, self.clock, b"k", value))
        self.clock = max(self.clock, *(record.timestamp for record in batch))

        info = self.log.append(
            memoryview(encode_batch(batch, codec=codec)),
            leader_epoch=self.epoch,
            now_ms=self.clock,
        )

        assert info.base_offset == self.end
        self.records += [record._replace(offset=self.end + record.offset) for record in batch]
        self.end += len(batch)
        assert info.last_offset == self.end - 1

    @rule(count=st.integers(5, 40), step=st.integers(0, 300))
    def append_many(self, count: int, step: int) -> None:
        for _ in range(count):
            self.append([step], CompressionType.NONE, 10)

    @rule()
    def next_epoch(self) -> None:
        self.epoch += 1

    @rule()
    def roll(self) -> None:
        self.log.roll(self.clock)

    @rule()
    def flush(self) -> None:
        assert self.log.flush() == self.log.end
        assert self.log.recovery_point == self.end

    @rule()
    def close_and_open(self) -> None:
        self.log.close()
        self.open(clean=True)
        assert self.log.recovery_point == self.end

    @rule()
    def crash_and_open(self) -> None:
        self.open(clean=False, recovery_point=self.log.recovery_point)

    @rule()
    def crash_without_a_checkpoint_and_open(self) -> None:
        self.open(clean=False)

    @rule(garbage=st.binary(min_size=1, max_size=200))
    def crash_with_a_torn_write_and_open(self, garbage: bytes) -> None:
        active = Path(self.log.segments[-1].path(".log"))
        with active.open("ab") as file:
            file.write(garbage)
        self.open(clean=False, recovery_point=self.log.recovery_point)

    @rule(share=st.floats(0, 1))
    def delete_records(self, share: float) -> None:
        offset = self.start + int((self.end - self.start) * share)
        self.start = self.log.delete_records(offset)
        assert self.start == offset

    @rule(passed_ms=st.sampled_from([0, 10_000, 200_000]))
    def apply_retention(self, passed_ms: int) -> None:
        self.clock += passed_ms
        self.log.apply_retention(self.clock)
        self.log.purge_deleted(self.clock)
        self.start = self.log.log_start_offset
        expired = [each for each in self.readable if each.timestamp < self.clock - 100_000]
        # Nothing goes but what is old, together with what lies before it.
        assert self.log.segments[-1].size == 0 or len(expired) < len(self.readable) or not expired

    @precondition(lambda self: len(self.log.segments) > 2)
    @rule(data=st.data())
    def compact(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(1, len(self.log.segments) - 1))
        old = self.log.segments[:count]
        if old[0].base_offset != 0:
            return
        upper = self.log.segments[count].base_offset
        present = [record.offset for record in self.records if record.offset < upper]
        kept = data.draw(st.sets(st.sampled_from(present))) if present else set()
        self.records = [
            record._replace(timestamp=NOW + record.offset, value=b"value %03d" % record.offset)
            if record.offset in kept
            else record
            for record in self.records
            if record.offset >= upper or record.offset in kept
        ]
        self.log.replace_segments(old, write_cleaned(self.log, sorted(kept)))

    @property
    def readable(self) -> list[Record]:
        return [record for record in self.records if record.offset >= self.start]

    @invariant()
    def offsets_are_right(self) -> None:
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, self.end)
        assert self.log.recovery_point <= self.end
        assert self.log.size == sum(segment.file.size for segment in self.log.segments)

    @invariant()
    def everything_is_readable(self) -> None:
        assert read_all(self.log) == self.readable

    @rule(share=st.floats(0, 1))
    def read_from_anywhere(self, share: float) -> None:
        offset = self.start + int((self.end - self.start) * share)
        assert read_all(self.log, offset) == [
            record for record in self.readable if record.offset >= offset
        ]

    @rule(share=st.floats(0, 1), limit=st.floats(0, 1))
    def read_up_to_anywhere(self, share: float, limit: float) -> None:
        upper = self.log.position_of(self.start + int((self.end - self.start) * limit))
        offset = self.start + int((self.end - self.start) * share)
        data = self.log.read(offset, 1 << 20, upper).read()
        first_unreadable = self.log.read(upper.offset, 1, self.log.end).read()
        limit_offset = parse_header(first_unreadable).base_offset if first_unreadable else self.end
        position = 0
        while position < len(data):
            header = parse_header(data, position)
            assert header.last_offset >= offset
            assert header.next_offset <= limit_offset
            position += header.size
        if offset < limit_offset and any(
            offset <= record.offset < limit_offset for record in self.readable
        ):
            assert data

    @rule(share=st.floats(-0.1, 1.1))
    def find_a_time(self, share: float) -> None:
        timestamp = NOW - 100 + int((self.clock - NOW + 200) * share)
        found = self.log.offset_for_timestamp(timestamp, self.end)
        expected = next((each for each in self.readable if each.timestamp >= timestamp), None)
        assert (found and found[:2]) == (expected and (expected.timestamp, expected.offset))

    @rule()
    def find_the_latest(self) -> None:
        found = self.log.max_timestamp()
        latest = max((record.timestamp for record in self.readable), default=None)
        if latest is not None:
            assert isinstance(found, TimestampOffset)
            assert found.timestamp >= latest

    @rule()
    def look_at_the_files(self) -> None:
        assert_files_are_sound(self.log.directory)


TestLogModel = LogMachine.TestCase
TestLogModel.settings = settings(
    max_examples=often(40, in_soak=500), stateful_step_count=40, deadline=None
)
