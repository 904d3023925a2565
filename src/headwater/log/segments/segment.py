"""One segment of a log: a file of record batches and the two indexes into it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.log.disk import OpenFile
from headwater.log.errors import CorruptBatch
from headwater.log.file_names import (
    LOG,
    OFFSET_INDEX,
    SEGMENT_KINDS,
    TIME_INDEX,
    TRANSACTION_INDEX,
    segment_stem,
)
from headwater.log.indexes.index_file import CorruptIndex
from headwater.log.indexes.index_proof import batch_behind, check_time_entry, locate_despite
from headwater.log.indexes.offset_index import OffsetIndex
from headwater.log.indexes.time_index import NO_TIMESTAMP, TimeIndex
from headwater.log.indexes.txn_index import TransactionIndex
from headwater.log.open_files import FileHolder
from headwater.log.records.batch import LOG_OVERHEAD
from headwater.log.records.batch_walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.log.append_info import Placed
    from headwater.log.records.batch import BatchHeader

MAX_RELATIVE_OFFSET = 2**31 - 1


class FileSlice:
    """A region of a segment's file, which can be sent without being read into memory."""

    __slots__ = ("file", "length", "position")

    def __init__(self, file: OpenFile, position: int, length: int) -> None:
        self.file = file
        self.position = position
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"FileSlice(fd={self.file.fd}, position={self.position}, length={self.length})"

    def read(self) -> bytes:
        """Return the bytes of the region."""
        return self.file.read(self.length, self.position)


NOWHERE = OpenFile(os.devnull)
"""The file of what has no bytes, so that the end of a log can be read without opening it."""


