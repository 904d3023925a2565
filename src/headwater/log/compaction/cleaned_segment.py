"""Write the segment that compaction puts in the place of others, first as `.cleaned` files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.log.disk import OpenFile
from headwater.log.file_names import (
    CLEANED,
    LOG,
    OFFSET_INDEX,
    SEGMENT_KINDS,
    TIME_INDEX,
    TRANSACTION_INDEX,
    segment_stem,
)
from headwater.log.indexes.offset_index import OffsetIndex
from headwater.log.indexes.time_index import NO_TIMESTAMP, TimeIndex
from headwater.log.indexes.txn_index import TransactionIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.indexes.txn_index import AbortedTxn
    from headwater.log.records.batch import BatchHeader, Buffer

_WRITE_SIZE = 1 << 20
_MAX_POSITION = 2**31 - 1


class CleanedSegment:
    """A segment under construction; it counts for nothing until the log swaps it in."""

    def __init__(self, directory: str, base_offset: int, index_interval: int) -> None:
        self._stem = segment_stem(directory, base_offset)
        self._index_interval = index_interval
        self.discard()
        self._file = OpenFile(self._path(LOG), create=True)
        self._offset_index = OffsetIndex(self._path(OFFSET_INDEX), base_offset)
        self._time_index = TimeIndex(self._path(TIME_INDEX), base_offset)
        self._offset_index.create()
        self._time_index.create()
        self._buffer = bytearray()
        self._written = 0
        self._bytes_since_index_entry = 0
        self._max_timestamp = NO_TIMESTAMP
        self._max_timestamp_offset = base_offset

    @property
    def size(self) -> int:
        """Bytes of the batches so far."""
        return self._written + len(self._buffer)

    def append(self, batch: Buffer, header: BatchHeader) -> None:
        """Add a batch; of `header` only the last offset and the largest timestamp matter."""
        last_offset = header.last_offset
        if header.max_timestamp > self._max_timestamp:
            self._max_timestamp = header.max_timestamp
            self._max_timestamp_offset = last_offset
        # A rebuilt segment can outgrow what an index entry can say; look-ups then walk the rest.
        if self._bytes_since_index_entry > self._index_interval and self.size <= _MAX_POSITION:
            self._offset_index.append(last_offset, self.size)
            self._time_index.append(self._max_timestamp, self._max_timestamp_offset)
            self._bytes_since_index_entry = 0
        self._bytes_since_index_entry += len(batch)
        self._buffer += batch
        if len(self._buffer) >= _WRITE_SIZE:
            self._write_out()

    def finish(self, aborted: Iterable[AbortedTxn], modified_ns: int) -> None:
        """Complete the files and bring them to disk."""
        self._write_out()
        self._time_index.append(self._max_timestamp, self._max_timestamp_offset)
        self._time_index.store()
        self._offset_index.store()
        transactions = TransactionIndex(self._path(TRANSACTION_INDEX))
        for transaction in aborted:
            transactions.append(transaction)
        transactions.sync()
        # Retention goes by the file's age where records have no timestamps.
        os.utime(self._path(LOG), ns=(modified_ns, modified_ns))
        for file in (self._file, self._offset_index.file, self._time_index.file):
            file.sync()

    def discard(self) -> None:
        """Remove the files, also those that an interrupted pass may have left."""
        for kind in SEGMENT_KINDS:
            Path(self._path(kind)).unlink(missing_ok=True)

    def _write_out(self) -> None:
        self._file.write(self._buffer, self._written)
        self._written += len(self._buffer)
        self._buffer = bytearray()

    def _path(self, kind: str) -> str:
        return self._stem + kind + CLEANED
