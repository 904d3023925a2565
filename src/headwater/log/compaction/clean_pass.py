"""One pass of compaction over one log: what the child process does, and nothing else.

First the last offset of every key in the uncompacted part goes into an OffsetMap. Then all
segments up to there are copied without the records that the map replaces. Where the map is full
too early, the pass ends there and the next one goes on.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.compaction.clean_job import CleanedGroup, CleanJob, CleanStats
from headwater.log.compaction.cleaned_segment import CleanedSegment
from headwater.log.compaction.cleaned_transactions import CleanedTransactions
from headwater.log.compaction.offset_map import OffsetMap, memory_for
from headwater.log.compaction.record_filter import RecordFilter
from headwater.log.compaction.throttle import Throttle
from headwater.log.file_names import LOG, OFFSET_INDEX, TIME_INDEX, segment_stem
from headwater.log.records.record import uncompressed_records
from headwater.log.records.record_scan import scan_records
from headwater.log.segments.reader import read_batches

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

MAX_OFFSET_RANGE = 2**31 - 1


def clean_pass(job: CleanJob) -> Generator[CleanedGroup | CleanStats]:
    """Yield each group of segments as soon as its successor is on disk, and the stats at last.

    A group whose successor would not differ from it is left alone. Raises CorruptBatch for
    damaged segments and OSError for what the disk refuses; nothing of the log itself has changed
    then, and nothing that was not yielded is left behind.
    """
    return _Pass(job).run()


class SegmentSize(NamedTuple):
    """A segment as grouping sees it; `end_offset` is where the next one starts."""

    base_offset: int
    end_offset: int
    log: int
    offset_index: int
    time_index: int


def group_segments(
    segments: Sequence[SegmentSize], max_bytes: int, max_index_bytes: int
) -> list[list[SegmentSize]]:
    """Put neighbours together as long as one segment can hold them, so that none gets tiny."""
    groups: list[list[SegmentSize]] = []
    for segment in segments:
        together = [*groups[-1], segment] if groups else []
        if (
            together
            and sum(each.log for each in together) <= max_bytes
            and sum(each.offset_index for each in together) <= max_index_bytes
            and sum(each.time_index for each in together) <= max_index_bytes
            and segment.end_offset - 1 - together[0].base_offset <= MAX_OFFSET_RANGE
        ):
            groups[-1] = together
        else:
            groups.append([segment])
    return groups


class _Pass:
    def __init__(self, job: CleanJob) -> None:
        self._job = job
        self._throttle = Throttle(job.bytes_per_second or math.inf)
        self._started = time.perf_counter()
        dirty_offsets = job.upper_offset - job.first_dirty_offset
        self._map = OffsetMap(
            min(job.map_memory, memory_for(dirty_offsets, job.load_factor)), job.load_factor
        )
        self._bytes_read = self._bytes_written = 0
        self._records_read = self._records_kept = 0

    def run(self) -> Generator[CleanedGroup | CleanStats]:
        job = self._job
        sizes = self._segment_sizes()
        self._build_map([size for size in sizes if size.end_offset > job.first_dirty_offset])
        end_offset = self._map.latest_offset + 1
        transactions = CleanedTransactions(job.aborted)
        record_filter = RecordFilter(
            self._map,
            transactions,
            now_ms=job.now_ms,
            delete_retention_ms=job.delete_retention_ms,
            upper_offset=job.upper_offset,
            active_producers=job.active_producers,
        )
        mapped = [size for size in sizes if size.base_offset < end_offset]
        for group in group_segments(mapped, job.segment_bytes, job.segment_index_bytes):
            cleaned = self._clean_group(group, record_filter, transactions)
            if cleaned is not None:
                yield cleaned
        yield CleanStats(
            end_offset,
            self._bytes_read,
            self._bytes_written,
            self._records_read,
            self._records_kept,
            self._map.utilization,
            time.perf_counter() - self._started,
        )

    def _build_map(self, segments: list[SegmentSize]) -> None:
        start = self._job.first_dirty_offset
        transactions = CleanedTransactions(self._job.aborted)
        self._map.latest_offset = start - 1
        for segment in segments:
            for header, batch in read_batches(self._log_path(segment), self._throttle.pay):
                if header.is_control or header.last_offset < start:
                    continue
                if not transactions.is_aborted(header) and not transactions.is_undecided(header):
                    records = uncompressed_records(batch, header)
                    scanned = scan_records(records, header.record_count)
                    if not self._map.put_all(header.base_offset, scanned, start):
                        return
                self._map.latest_offset = header.last_offset
            # There may be a gap before the next segment.
            self._map.latest_offset = segment.end_offset - 1

    def _clean_group(
        self,
        group: list[SegmentSize],
        record_filter: RecordFilter,
        transactions: CleanedTransactions,
    ) -> CleanedGroup | None:
        job = self._job
        cleaned = CleanedSegment(job.directory, group[0].base_offset, job.index_interval_bytes)
        try:
            changed = len(group) > 1
            for segment in group:
                for header, batch in read_batches(self._log_path(segment), self._throttle.pay):
                    self._records_read += header.record_count
                    kept = record_filter.apply(batch, header)
                    if kept is not None:
                        cleaned.append(kept.batch, kept.header)
                        self._records_kept += kept.records
                    changed = changed or kept is None or kept.batch is not batch
            before = sum(segment.log for segment in group)
            self._bytes_read += before
            self._bytes_written += cleaned.size
            aborted = transactions.take_retained()
            if not changed:
                cleaned.discard()
                return None
            self._throttle.pay(cleaned.size)
            modified = Path(self._log_path(group[-1])).stat().st_mtime_ns
            cleaned.finish(aborted, modified)
        except BaseException:
            cleaned.discard()
            raise
        bases = tuple(segment.base_offset for segment in group)
        return CleanedGroup(bases, before, cleaned.size)

    def _segment_sizes(self) -> list[SegmentSize]:
        ends = (*self._job.segments[1:], self._job.upper_offset)
        return [
            SegmentSize(
                base,
                end,
                *(
                    _size(segment_stem(self._job.directory, base) + kind)
                    for kind in (LOG, OFFSET_INDEX, TIME_INDEX)
                ),
            )
            for base, end in zip(self._job.segments, ends, strict=True)
        ]

    def _log_path(self, segment: SegmentSize) -> str:
        return segment_stem(self._job.directory, segment.base_offset) + LOG


def _size(path: str) -> int:
    return Path(path).stat().st_size if path.endswith(LOG) or Path(path).exists() else 0
