"""All logs of a data directory: load, create, delete, and what is due for them at times."""

from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from headwater.log.checkpoint import (
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    CorruptCheckpoint,
    read_offsets,
    read_topic_id,
    take_clean_shutdown,
    write_clean_shutdown,
    write_offsets,
)
from headwater.log.closing import close_logs
from headwater.log.disk import remove_tree, storage_error, sync_directory
from headwater.log.errors import LogError, StorageError
from headwater.log.file_names import (
    DELETED_DIRECTORY,
    STRAY_DIRECTORY,
    parse_partition_directory,
    partition_directory,
    set_aside,
)
from headwater.log.file_system import FileSystem
from headwater.log.journal.journal import LEAST_BYTES, Journal
from headwater.log.journal.journal_format import LogId
from headwater.log.journal.replay import remove_journal, replay
from headwater.log.log import Log
from headwater.log.storage_faults import StorageFaults

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.log.config import LogConfig

logger = logging.getLogger("headwater.log")

TopicPartition = tuple[str, int]

_LOAD_THREADS = 8
"""How many logs are recovered at once: a disk syncs many together in the time of one."""

_METADATA_TOPIC = "__cluster_metadata"


class LogManager:
    """The logs of one broker, by topic and partition.

    logs = LogManager(Path("data"), LogConfig())
    logs.load({("orders", 0): (topic_id, LogConfig())}, now_ms)
    logs.logs["orders", 0].append(...)
    logs.close()
    """

    def __init__(self, data_dir: Path, defaults: LogConfig, journal_bytes: int = 0) -> None:
        self.data_dir = data_dir
        self.journal: Journal | None = None
        """What makes appends safe once the logs are loaded, unless each log is to do so itself."""
        self._journal_bytes = journal_bytes
        self._file_system: FileSystem | None = None
        self.defaults = defaults
        self.logs: dict[TopicPartition, Log] = {}
        self.faults = StorageFaults()
        """The damage that the logs have come upon."""
        self._deleted: list[tuple[Path, int | None, int]] = []
        self._checkpointed: set[TopicPartition] = set()
        self._checkpointing = threading.Lock()
        self._unflushed_since_ms: WeakKeyDictionary[Log, int] = WeakKeyDictionary()

    def load(self, wanted: Mapping[TopicPartition, tuple[bytes, LogConfig]], now_ms: int) -> None:
        """Open the logs that are `wanted`, each with its topic's id and settings.

        After an unclean shutdown they are recovered. A directory that looks like a partition but
        is not wanted is set aside under another name, with a warning. Raises StorageError.
        """
        try:
            self._load(wanted, now_ms)
            if self._journal_bytes:
                self.journal = Journal(self.data_dir, max(self._journal_bytes, LEAST_BYTES))
                for log in self.logs.values():
                    log.use_journal(self.journal)
        except OSError as error:
            raise storage_error(error, f"Loading the logs of {self.data_dir}") from error

    def create(
        self, topic: str, partition: int, topic_id: bytes, config: LogConfig, now_ms: int
    ) -> Log:
        """Make the log of a new partition."""
        key = topic, partition
        if key in self.logs:
            raise LogError(f"{topic}-{partition} exists already.")
        if key in self._checkpointed:
            # A former partition of that name must not lend its offsets to this one.
            self._write_checkpoints()
        directory = self.data_dir / partition_directory(topic, partition)
        if directory.exists():
            self._set_stray(directory, "it is in the way of a new partition")
        try:
            log = Log.open(
                directory, config, clean=True, now_ms=now_ms, topic_id=topic_id, faults=self.faults
            )
        except LogError:
            remove_tree(directory, ignore_errors=True)
            raise
        if self.journal is not None:
            log.use_journal(self.journal)
        self.logs[key] = log
        return log

    def delete(self, topic: str, partition: int) -> None:
        """Take a log out of service; its files go after `file.delete.delay.ms`."""
        log = self.logs.get((topic, partition))
        if log is None:
            raise LogError(f"There is no log {topic}-{partition} to delete.")
        self._deleted.append((log.delete(), None, log.config.file_delete_delay_ms))
        del self.logs[topic, partition]

    def sync_names(self, logs: Iterable[TopicPartition]) -> None:
        """Bring the names of new logs' directories to disk with one sync; raises OSError.

        Without it the first flush of each log does so.
        """
        sync_directory(self.data_dir)
        for key in logs:
            self.logs[key].parent_synced()

    def apply_retention(self, now_ms: int) -> int:
        """Remove what is too old, too much or already deleted; returns the segments removed.

        A log whose disk fails is skipped with a line for the operator.
        """
        removed = 0
        for log in self._healthy_logs():
            try:
                removed += log.apply_retention(now_ms)
                log.purge_deleted(now_ms)
            except StorageError as error:
                self._report(log, error)
        self._purge_directories(now_ms)
        return removed

    def flush_all(self) -> None:
        """Bring every log to disk; raises the last StorageError after trying all."""
        failure = None
        for log in self._healthy_logs():
            try:
                log.flush()
            except StorageError as error:
                self._report(log, error)
                failure = error
        if failure is not None:
            raise failure

    def flush_due(self, now_ms: int) -> int:
        """Flush the logs whose `flush.messages` or `flush.ms` asks for it; returns how many.

        Only topics with these settings are concerned; it is for brokers that leave flushing to
        the system otherwise.
        """
        flushed = 0
        for log in self._healthy_logs():
            unflushed = log.log_end_offset - log.recovery_point
            if not unflushed:
                self._unflushed_since_ms.pop(log, None)
                continue
            since_ms = self._unflushed_since_ms.setdefault(log, now_ms)
            config = log.config
            if unflushed < config.flush_messages and now_ms - since_ms < config.flush_ms:
                continue
            try:
                log.flush()
                flushed += 1
            except StorageError as error:
                self._report(log, error)
            self._unflushed_since_ms.pop(log, None)
        return flushed

    def checkpoint(self) -> None:
        """Write down how far the logs are on disk and where they start.

        Segments that were closed since the last time are brought to disk first, so that a start
        after a crash has to check only the end of each log.
        """
        for log in self._healthy_logs():
            try:
                log.flush_closed_segments()
            except StorageError as error:
                self._report(log, error)
        self._write_checkpoints()

    def close(self) -> None:
        """Bring everything to disk and leave the marker that spares the next start a recovery."""
        self.faults.close()
        if self.journal is not None:
            self.journal.close()
        all_closed = close_logs(self.logs.values(), self._file_system)
        if self._file_system is not None:
            self._file_system.close()
        self._write_checkpoints()
        if all_closed:
            # The logs have all of it, and what has no journal need not be replayed.
            remove_journal(self.data_dir)
            write_clean_shutdown(self.data_dir)
        else:
            logger.warning("not all logs could be closed, so the next start will check them")
        self.logs.clear()

    def _load(self, wanted: Mapping[TopicPartition, tuple[bytes, LogConfig]], now_ms: int) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        # Before anything is written, so that it hears of every write that fails.
        self._file_system = FileSystem.under(self.data_dir)
        clean = take_clean_shutdown(self.data_dir)
        recovery_points = _read_checkpoint(self.data_dir / RECOVERY_POINTS)
        start_offsets = _read_checkpoint(self.data_dir / LOG_START_OFFSETS)
        self._checkpointed = set(recovery_points) | set(start_offsets)
        present = self._scan(wanted)
        if not clean and present:
            logger.info(
                "%s was not shut down cleanly: checking the ends of %d logs",
                self.data_dir, len(present),
            )  # fmt: skip
        if clean:
            # Of a version before, which did not know it and has changed the logs since.
            if remove_journal(self.data_dir):
                logger.warning("%s had an old journal, which is not used", self.data_dir)
        else:
            directories = {
                LogId(topic_id, key[1]): (
                    self.data_dir / partition_directory(*key),
                    recovery_points.get(key, 0) if present.get(key) else 0,
                )
                for key, (topic_id, _) in wanted.items()
            }
            replay(self.data_dir, directories, self.faults)

        def open_log(key: TopicPartition) -> Log:
            topic_id, config = wanted[key]
            recovery_point = recovery_points.get(key, 0)
            if key not in present and recovery_point:
                logger.error(
                    "the directory of %s-%d is missing; beginning it anew at offset %d",
                    *key, start_offsets.get(key, 0),
                )  # fmt: skip
            return Log.open(
                self.data_dir / partition_directory(*key),
                config,
                clean=clean,
                recovery_point=recovery_point,
                log_start_offset=start_offsets.get(key, 0),
                now_ms=now_ms,
                topic_id=None if present.get(key) else topic_id,
                faults=self.faults,
            )

        if clean:
            self.logs.update((key, open_log(key)) for key in wanted)
        else:
            # Each waits for the disk in the end.
            with ThreadPoolExecutor(_LOAD_THREADS, thread_name_prefix="headwater-load") as threads:
                self.logs.update(zip(wanted, threads.map(open_log, wanted), strict=True))
        if not clean and present:
            # What recovery cut off must not count as being on disk after the next crash.
            try:
                self._write_checkpoints()
            except StorageError as error:
                # A full disk must not keep anybody from reading. Without recovery points the
                # next recovery checks everything, which is slow and right.
                logger.error("%s", error)
                (self.data_dir / RECOVERY_POINTS).unlink(missing_ok=True)
        if not clean:
            # Every log has brought what it has to disk.
            remove_journal(self.data_dir)

    def _scan(
        self, wanted: Mapping[TopicPartition, tuple[bytes, LogConfig]]
    ) -> dict[TopicPartition, bool]:
        """Find the partitions that are there, and whether they have their topic's id."""
        present = {}
        for entry in tuple(os.scandir(self.data_dir)):
            if not entry.is_dir():
                continue
            if entry.name.endswith(DELETED_DIRECTORY):
                self._deleted.append((Path(entry.path), None, 0))
            key = parse_partition_directory(entry.name)
            if key is None or key[0] == _METADATA_TOPIC:
                continue
            if key not in wanted:
                self._set_stray(Path(entry.path), "no topic has such a partition")
                continue
            found = _topic_id(entry.path)
            if found is None or found == wanted[key][0]:
                present[key] = found is not None
            else:
                self._set_stray(Path(entry.path), "it belongs to another topic of that name")
        return present

    def _set_stray(self, directory: Path, reason: str) -> None:
        target = directory.with_name(set_aside(directory.name, STRAY_DIRECTORY))
        directory.rename(target)
        logger.warning(
            "%s is not used, since %s; renamed to %s, remove it when you do not need it",
            directory, reason, target.name,
        )  # fmt: skip

    def _write_checkpoints(self) -> None:
        with self._checkpointing:
            logs = dict(self.logs)
            recovery_points = {key: log.recovery_point for key, log in logs.items()}
            start_offsets = {
                key: log.log_start_offset
                for key, log in logs.items()
                if log.log_start_offset > log.segments[0].base_offset
            }
            try:
                write_offsets(self.data_dir / RECOVERY_POINTS, recovery_points)
                write_offsets(self.data_dir / LOG_START_OFFSETS, start_offsets)
                write_offsets(self.data_dir / HIGH_WATERMARKS, recovery_points)
            except OSError as error:
                raise storage_error(error, f"Writing checkpoints in {self.data_dir}") from error
            self._checkpointed = set(logs)

    def _healthy_logs(self) -> list[Log]:
        return [log for log in tuple(self.logs.values()) if log.failure is None]

    def _report(self, log: Log, error: StorageError) -> None:
        # A log may be deleted while it is being worked on, which is no error.
        if any(log is present for present in tuple(self.logs.values())):
            logger.error("%s", error)

    def _purge_directories(self, now_ms: int) -> None:
        # Others may add to the list meanwhile, so that it is taken apart entry by entry.
        for _ in range(len(self._deleted)):
            directory, since_ms, delay_ms = self._deleted.pop(0)
            since = now_ms if since_ms is None else since_ms
            if now_ms - since < delay_ms:
                self._deleted.append((directory, since, delay_ms))
                continue
            try:
                remove_tree(directory)
            except OSError as error:
                logger.error("%s", storage_error(error, f"Removing {directory}"))


def _read_checkpoint(path: Path) -> dict[TopicPartition, int]:
    try:
        return read_offsets(path)
    except CorruptCheckpoint as error:
        logger.warning("%s Going on without it.", error)
        return {}


def _topic_id(directory: str) -> bytes | None:
    try:
        return read_topic_id(f"{directory}/{PARTITION_METADATA}")
    except CorruptCheckpoint:
        # A power cut right after the topic's creation leaves an empty file.
        return None
