"""Open what a log has on disk: trust it after a clean shutdown, check it after a crash.

Everything below the recovery point was on disk before the crash. From the segment of the recovery
point on, every batch is checked, the log is cut at the first bad one, and the indexes and leader
epochs are built anew.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import google_crc32c

from headwater.log.disk import names_in
from headwater.log.errors import CorruptBatch
from headwater.log.file_names import (
    LOG,
    OFFSET_INDEX,
    TIME_INDEX,
    TRANSACTION_INDEX,
    parse_segment_file,
)
from headwater.log.indexes.index_file import CorruptIndex
from headwater.log.indexes.index_rebuild import IndexRebuild
from headwater.log.indexes.time_index import NO_TIMESTAMP
from headwater.log.leader_epochs import UNKNOWN_EPOCH
from headwater.log.records.batch import CHECKED_POSITION, HEADER_SIZE
from headwater.log.records.batch_walk import checked_header
from headwater.log.segments.segment import MAX_RELATIVE_OFFSET, Segment
from headwater.log.segments.swap import finish_interrupted, is_interrupted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from headwater.log.config import LogConfig
    from headwater.log.disk import OpenFile
    from headwater.log.leader_epochs import LeaderEpochs
    from headwater.log.records.batch import BatchHeader

logger = logging.getLogger("headwater.log")

_CHUNK = 1 << 20


class Recovered(NamedTuple):
    """The segments of a log, where they end, and which of them are not all on disk yet."""

    segments: list[Segment]
    next_offset: int
    last_epoch: int
    """Leader epoch of the last batch, -1 if the active segment has none."""
    unsynced: list[Segment]
    checked: list[Segment]
    """Those whose every batch was looked at, since nobody could know what a crash left of them."""


def open_segments(
    directory: Path,
    names: list[str],
    config: LogConfig,
    epochs: LeaderEpochs,
    *,
    clean: bool,
    recovery_point: int,
    now_ms: int,
) -> Recovered:
    """Open all segments of a partition's directory, which has these files; there may be none."""
    if is_interrupted(names):
        for line in finish_interrupted(str(directory)):
            logger.info("%s: %s", directory.name, line)
        names = names_in(directory)
    bases, with_aborts = _segment_files(directory, names)
    segments = [
        Segment.open(str(directory), base, created_ms=now_ms, has_aborts=base in with_aborts)
        for base in bases
    ]
    # The segment that ends at the recovery point may have been rolled after its last flush, so
    # that its indexes are not on disk: it is checked too.
    below = sum(base < recovery_point for base in bases)
    trusted = len(segments) if clean else max(0, below - 1)
    unsynced = [segment for segment in segments[:trusted] if not _load_or_index(segment, config)]
    checked = []
    for number, segment in enumerate(segments[trusted:], trusted):
        checked.append(segment)
        if recover(segment, config, epochs):
            _remove(directory, segments[number + 1 :])
            del segments[number + 1 :]
            break
    if not segments:
        return Recovered([], 0, UNKNOWN_EPOCH, [], [])
    active = segments[-1]
    try:
        last = active.last_batch()
    except CorruptBatch:
        # The shutdown was clean, but the end of the log is not.
        recover(active, config, epochs)
        checked.append(active)
        last = active.last_batch()
    for segment in segments:
        segment.release_indexes()
    next_offset = active.base_offset if last is None else last.next_offset
    last_epoch = UNKNOWN_EPOCH if last is None else last.leader_epoch
    return Recovered(segments, next_offset, last_epoch, unsynced + checked, checked)


def recover(segment: Segment, config: LogConfig, epochs: LeaderEpochs) -> int:
    """Check every batch, cut the segment at the first bad one and build its indexes anew.

    Returns the number of bytes cut off.
    """
    indexer = _Indexer(segment, config, epochs)
    problem = ""
    try:
        for header in _checked_batches(segment.file, segment.size):
            indexer.add(header)
    except CorruptBatch as error:
        problem = str(error)
    indexer.finish()
    cut = segment.size - indexer.position
    if cut:
        logger.warning(
            "%s: cut the last %d of %d bytes, so that the log now ends at offset %d: %s",
            segment.path(LOG), cut, segment.size, indexer.next_offset, problem,
        )  # fmt: skip
        segment.file.truncate(indexer.position)
        segment.size = indexer.position
    return cut


