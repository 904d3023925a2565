"""What can be asked of a log: where it is, what it has, and the batches from an offset on."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from headwater.log.disk import storage_error
from headwater.log.errors import CorruptBatch, OffsetOutOfRange
from headwater.log.file_names import LOG
from headwater.log.indexes import timestamp_search
from headwater.log.indexes.index_rebuild import rebuild_indexes
from headwater.log.records.batch import HEADER_SIZE, MAGIC, parse_header
from headwater.log.segments.log_segments import LogPosition
from headwater.log.segments.segment import NOWHERE, FileSlice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.log.config import LogConfig
    from headwater.log.indexes.timestamp_search import TimestampOffset
    from headwater.log.indexes.txn_index import AbortedTxn
    from headwater.log.log_loader import LoadedLog
    from headwater.log.records.batch import BatchHeader
    from headwater.log.segments.segment import Segment
    from headwater.log.storage_faults import StorageFaults

_READ_SIZE = 1 << 20


class LogReader:
    """The half of a log that changes nothing; `Log` is the other one."""

    config: LogConfig
    """The settings in force."""

    def __init__(self, name: str, loaded: LoadedLog, faults: StorageFaults) -> None:
        self.name = name
        self.faults = faults
        """Where damage is told and counted."""
        self.lock = threading.RLock()
        """Guards the segments against other threads; held briefly, never during a sync."""
        self.maintenance = threading.Lock()
        """Retention, compaction, repair and deletion exclude each other, also at the disk."""
        self.log_start_offset = loaded.log_start_offset
        self._segments = loaded.segments
        self._epochs = loaded.epochs
        self.producers = loaded.producers
        """Who has written with a producer id; every append keeps it in step with the log."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments as they are now, the active one last."""
        return self._segments.all

    @property
    def end(self) -> LogPosition:
        """Where the next batch goes."""
        return self._segments.end

    @property
    def log_end_offset(self) -> int:
        """The offset that the next record gets."""
        return self._segments.end.offset

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return self._segments.size

    @property
    def leader_epoch(self) -> int:
        """Leader epoch of the last batch, -1 in an empty log."""
        return self._epochs.latest

    def read(
        self, offset: int, max_bytes: int, upper: LogPosition, *, min_one: bool = True
    ) -> FileSlice:
        """Return batches before `upper`, the first of which has `offset` or comes next after it.

        What lies after the first batch may be cut in the middle of a batch. A first batch larger
        than `max_bytes` is returned whole if `min_one`, else nothing is. One call never crosses
        into another segment.
        """
        with self.lock:
            segments = self._segments
            self._check_in_range(offset)
            if offset >= upper.offset:
                segments.remember(upper)
                return FileSlice(NOWHERE, 0, 0)
            try:
                segment, position = segments.find(offset)
                if segment.index_doubt:
                    self._repair_index(segment)
                length = max(0, segments.readable_end(segment, upper) - position)
                if length <= max_bytes:
                    segments.remember(upper)
                elif (first := segment.batch_size(position)) <= max_bytes:
                    length = max_bytes
                else:
                    length = first if min_one else 0
            except OSError as error:
                raise storage_error(error, f"Reading {self.name}") from error
            except CorruptBatch as error:
                self._tell_damage(error)
                raise
            return FileSlice(segment.file, position, length)

    def batches(self) -> Iterator[tuple[BatchHeader, memoryview]]:
        """Walk through the whole batches that are there now, from the log's start to its end."""
        offset, end = self.log_start_offset, self.end
        while offset < end.offset:
            data = memoryview(self.read(offset, _READ_SIZE, end).read())
            position = 0
            while position + HEADER_SIZE <= len(data):
                header = parse_header(data, position)
                if header.magic != MAGIC or header.size < HEADER_SIZE:
                    damage = CorruptBatch(f"{self.name} has a damaged batch at offset {offset}.")
                    self._tell_damage(damage)
                    raise damage
                if position + header.size > len(data):
                    break
                yield header, data[position : position + header.size]
                position += header.size
                offset = header.next_offset
            if not position:
                return

    def position_of(self, offset: int) -> LogPosition:
        """Place of the batch that has `offset`, or of the next one where that is gone."""
        self._check_in_range(offset)
        with self.lock, self._disk(f"Reading {self.name}"):
            segment, position = self._segments.find(offset)
            self._repair_doubted()
            return LogPosition(offset, segment.base_offset, position)

    def offset_for_timestamp(self, timestamp_ms: int, upper_offset: int) -> TimestampOffset | None:
        """First record before `upper_offset` that is not older than `timestamp_ms`."""
        with self.lock, self._disk(f"Reading {self.name}"):
            found = timestamp_search.first_at_or_after(
                self.segments, timestamp_ms, self.log_start_offset, upper_offset
            )
            self._repair_doubted()
            return found

    def max_timestamp(self) -> TimestampOffset | None:
        """First of the records with the largest timestamp; None if no record has one."""
        with self.lock, self._disk(f"Reading {self.name}"):
            found = timestamp_search.largest(self.segments)
            self._repair_doubted()
            return found

    def aborted_transactions(self, start: int, end: int) -> list[AbortedTxn]:
        """Transactions with records from `start` up to `end` that were aborted."""
        with self.lock, self._disk(f"Reading {self.name}"):
            return self._segments.aborted_transactions(start, end)

    def aborted_in(self, batches: FileSlice, start: int, upper: LogPosition) -> list[AbortedTxn]:
        """Aborted transactions with records in what `read` returned for these offsets."""
        if not self._segments.has_aborts:
            return []
        with self.lock, self._disk(f"Reading {self.name}"):
            end = self._segments.offset_after(batches, start, upper)
            return self._segments.aborted_transactions(start, end)

    def epoch_end_offset(self, leader_epoch: int) -> tuple[int, int]:
        """Largest epoch up to the given one and where it ends; (-1, -1) if that is not known."""
        with self.lock:
            return self._epochs.end_of(leader_epoch, self.log_end_offset)

    def epoch_of(self, offset: int) -> int:
        """Leader epoch of the batch at an offset, -1 if that is not known."""
        with self.lock:
            return self._epochs.epoch_of(offset)

    def _check_in_range(self, offset: int) -> None:
        if not self.log_start_offset <= offset <= self.log_end_offset:
            raise OffsetOutOfRange(
                f"Offset {offset} is not in {self.name}, which has "
                f"{self.log_start_offset} to {self.log_end_offset}."
            )

    @contextmanager
    def _disk(self, doing: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise storage_error(error, doing) from error
        except CorruptBatch as error:
            self._tell_damage(error)
            raise

    def _tell_damage(self, error: CorruptBatch) -> None:
        readable_from = None
        for segment, following in pairwise((*self.segments, None)):
            if segment is not None and segment.base_offset == error.segment_base:
                readable_from = segment.offset_after((error.position or 0) + 1)
                if readable_from is None and following is not None:
                    readable_from = following.base_offset
                if segment.index_doubt:
                    self._repair_index(segment)
        self.faults.corrupt_batch(error, readable_from)

    def _repair_doubted(self) -> None:
        for segment in self.segments:
            if segment.index_doubt:
                self._repair_index(segment)

    def _repair_index(self, segment: Segment) -> None:
        """Have the indexes of a segment built anew by a thread; once, however many ask."""
        if not segment.is_in_repair:
            segment.is_in_repair = True
            self.faults.lying_index(segment.path(LOG), segment.index_doubt)
            self.faults.repair(partial(rebuild_indexes, self, segment))
