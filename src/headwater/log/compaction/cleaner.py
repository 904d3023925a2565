"""The log cleaner: finds the dirtiest compacted log and has it compacted.

The work itself is done by a child process (`clean_worker`), so the broker's interpreter stays free
for its clients. The cleaner only chooses, swaps in what is ready, and keeps the checkpoint.
"""

from __future__ import annotations

import logging
import math
import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from headwater.log.checkpoint import CorruptCheckpoint, read_offsets, write_offsets
from headwater.log.compaction.clean_job import CleanedGroup, CleanJob, CleanStats
from headwater.log.compaction.clean_process import CleanCalledOff, CleanInterrupted, CleanProcess
from headwater.log.compaction.cleaner_policy import LogToClean, dirtiest, examine
from headwater.log.compaction.cleaner_producers import (
    aborted_in_section,
    active_producers,
    first_undecided_offset,
)
from headwater.log.compaction.offset_map import LOAD_FACTOR
from headwater.log.disk import storage_error
from headwater.log.errors import CorruptBatch, LogError
from headwater.log.file_names import CLEANED, segment_stem

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from headwater.log.log import Log

TopicPartition = tuple[str, int]

CLEANER_OFFSETS = "cleaner-offset-checkpoint"
RETRY_MS = 60_000

logger = logging.getLogger("headwater.log")


class Logs(Protocol):
    """What the cleaner asks of a LogManager."""

    @property
    def data_dir(self) -> Path:
        """Where the checkpoint goes."""
        ...

    @property
    def logs(self) -> Mapping[TopicPartition, Log]:
        """All logs by topic and partition."""
        ...


class CleanPass(Protocol):
    """One pass, in a child process or here."""

    def results(self) -> Generator[CleanedGroup | CleanStats]:
        """Run it, see `clean_pass`."""
        ...

    def kill(self) -> None:
        """End it from another thread."""
        ...


@dataclass(frozen=True, slots=True)
class CleanerConfig:
    """The settings `log.cleaner.*` of a broker that concern a single pass."""

    dedupe_buffer_size: int = 128 << 20
    load_factor: float = LOAD_FACTOR
    io_max_bytes_per_second: float = math.inf


@dataclass(frozen=True, slots=True)
class CleanResult:
    """What became of one pass; `stats` is None if it failed, and then `error` says why."""

    topic: str
    partition: int
    first_dirty_offset: int
    stats: CleanStats | None
    error: LogError | None = None