class _Indexer:
    """Builds the indexes of a segment and notes leader epochs, batch by batch.

    What the checkpoint says of epochs that began in the segment is not believed: it may be of
    batches that an earlier crash took away.
    """

    def __init__(self, segment: Segment, config: LogConfig, epochs: LeaderEpochs) -> None:
        self._segment = segment
        self._interval = config.index_interval_bytes
        self._epochs = epochs
        self.position = 0
        self.next_offset = segment.base_offset
        segment.offset_index.create()
        segment.time_index.create()
        segment.max_timestamp, segment.max_timestamp_offset = NO_TIMESTAMP, segment.base_offset
        segment.bytes_since_index_entry = 0
        epochs.truncate_from_end(segment.base_offset)

    def add(self, header: BatchHeader) -> None:
        """Take the next batch, or raise CorruptBatch if it does not belong there."""
        segment, last_offset = self._segment, header.last_offset
        if header.base_offset < self.next_offset:
            raise CorruptBatch(
                f"The batch at byte {self.position} has offset {header.base_offset}, "
                f"but {self.next_offset} is the next."
            )
        if last_offset - segment.base_offset > MAX_RELATIVE_OFFSET:
            raise CorruptBatch(
                f"The batch at byte {self.position} ends with offset {last_offset}, "
                f"too far from the segment's {segment.base_offset}."
            )
        if header.max_timestamp > segment.max_timestamp:
            segment.max_timestamp = header.max_timestamp
            segment.max_timestamp_offset = last_offset
        if segment.bytes_since_index_entry > self._interval:
            segment.offset_index.append(last_offset, self.position)
            segment.time_index.append(segment.max_timestamp, segment.max_timestamp_offset)
            segment.bytes_since_index_entry = 0
        self._epochs.assign(header.leader_epoch, header.base_offset)
        segment.bytes_since_index_entry += header.size
        self.position += header.size
        self.next_offset = last_offset + 1

    def finish(self) -> None:
        """Complete the indexes, with the largest timestamp, as a segment that is closed has it."""
        segment = self._segment
        segment.time_index.append(segment.max_timestamp, segment.max_timestamp_offset)
        segment.time_index.store()
        segment.offset_index.store()


def _load_or_index(segment: Segment, config: LogConfig) -> bool:
    """Load a trusted segment's indexes; False if they had to be built anew."""
    try:
        segment.load_indexes()
        return True
    except CorruptIndex as error:
        logger.warning("%s: rebuilding its indexes: %s", segment.path(LOG), error)
    # Its batches were on disk before the shutdown, so that headers are enough. A damaged one stays
    # where it is: who comes to it is told, and what lies behind it can still be read.
    rebuild = IndexRebuild(segment, config.index_interval_bytes)
    rebuild.read_on()
    rebuild.install()
    return False


def _checked_batches(file: OpenFile, end: int) -> Iterator[BatchHeader]:
    """Yield the headers of intact batches, reading large chunks; raises CorruptBatch."""
    position = start = 0
    chunk = b""
    while position < end:
        index = position - start
        if index + HEADER_SIZE > len(chunk):
            chunk, start, index = _read_chunk(file, position, end), position, 0
        header = checked_header(chunk, index, position, end)
        size = header.size
        if index + size > len(chunk) and index:
            chunk, start, index = _read_chunk(file, position, end), position, 0
        crc = google_crc32c.value(chunk[index + CHECKED_POSITION : index + size])
        done = len(chunk) - index
        while done < size:
            piece = file.read(min(_CHUNK, size - done), position + done)
            if not piece:
                raise CorruptBatch(f"The batch at byte {position} ends after {done} bytes.")
            crc = google_crc32c.extend(crc, piece)
            done += len(piece)
        if crc != header.crc:
            raise CorruptBatch(f"The batch at byte {position} does not match its CRC-32C.")
        yield header
        position += size


def _read_chunk(file: OpenFile, position: int, end: int) -> bytes:
    return file.read(min(_CHUNK, end - position), position)


def _segment_files(directory: Path, names: Iterable[str]) -> tuple[list[int], set[int]]:
    """Base offsets of the segments, and of those which have a file of aborted transactions.

    Indexes without a segment are removed.
    """
    bases = []
    indexes = []
    with_aborts = set()
    for name in names:
        parsed = parse_segment_file(name)
        if parsed is None or parsed[2]:
            continue
        if parsed[1] == LOG:
            bases.append(parsed[0])
        elif parsed[1] in (OFFSET_INDEX, TIME_INDEX):
            indexes.append((parsed[0], name))
        elif parsed[1] == TRANSACTION_INDEX:
            with_aborts.add(parsed[0])
    known = set(bases)
    for base, name in indexes:
        if base not in known:
            logger.warning("removing %s, an index without a segment", directory / name)
            (directory / name).unlink()
    return sorted(bases), with_aborts


def _remove(directory: Path, segments: list[Segment]) -> None:
    for segment in segments:
        logger.warning(
            "%s: removing %s with %d bytes, which comes after the cut",
            directory.name, segment.path(LOG), segment.size,
        )  # fmt: skip
        segment.remove_files()
