"""What can be asked of a log: where it is, what it has, and the batches from an offset on."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headwater.log import timestamp_search
from headwater.log.batch import HEADER_SIZE, parse_header
from headwater.log.disk import storage_error
from headwater.log.errors import OffsetOutOfRange
from headwater.log.log_segments import LogPosition
from headwater.log.segment import FileSlice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.log.batch import BatchHeader
    from headwater.log.log_loader import LoadedLog
    from headwater.log.segment import Segment
    from headwater.log.timestamp_search import TimestampOffset
    from headwater.log.txn_index import AbortedTxn

_READ_SIZE = 1 << 20


class LogReader:
    """The half of a log that changes nothing; `Log` is the other one."""

    def __init__(self, name: str, loaded: LoadedLog) -> None:
        self.name = name
        self.lock = threading.RLock()
        """Guards the segments against other threads; held briefly, never during a sync."""
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
                return FileSlice(segments.active.file, segments.end.position, 0)
            try:
                segment, position = segments.find(offset)
                length = max(0, segments.readable_end(segment, upper) - position)
                if length <= max_bytes:
                    segments.remember(upper)
                elif (first := segment.batch_size(position)) <= max_bytes:
                    length = max_bytes
                else:
                    length = first if min_one else 0
            except OSError as error:
                raise storage_error(error, f"Reading {self.name}") from error
            return FileSlice(segment.file, position, length)

    def batches(self) -> Iterator[tuple[BatchHeader, memoryview]]:
        """Walk through the whole batches that are there now, from the log's start to its end."""
        offset, end = self.log_start_offset, self.end
        while offset < end.offset:
            data = memoryview(self.read(offset, _READ_SIZE, end).read())
            position = 0
            while position + HEADER_SIZE <= len(data):
                header = parse_header(data, position)
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
            return LogPosition(offset, segment.base_offset, position)

    def offset_for_timestamp(self, timestamp_ms: int, upper_offset: int) -> TimestampOffset | None:
        """First record before `upper_offset` that is not older than `timestamp_ms`."""
        with self.lock, self._disk(f"Reading {self.name}"):
            return timestamp_search.first_at_or_after(
                self.segments, timestamp_ms, self.log_start_offset, upper_offset
            )

    def max_timestamp(self) -> TimestampOffset | None:
        """First of the records with the largest timestamp; None if no record has one."""
        with self.lock, self._disk(f"Reading {self.name}"):
            return timestamp_search.largest(self.segments)

    def aborted_transactions(self, start: int, end: int) -> list[AbortedTxn]:
        """Transactions with records from `start` up to `end` that were aborted."""
        with self.lock, self._disk(f"Reading {self.name}"):
            return self._segments.aborted_transactions(start, end)

    def aborted_in(self, batches: FileSlice, start: int, upper: LogPosition) -> list[AbortedTxn]:
        """Aborted transactions with records in what `read` returned for these offsets."""
        if not self._segments.has_aborts:
            return []
        with self.lock, self._disk(f"Reading {self.name}"):
            end = self._segments.offset_after(batches, upper)
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