class LogCleaner:
    """Compacts one log at a time; `run_once` is called again and again by a background thread.

    cleaner = LogCleaner(manager, CleanerConfig())
    while cleaner.run_once(now_ms):
        ...
    """

    def __init__(
        self,
        manager: Logs,
        config: CleanerConfig,
        *,
        start: Callable[[CleanJob], CleanPass] = CleanProcess,
    ) -> None:
        self._manager = manager
        self._config = config
        self._start = start
        self._checkpoint = manager.data_dir / CLEANER_OFFSETS
        self._offsets = _read_checkpoint(self._checkpoint)
        self._known: dict[TopicPartition, Log] = {}
        self._uncleanable: dict[TopicPartition, Log] = {}
        self._retry_at: dict[TopicPartition, int] = {}
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._running: tuple[TopicPartition, CleanPass] | None = None
        self._is_stopped = False

    @property
    def uncleanable(self) -> frozenset[TopicPartition]:
        """Logs that are left alone until the next start, because they are damaged."""
        return frozenset(self._uncleanable)

    def run_once(self, now_ms: int) -> list[CleanResult]:
        """Compact the dirtiest log that is worth it; blocks until that is done.

        Returns nothing if there is no such log. A failed pass is logged and returned with its
        error, and other logs are next.
        """
        chosen = None if self._is_stopped else self._choose(now_ms)
        if chosen is None:
            return []
        partition, to_clean = chosen
        clean_pass = self._start(self._job(to_clean, now_ms))
        with self._lock:
            if self._is_stopped or self._running is not None:
                return []
            self._running = partition, clean_pass
        stats, error = None, None
        try:
            stats = self._clean(to_clean, clean_pass)
            self._record(partition, to_clean.log, stats.end_offset)
            _log_success(to_clean, stats)
        except LogError as failure:
            error = failure
        except OSError as failure:
            error = storage_error(failure, f"Compacting {to_clean.log.name}")
        finally:
            if stats is None:
                _remove_cleaned(to_clean.log.directory)
            with self._lock:
                self._running = None
                self._idle.notify_all()
        if error is not None:
            self._handle_failure(partition, to_clean.log, error, now_ms)
        return [CleanResult(*partition, to_clean.first_dirty_offset, stats, error)]

    def reconfigure(self, config: CleanerConfig) -> None:
        """Use other settings from the next pass on."""
        self._config = config

    def stop(self) -> None:
        """Give up the pass that is running and begin no other one; loses nothing."""
        with self._lock:
            self._is_stopped = True
            if self._running is not None:
                self._running[1].kill()

    def forget(self, topic: str, partition: int) -> None:
        """Give up a pass over this log, if one is running, and forget how far it was compacted.

        To be called before a log is deleted, so that nobody works in its directory any more.
        """
        with self._lock:
            while self._running is not None and self._running[0] == (topic, partition):
                self._running[1].kill()
                self._idle.wait()
            self._uncleanable.pop((topic, partition), None)
            self._retry_at.pop((topic, partition), None)
            if self._offsets.pop((topic, partition), None) is not None:
                write_offsets(self._checkpoint, self._offsets)

    def _choose(self, now_ms: int) -> tuple[TopicPartition, LogToClean] | None:
        candidates: dict[TopicPartition, LogToClean] = {}
        for partition, log in self._current_logs().items():
            if not log.config.compacts or log.failure is not None:
                continue
            if self._uncleanable.get(partition) is log:
                continue
            if self._retry_at.get(partition, now_ms) > now_ms:
                continue
            try:
                candidates[partition] = self._examine(partition, log, now_ms)
            except LogError as error:
                self._handle_failure(partition, log, error, now_ms)
        best = dirtiest(candidates.values())
        return next((each for each in candidates.items() if each[1] is best), None)

    def _current_logs(self) -> dict[TopicPartition, Log]:
        logs = dict(self._manager.logs)
        with self._lock:
            # A topic that was deleted, and one that came back under the same name, start afresh.
            for partition in list(self._offsets):
                log = logs.get(partition)
                if log is None or self._known.get(partition, log) is not log:
                    del self._offsets[partition]
            self._known = logs
        return logs

    def _examine(self, partition: TopicPartition, log: Log, now_ms: int) -> LogToClean:
        upper = first_undecided_offset(log)
        checkpoint = self._offsets.get(partition)
        found = examine(log, checkpoint, upper, now_ms)
        if found.is_worth_it and found.upper_offset > log.recovery_point:
            # What replaces older records has to be on disk before those go.
            log.flush_closed_segments()
            found = examine(log, checkpoint, min(upper, log.recovery_point), now_ms)
        return found

    def _job(self, to_clean: LogToClean, now_ms: int) -> CleanJob:
        log, config, rate = to_clean.log, to_clean.log.config, self._config.io_max_bytes_per_second
        start, end = to_clean.segments[0].base_offset, to_clean.upper_offset
        return CleanJob(
            directory=str(log.directory),
            segments=tuple(segment.base_offset for segment in to_clean.segments),
            first_dirty_offset=to_clean.first_dirty_offset,
            upper_offset=end,
            now_ms=now_ms,
            delete_retention_ms=config.delete_retention_ms,
            segment_bytes=config.segment_bytes,
            segment_index_bytes=config.segment_index_bytes,
            index_interval_bytes=config.index_interval_bytes,
            map_memory=self._config.dedupe_buffer_size,
            load_factor=self._config.load_factor,
            bytes_per_second=rate if math.isfinite(rate) else None,
            active_producers=active_producers(log),
            aborted=aborted_in_section(log, start, end),
        )

    def _clean(self, to_clean: LogToClean, clean_pass: CleanPass) -> CleanStats:
        segments = {segment.base_offset: segment for segment in to_clean.segments}
        log = to_clean.log
        with closing(clean_pass.results()) as results:
            for result in results:
                if isinstance(result, CleanStats):
                    return result
                stem = segment_stem(str(log.directory), result.segments[0])
                log.replace_segments([segments[base] for base in result.segments], Path(stem))
        raise CleanInterrupted(f"The compaction of {log.name} ended without a result.")

    def _record(self, partition: TopicPartition, log: Log, end_offset: int) -> None:
        with self._lock:
            if self._manager.logs.get(partition) is log:
                self._offsets[partition] = end_offset
            write_offsets(self._checkpoint, self._offsets)

    def _handle_failure(
        self, partition: TopicPartition, log: Log, error: LogError, now_ms: int
    ) -> None:
        is_served = self._manager.logs.get(partition) is log
        if isinstance(error, CleanCalledOff) or not is_served:
            logger.info("the compaction of %s was aborted: %s", log.name, error)
        elif isinstance(error, CorruptBatch):
            self._uncleanable[partition] = log
            logger.error(
                "%s is damaged and will not be compacted before the next start; other logs are. "
                "%s Look at the file with 'headwater log dump'.",
                log.name,
                error,
            )
        else:
            self._retry_at[partition] = now_ms + RETRY_MS
            logger.warning(
                "the compaction of %s failed, nothing is lost, next try in %d s: %s",
                log.name,
                RETRY_MS // 1000,
                error,
            )


def _read_checkpoint(path: Path) -> dict[TopicPartition, int]:
    try:
        return read_offsets(path)
    except CorruptCheckpoint as error:
        logger.warning("%s All compacted logs are compacted again from their start.", error)
        return {}


def _remove_cleaned(directory: Path) -> None:
    for path in directory.glob(f"*{CLEANED}"):
        path.unlink(missing_ok=True)


def _log_success(to_clean: LogToClean, stats: CleanStats) -> None:
    mebibyte = 1 << 20
    logger.info(
        "%s: compacted offsets %d to %d, %.1f MiB became %.1f MiB (%d of %d records) "
        "in %.1f s, %.1f MiB/s",
        to_clean.log.name,
        to_clean.first_dirty_offset,
        stats.end_offset,
        stats.bytes_read / mebibyte,
        stats.bytes_written / mebibyte,
        stats.records_kept,
        stats.records_read,
        stats.seconds,
        stats.bytes_read / mebibyte / max(stats.seconds, 1e-9),
    )