class Segment(FileHolder):
    """Batches with offsets from `base_offset` on; only the last segment of a log grows."""

    __slots__ = (
        "_first_timestamp", "aborted", "base_offset", "bytes_since_index_entry", "created_ms",
        "index_doubt", "is_cleaned", "is_in_repair", "is_time_proven", "is_torn",
        "max_timestamp", "max_timestamp_offset", "offset_index", "roll_jitter_ms", "size", "stem",
        "suffix", "time_index",
    )  # fmt: skip

    def __init__(self, directory: str, base_offset: int, *, suffix: str, created_ms: int) -> None:
        super().__init__()
        self.base_offset = base_offset
        self.stem = segment_stem(directory, base_offset)
        self.suffix = suffix
        self.created_ms = created_ms
        self.roll_jitter_ms = 0
        self.size = 0
        self.offset_index = OffsetIndex(self.path(OFFSET_INDEX), base_offset)
        self.time_index = TimeIndex(self.path(TIME_INDEX), base_offset)
        self.aborted = TransactionIndex(self.path(TRANSACTION_INDEX))
        self.max_timestamp = NO_TIMESTAMP
        """Largest timestamp of any batch so far, and the last offset of the batch that has it."""
        self.max_timestamp_offset = base_offset
        self.bytes_since_index_entry = 0
        self.is_cleaned = False
        """Whether compaction has put the segment in the place of others since the start."""
        self.is_torn = False
        """Whether a failed append has left bytes behind that could not be taken back."""
        self.index_doubt = ""
        """How an index was seen not to fit the batches; it has to be built anew."""
        self.is_in_repair = False
        """Whether a thread is about to do so."""
        self.is_time_proven = True
        """Whether the largest timestamp does not come from an index that nobody has checked."""
        self._first_timestamp: int | None = None

    def __repr__(self) -> str:
        return f"Segment({self.stem}{LOG}{self.suffix}, size={self.size})"

    @classmethod
    def create(
        cls,
        directory: str,
        base_offset: int,
        *,
        created_ms: int,
        suffix: str = "",
        preallocate: int = 0,
    ) -> Segment:
        """Make the files of a new, empty segment; nothing is left behind if that fails.

        `preallocate` bytes are reserved on disk; the file gets its true size in `finish`.
        """
        path = segment_stem(directory, base_offset) + LOG + suffix
        if Path(path).exists() and Path(path).stat().st_size:
            raise FileExistsError(f"{path} exists and is not empty")
        segment = None
        try:
            segment = cls(directory, base_offset, suffix=suffix, created_ms=created_ms)
            file = segment.create_file()
            segment.offset_index.create()
            segment.time_index.create()
            if preallocate and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fd, 0, preallocate)
        except OSError:
            for kind in SEGMENT_KINDS:
                Path(segment_stem(directory, base_offset) + kind + suffix).unlink(missing_ok=True)
            raise
        return segment

    @classmethod
    def open(
        cls,
        directory: str,
        base_offset: int,
        *,
        created_ms: int,
        suffix: str = "",
        has_aborts: bool = True,
    ) -> Segment:
        """Take over the files of an existing segment without looking into its indexes.

        Who knows that there is no index of aborted transactions need not have it looked for.
        """
        segment = cls(directory, base_offset, suffix=suffix, created_ms=created_ms)
        segment.size = os.stat(segment.file_path).st_size  # noqa: PTH116 - for every partition
        if has_aborts:
            segment.aborted = TransactionIndex.load(segment.path(TRANSACTION_INDEX))
        return segment

    def load_indexes(self) -> None:
        """Trust the indexes after a look at their ends; raises CorruptIndex."""
        try:
            self.offset_index.load()
            self.time_index.load()
        except FileNotFoundError as error:
            raise CorruptIndex(f"{error.filename} is missing") from error
        self.offset_index.check(self.size)
        self.time_index.check()
        if self.time_index.count == 0 and self.first_timestamp >= 0:
            raise CorruptIndex("its time index is empty, but its batches have timestamps")
        self.is_time_proven = self.time_index.count == 0
        self.max_timestamp = self.time_index.last_timestamp
        self.max_timestamp_offset = self.time_index.last_offset

    def append(self, records: memoryview, placed: Placed, index_interval: int) -> None:
        """Write batches at the end, or raise OSError and leave everything as it was."""
        size = self.size
        if placed.aborted is not None:
            self.aborted.append(placed.aborted)
        try:
            self.file.write(records, size)
            if self.bytes_since_index_entry > index_interval:
                self._add_index_entries(placed)
                self.bytes_since_index_entry = 0
        except OSError:
            if placed.aborted is not None:
                self.aborted.take_back()
            self._take_back()
            raise
        if size == 0:
            self._first_timestamp = placed.max_timestamp
        if placed.max_timestamp > self.max_timestamp:
            self.max_timestamp = placed.max_timestamp
            self.max_timestamp_offset = placed.max_timestamp_offset
        appended = len(records)
        self.bytes_since_index_entry += appended
        self.size = size + appended

    def locate(self, offset: int) -> tuple[int, BatchHeader] | None:
        """Find the first batch that ends at or after `offset`; None if all end before it.

        Where the index says to begin, a batch has to begin that is not after `offset`. If there
        is none, the batch is found without that entry, and `index_doubt` is set.
        """
        start = position = -1
        problem: Exception | None = None
        try:
            start = self.offset_index.lookup(offset)
            for position, header in self.batches(start):
                if header.base_offset + header.last_offset_delta >= offset:
                    if position == start and start and header.base_offset > offset:
                        break
                    return position, header
            else:
                if 0 <= start < self.size or not self.size:
                    return None
        except (CorruptIndex, FileNotFoundError) as error:
            problem = error
        except CorruptBatch:
            # Not where the index points: it is the batch that is damaged.
            if position >= 0 or not start:
                raise
        return locate_despite(self, start, offset, problem)

    def batches(self, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
        """Walk the headers of the batches from a batch's position on; raises CorruptBatch."""
        try:
            yield from walk(self.file.read, position, self.size)
        except CorruptBatch as error:
            damage = CorruptBatch(f"{self.path(LOG)} is damaged: {error}")
            damage.position, damage.segment_base = error.position, self.base_offset
            raise damage from error

    def offset_after(self, position: int) -> int | None:
        """Some offset after all batches before a position, near it; None if the index has none."""
        found = batch_behind(self, position - 1)
        return None if found is None else found[1].base_offset

    def prove_largest_timestamp(self) -> bool:
        """Compare the largest timestamp, if it comes from an index, with its batch; once."""
        if not self.is_time_proven:
            try:
                check_time_entry(self, self.time_index.count - 1)
                self.is_time_proven = True
            except (CorruptIndex, CorruptBatch, FileNotFoundError) as error:
                self.index_doubt = str(error)
        return self.is_time_proven

    def batch_size(self, position: int) -> int:
        """Bytes of the batch at a position, from its length field alone."""
        length = self.file.read(4, position + 8)
        return int.from_bytes(length, "big", signed=True) + LOG_OVERHEAD

    def last_batch(self) -> BatchHeader | None:
        """Header of the last batch, None if there is none; raises CorruptBatch if it is torn."""
        header = None
        number = self.offset_index.count
        position = self.offset_index.entry(number - 1)[1] if number else 0
        for _, header in self.batches(position):  # noqa: B007 - it is the last one that counts
            pass
        return header

    @property
    def first_timestamp(self) -> int:
        """Largest timestamp of the first batch, which decides when the segment is old."""
        if self._first_timestamp is None:
            first = next(self.batches(), None)
            if first is None:
                return NO_TIMESTAMP
            self._first_timestamp = first[1].max_timestamp
        return self._first_timestamp

    @property
    def largest_timestamp(self) -> int:
        """What retention goes by: the largest timestamp, or the file's age if there is none."""
        if self.max_timestamp >= 0:
            return self.max_timestamp
        return self.file.modified_ns // 1_000_000

    @property
    def file_path(self) -> str:
        """Where the file of batches is at present."""
        return self.stem + LOG + self.suffix

    def path(self, kind: str) -> str:
        """Path of one of the segment's files at present."""
        return self.stem + kind + self.suffix

    def rename(self, suffix: str) -> None:
        """Give all files another suffix, the log file first: alone, an index is worthless."""
        for kind in SEGMENT_KINDS:
            source = Path(self.path(kind))
            if kind == LOG or source.exists():
                source.rename(self.stem + kind + suffix)
        self.suffix = suffix
        self.offset_index.path = self.path(OFFSET_INDEX)
        self.time_index.path = self.path(TIME_INDEX)
        self.aborted.path = self.path(TRANSACTION_INDEX)

    def finish(self) -> None:
        """Complete the indexes and give back reserved space: the segment does not grow any more."""
        self.time_index.append(self.max_timestamp, self.max_timestamp_offset)
        self.time_index.store()
        self.offset_index.store()
        if self.file.size != self.size:
            self.file.truncate(self.size)

    def files(self) -> tuple[OpenFile, ...]:
        """All files of the segment, for whoever has to bring them to disk."""
        aborted = (self.aborted.file,) if self.aborted else ()
        return self.file, self.offset_index.file, self.time_index.file, *aborted

    def release_indexes(self) -> None:
        """Close the indexes until the next look-up."""
        self.offset_index.release()
        self.time_index.release()

    def remove_files(self) -> None:
        """Unlink the files; who still reads the segment can go on doing so."""
        for kind in SEGMENT_KINDS:
            Path(self.path(kind)).unlink(missing_ok=True)

    def _add_index_entries(self, placed: Placed) -> None:
        before = self.offset_index.count
        self.offset_index.append(placed.last_offset, self.size + placed.last_batch)
        try:
            if placed.max_timestamp > self.max_timestamp:
                self.time_index.append(placed.max_timestamp, placed.max_timestamp_offset)
            else:
                self.time_index.append(self.max_timestamp, self.max_timestamp_offset)
        except OSError:
            self.offset_index.count = before
            raise

    def _take_back(self) -> None:
        try:
            self.file.truncate(self.size)
            self.offset_index.truncate(self.offset_index.count)
            self.time_index.truncate(self.time_index.count)
        except OSError:
            # The caller raises the error that led here and stops using the log for writes.
            self.is_torn = True
