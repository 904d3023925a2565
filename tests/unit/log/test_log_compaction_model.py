"""Compaction against a plain dictionary: any appends, passes, crashes and moves of the clock."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.effort import often
from tests.unit.log.log_contents import (
    NOW,
    Logs,
    PassInThisProcess,
    append,
    compacted_config,
    open_log,
    read_log,
)

from headwater.log.compaction.cleaner import CleanerConfig, LogCleaner
from headwater.log.records.compression_type import CompressionType

if TYPE_CHECKING:
    from headwater.log.records.record import Record

RETENTION = 1000

keys = st.integers(0, 11).map(lambda number: f"key-{number}")
values = st.none() | st.integers(0, 80).map(lambda size: "v" * size)


class CompactionMachine(RuleBasedStateMachine):
    """A log with a model beside it: every record ever appended, by offset."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="headwater-compaction-"))
        self.now = NOW
        self.appended: list[Record] = []
        self.cleaned_at: list[int] = []

    @initialize(
        segment_bytes=st.sampled_from([800, 1500, 5000]),
        memory=st.sampled_from([0, 200, 1 << 20]),
    )
    def open(self, segment_bytes: int, memory: int) -> None:
        self.config = compacted_config(segment_bytes=segment_bytes, delete_retention_ms=RETENTION)
        self.logs = Logs(self.directory)
        self.log = self.logs.add("t", self.config)
        self.cleaner_config = CleanerConfig(dedupe_buffer_size=memory)
        self.cleaner = LogCleaner(self.logs, self.cleaner_config, start=PassInThisProcess)

    def teardown(self) -> None:
        shutil.rmtree(self.directory)

    @rule(
        pairs=st.lists(st.tuples(keys, values), min_size=1, max_size=6),
        codec=st.sampled_from(CompressionType),
    )
    def append(self, pairs: list[tuple[str, str | None]], codec: CompressionType) -> None:
        self.appended += append(self.log, *pairs, now_ms=self.now, codec=codec)

    @rule(milliseconds=st.integers(1, 2 * RETENTION))
    def wait(self, milliseconds: int) -> None:
        self.now += milliseconds

    @rule()
    def roll(self) -> None:
        self.log.roll(self.now)

    @rule()
    def clean(self) -> None:
        active = self.log.segments[-1].base_offset
        results = self.cleaner.run_once(self.now)
        if not results:
            return
        self.cleaned_at.append(self.now)
        (result,) = results
        assert result.error is None
        assert result.stats is not None
        end = result.stats.end_offset
        assert result.first_dirty_offset < end <= active
        compacted = [record.key for record in read_log(self.log) if record.offset < end]
        assert len(compacted) == len(set(compacted))

    @rule(clean=st.booleans())
    def restart(self, clean: bool) -> None:
        if clean:
            self.log.close()
        self.log = self.logs.logs["t", 0] = open_log(
            self.log.directory,
            self.config,
            clean=clean,
            recovery_point=self.log.recovery_point,
            now_ms=self.now,
        )
        self.cleaner = LogCleaner(self.logs, self.cleaner_config, start=PassInThisProcess)

    @precondition(lambda self: self.appended)
    @rule(data=st.data())
    def fetch(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(0, len(self.appended) - 1))
        everything = read_log(self.log)
        assert read_log(self.log, offset) == [each for each in everything if each.offset >= offset]

    @invariant()
    def the_log_is_what_the_model_says(self) -> None:
        if not hasattr(self, "log"):
            return
        assert self.log.log_end_offset == len(self.appended)
        assert self.log.log_start_offset == 0
        kept = read_log(self.log)
        assert [record.offset for record in kept] == sorted({record.offset for record in kept})
        assert all(record == self.appended[record.offset] for record in kept)
        last = {record.key: record for record in self.appended}
        last_kept = {record.key: record for record in kept}
        for key, record in last.items():
            if record.value is not None or key in last_kept:
                assert last_kept[key] == record
            else:
                # No pass before this one can have started the tombstone's time.
                first_seen = min(at for at in self.cleaned_at if at >= record.timestamp)
                assert self.now >= first_seen + RETENTION


TestCompaction = CompactionMachine.TestCase
TestCompaction.settings = settings(
    deadline=None, max_examples=often(40, in_soak=500), stateful_step_count=40
)
