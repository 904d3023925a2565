"""Find out which producers a log has: from a snapshot, and from the batches after it.

Only headers are read, and the few bytes of transaction markers. Where the end of the log had to
be checked batch by batch, the index of aborted transactions is built anew as well.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.log.indexes.index_proof import readable_batches, start_before
from headwater.log.producers.producer_snapshot import (
    SUFFIX,
    CorruptSnapshot,
    list_snapshots,
    read_snapshot,
)
from headwater.log.producers.producer_snapshots import remove_old_snapshots
from headwater.log.producers.producer_state import ProducerStates
from headwater.log.records.end_txn_marker import decode_marker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from headwater.log.records.batch import BatchHeader
    from headwater.log.segments.segment import Segment

logger = logging.getLogger("headwater.log")


def load_producers(
    directory: Path,
    names: Iterable[str],
    segments: Sequence[Segment],
    end: int,
    recovered_from: int,
    now_ms: int,
) -> ProducerStates:
    """Load the producers of a log that ends at `end`, in a directory with these files; OSError.

    `recovered_from` is the first offset of the segments that were checked, `end` if none were.
    """
    states = ProducerStates(directory.name)
    for segment in segments:
        if segment.base_offset >= recovered_from:
            segment.aborted.truncate(0)
    start = oldest = segments[0].base_offset
    if any(SUFFIX in name for name in names):
        remove_old_snapshots(directory, [segment.base_offset for segment in segments])
        start = _restore(states, directory, oldest, min(end, recovered_from), end)
    for segment, following in zip(segments, [*segments[1:], None], strict=True):
        if following is None or following.base_offset > start:
            _replay(states, segment, start, segment.base_offset >= recovered_from, now_ms)
    return states


def _restore(states: ProducerStates, directory: Path, oldest: int, newest: int, end: int) -> int:
    """Take the newest snapshot that can be trusted and return its offset."""
    for offset, path in reversed(list_snapshots(directory).items()):
        if not oldest <= offset <= end:
            # It tells of batches that are gone, at one end of the log or the other.
            path.unlink()
        elif offset <= newest:
            try:
                states.restore(read_snapshot(path))
                return offset
            except CorruptSnapshot as error:
                logger.warning("%s It is removed, and an older one is used.", error)
                path.unlink()
    return oldest


def _replay(
    states: ProducerStates, segment: Segment, start: int, indexes_aborts: bool, now_ms: int
) -> None:
    position = start_before(segment, start) if start > segment.base_offset else 0
    for at, header in readable_batches(segment, position):
        if header.producer_id < 0 or header.base_offset < start:
            continue
        marker = decode_marker(_batch(segment, at, header)) if header.is_control else None
        if marker is not None and indexes_aborts:
            aborted = states.aborted_by(header, marker)
            if aborted is not None:
                segment.aborted.append(aborted)
        states.update(header, now_ms, marker)


def _batch(segment: Segment, position: int, header: BatchHeader) -> bytes:
    return segment.file.read(header.size, position)
