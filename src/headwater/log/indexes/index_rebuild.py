"""Build the indexes of a segment anew while the log is in use, from its batches' headers.

A damaged batch does not end it: what lies behind is found again by the old index, as far as that
can be proved right.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater.log.disk import OpenFile, storage_error, sync_directory
from headwater.log.file_names import OFFSET_INDEX, TIME_INDEX
from headwater.log.indexes.index_proof import readable_batches
from headwater.log.indexes.time_index import NO_TIMESTAMP

if TYPE_CHECKING:
    from headwater.log.log_reader import LogReader
    from headwater.log.records.batch import BatchHeader
    from headwater.log.segments.segment import Segment


def rebuild_indexes(log: LogReader, segment: Segment) -> None:
    """Build the indexes of a segment anew, in any thread, while the log is used by others."""
    rebuild = IndexRebuild(segment, log.config.index_interval_bytes)
    try:
        # Most of it without the log's lock, and what was appended meanwhile with it.
        rebuild.read_on()
        with log.maintenance:
            with log.lock:
                if segment not in log.segments:
                    return
                rebuild.read_on()
                rebuild.install()
            for kind in (OFFSET_INDEX, TIME_INDEX):
                OpenFile(segment.path(kind)).sync()
            sync_directory(Path(segment.stem).parent)
        log.faults.index_rebuilt()
    except OSError as error:
        log.faults.repair_failed(storage_error(error, f"Building an index of {log.name} anew"))
    finally:
        segment.is_in_repair = False


class IndexRebuild:
    """Collects index entries of a segment in memory, up to where it ends at the time."""

    def __init__(self, segment: Segment, index_interval: int) -> None:
        self._segment = segment
        self._interval = index_interval
        self._position = 0
        self._since_entry = 0
        self._offsets = bytearray()
        self._times = bytearray()
        self._max_timestamp, self._max_timestamp_offset = NO_TIMESTAMP, segment.base_offset
        self._last_time = NO_TIMESTAMP

    def read_on(self) -> None:
        """Take all batches that were not there the last time; raises OSError."""
        for position, header in readable_batches(self._segment, self._position):
            self._add(position, header)

    def install(self) -> None:
        """Replace the segment's indexes; the log must be locked.

        A crash before they are on disk leaves the old ones, the new ones, or none, which the next
        start or the next look-up notices.
        """
        segment = self._segment
        self._add_time()
        segment.offset_index.replace(bytes(self._offsets))
        segment.time_index.replace(bytes(self._times))
        segment.max_timestamp = self._max_timestamp
        segment.max_timestamp_offset = self._max_timestamp_offset
        segment.index_doubt = ""
        segment.is_time_proven = True

    def _add(self, position: int, header: BatchHeader) -> None:
        segment, last_offset = self._segment, header.last_offset
        if header.max_timestamp > self._max_timestamp:
            self._max_timestamp, self._max_timestamp_offset = header.max_timestamp, last_offset
        if self._since_entry > self._interval:
            self._offsets += segment.offset_index.entry_format.pack(
                last_offset - segment.base_offset, position
            )
            self._add_time()
            self._since_entry = 0
        self._since_entry += header.size
        self._position = position + header.size

    def _add_time(self) -> None:
        if self._max_timestamp > self._last_time:
            self._times += self._segment.time_index.entry_format.pack(
                self._max_timestamp, self._max_timestamp_offset - self._segment.base_offset
            )
            self._last_time = self._max_timestamp
