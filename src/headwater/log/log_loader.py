"""Load a partition's directory into what a log consists of, or create one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.checkpoint import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    CorruptCheckpoint,
    read_topic_id,
    write_topic_id,
)
from headwater.log.disk import names_in
from headwater.log.indexes.index_proof import readable_batches
from headwater.log.leader_epochs import LeaderEpochs
from headwater.log.producers.producer_loading import load_producers
from headwater.log.recovery import open_segments
from headwater.log.segments.log_segments import LogSegments
from headwater.log.segments.segment import Segment

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.config import LogConfig
    from headwater.log.producers.producer_state import ProducerStates

logger = logging.getLogger("headwater.log")


class LoadedLog(NamedTuple):
    """What was found on disk, made consistent."""

    segments: LogSegments
    epochs: LeaderEpochs
    producers: ProducerStates
    log_start_offset: int
    recovery_point: int
    unsynced: list[Segment]
    """Closed segments with files that may not be on disk."""
    is_new: bool
    is_synced: bool
    """Whether everything is on disk, indexes and names included."""
    has_names_on_disk: bool
    """Whether the names of the files are; of an empty log nobody has made sure."""


def load(
    directory: Path,
    config: LogConfig,
    *,
    clean: bool,
    recovery_point: int,
    log_start_offset: int,
    now_ms: int,
    topic_id: bytes | None,
) -> LoadedLog:
    """Open the directory's segments, or make the first one; raises OSError."""
    try:
        names = names_in(directory)
        is_new = False
    except FileNotFoundError:
        directory.mkdir(parents=True)
        names, is_new = [], True
    if topic_id is not None:
        _keep_topic_id(directory / PARTITION_METADATA, topic_id)
    epochs, epochs_are_known = _load_epochs(directory, names)
    found = open_segments(
        directory, names, config, epochs,
        clean=clean, recovery_point=recovery_point, now_ms=now_ms,
    )  # fmt: skip
    segments, next_offset = found.segments, found.next_offset
    if segments and next_offset < log_start_offset:
        logger.warning(
            "%s ends at offset %d, before its start %d: beginning anew at its start, "
            "since files have been removed from its directory",
            directory, next_offset, log_start_offset,
        )  # fmt: skip
        for segment in segments:
            segment.remove_files()
        segments = []
    if not segments:
        next_offset = log_start_offset
        reserve = config.segment_bytes if config.preallocate else 0
        segments = [
            Segment.create(str(directory), log_start_offset, created_ms=now_ms, preallocate=reserve)
        ]
    if not epochs_are_known or epochs.latest < found.last_epoch:
        # The close of a small log does not write its epochs: they are as quickly read from it.
        for segment in segments:
            for _, header in readable_batches(segment):
                epochs.assign(header.leader_epoch, header.base_offset)
    log_start_offset = max(log_start_offset, segments[0].base_offset)
    is_synced = clean and segments == found.segments and not found.unsynced
    epochs.truncate_from_end(next_offset)
    epochs.truncate_from_start(log_start_offset)
    checked = [segment.base_offset for segment in found.checked if segment in segments]
    recovered_from = min(checked, default=next_offset)
    # First, since it also indexes the aborted transactions of the segments.
    producers = load_producers(directory, names, segments, next_offset, recovered_from, now_ms)
    for segment in segments:
        # Most logs are not used soon, and whoever uses one opens it.
        segment.close_file()
    return LoadedLog(
        LogSegments(segments, next_offset),
        epochs,
        producers,
        log_start_offset,
        next_offset if is_synced else min(recovery_point, next_offset),
        [segment for segment in found.unsynced if segment in segments[:-1]],
        is_new,
        is_synced,
        is_synced and next_offset > 0,
    )


def _load_epochs(directory: Path, names: list[str]) -> tuple[LeaderEpochs, bool]:
    epochs = LeaderEpochs(directory)
    try:
        if LEADER_EPOCHS in names:
            epochs.load()
    except CorruptCheckpoint as error:
        logger.warning("%s Reading the leader epochs from the batches instead.", error)
        return epochs, False
    return epochs, True


def _keep_topic_id(path: Path, topic_id: bytes) -> None:
    try:
        if read_topic_id(path) == topic_id:
            return
    except CorruptCheckpoint as error:
        logger.warning("%s Writing it anew.", error)
    write_topic_id(path, topic_id)
