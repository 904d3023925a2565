"""The log of one partition: append, roll, flush, remove, and all that `LogReader` can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.log.append_info import (
    AppendInfo,
    AppendOrigin,
    Placed,
    place_batch,
    place_batches,
)
from headwater.log.append_validation import (
    changes_batches,
    check_client_batch,
    conform,
    coordinator_batches,
)
from headwater.log.disk import storage_error, sync_directory
from headwater.log.errors import LogError, OffsetOutOfRange, StorageError
from headwater.log.file_names import DELETED_DIRECTORY, set_aside
from headwater.log.flusher import Flusher
from headwater.log.indexes.timestamp_search import TimestampOffset
from headwater.log.log_loader import LoadedLog, load
from headwater.log.log_reader import LogReader
from headwater.log.producers.producer_snapshots import remove_old_snapshots, take_snapshot
from headwater.log.records.batch import TIMESTAMP_TYPE_BIT
from headwater.log.records.end_txn_marker import decode_marker
from headwater.log.retention import count_removable, is_expired
from headwater.log.segments.log_segments import LogPosition
from headwater.log.segments.removed import RemovedSegments
from headwater.log.segments.roll_policy import RollPolicy
from headwater.log.segments.segment import FileSlice, Segment
from headwater.log.segments.swap import commit_cleaned
from headwater.log.storage_faults import StorageFaults

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.log.config import LogConfig
    from headwater.log.flusher import Region
    from headwater.log.journal.journal import Journal
    from headwater.log.producers.producer_entry import BatchMetadata
    from headwater.log.records.batch import BatchHeader

__all__ = ["AppendInfo", "AppendOrigin", "FileSlice", "Log", "LogPosition", "TimestampOffset"]

_SMALL = 64 * 1024

# To look up a member of an enumeration runs Python, which each batch would pay for.
_CLIENT = AppendOrigin.CLIENT


class Log(LogReader):
    """An ordered, durable sequence of record batches in segments.

    One thread appends and reads; flushing, retention and compaction may run in others.

        log = Log.open(Path("data/orders-0"), LogConfig(), clean=True, now_ms=now_ms)
        info = log.append(memoryview(batch), leader_epoch=0, now_ms=now_ms)
        log.flush()
        batches = log.read(info.base_offset, 1 << 20, log.end).read()
    """

    def __init__(
        self, directory: Path, config: LogConfig, loaded: LoadedLog, faults: StorageFaults
    ) -> None:
        super().__init__(directory.name, loaded, faults)
        self.directory = directory
        self._flusher = Flusher(directory, loaded, self.lock)
        self._removed = RemovedSegments()
        self._journal: Journal | None = None
        self.update_config(config)
        self._segments.active.roll_jitter_ms = self._roll_policy.jitter_ms()

    def __repr__(self) -> str:
        return f"Log({self.name}, {self.log_start_offset} to {self.log_end_offset})"

    @classmethod
    def open(
        cls,
        directory: Path,
        config: LogConfig,
        *,
        clean: bool,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        now_ms: int,
        topic_id: bytes | None = None,
        faults: StorageFaults | None = None,
    ) -> Log:
        """Open a partition's directory, or create it; raises StorageError.

        Unless the last shutdown was `clean`, everything from `recovery_point` on is checked.
        """
        try:
            loaded = load(
                directory,
                config,
                clean=clean,
                recovery_point=recovery_point,
                log_start_offset=log_start_offset,
                now_ms=now_ms,
                topic_id=topic_id,
            )
        except OSError as error:
            raise storage_error(error, f"Opening the log {directory}") from error
        log = cls(directory, config, loaded, faults or StorageFaults())
        if log.log_end_offset > log.recovery_point:
            # Readers may see all that recovery kept, so it has to be on disk.
            log.flush()
        return log

    @property
    def recovery_point(self) -> int:
        """The offset below which everything is on disk."""
        return self._flusher.recovery_point

    @property
    def failure(self) -> StorageError | None:
        """Why the log takes no more writes until the next start, if it does not."""
        return self._flusher.failure

    @property
    def is_deleted(self) -> bool:
        """Whether the log is out of service for good."""
        return self.directory.name.endswith(DELETED_DIRECTORY)

    def append(
        self,
        records: memoryview,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin = _CLIENT,
    ) -> AppendInfo:
        """Check a client's batch, give it offsets and write it.

        The bytes are changed in place. Every error leaves the log as it was.
        """
        with self.lock:
            self._flusher.check()
            config = self.config
            base_offset = self._segments.end.offset
            if origin is _CLIENT:
                header = check_client_batch(records, config, now_ms, self.name)
                if header.producer_id >= 0:
                    duplicate = self.producers.check_client(header)
                    if duplicate is not None:
                        return self._already_appended(duplicate)
                if self._changes_batches or header.attributes & TIMESTAMP_TYPE_BIT:
                    records, header = conform(records, header, config, now_ms, self.name)
                placed = place_batch(records, header, base_offset, leader_epoch)
            else:
                batches = coordinator_batches(records, config, self.name)
                header = batches[0][1]
                if header.producer_id >= 0:
                    self.producers.check_epoch(header)
                placed = place_batches(records, batches, base_offset, leader_epoch)
            if header.producer_id < 0:
                self._write(records, placed, now_ms)
            else:
                self._write_of_producer(records, placed, header.placed_at(base_offset), now_ms)
            self._epochs.assign(leader_epoch, base_offset)
            return AppendInfo(
                base_offset,
                placed.last_offset,
                now_ms if self._uses_log_append_time else -1,
                self.log_start_offset,
                self._segments.end,
            )

    def forget_silent_producers(self, expiration_ms: int, now_ms: int) -> int:
        """Forget producers that have not written for so long; returns how many."""
        with self.lock:
            return self.producers.expire(now_ms, expiration_ms)

    def flush(self) -> LogPosition:
        """Bring all that was appended so far to disk and return where that ends.

        Raises StorageError. If the disk has refused data, the log takes no more writes until the
        next start, since nobody can say what is on disk.
        """
        return self._flusher.flush()

    def flush_closed_segments(self) -> None:
        """Bring all but the active segment to disk; for logs that are not flushed otherwise."""
        self._flusher.flush_closed()

    def use_journal(self, journal: Journal) -> None:
        """Note who makes the log's appends safe before its own files are brought to disk."""
        self._journal = journal

    def unsafe_regions(self) -> tuple[LogPosition, list[Region]]:
        """Return where the log ends and what of it is not on disk; raises StorageError."""
        return self._flusher.unsafe_regions()

    def made_safe(self, end: LogPosition) -> None:
        """Note that the journal has all before a position on disk."""
        self._flusher.made_safe(end)

    def roll(self, now_ms: int) -> None:
        """Begin a new segment, unless the active one is empty."""
        with self.lock, self._disk(f"Beginning a new segment of {self.name}"):
            self._flusher.check()
            old = self._segments.active
            if old.size == 0:
                return
            old.finish()
            segment = Segment.create(
                str(self.directory),
                self.log_end_offset,
                created_ms=now_ms,
                preallocate=self.config.segment_bytes if self.config.preallocate else 0,
            )
            segment.roll_jitter_ms = self._roll_policy.jitter_ms()
            self._flusher.segment_closed(old)
            self._segments.add(segment)
            take_snapshot(self.directory, self.log_end_offset, self.producers.entries)

    def delete_records(self, before_offset: int) -> int:
        """Move the log start up to an offset; returns the log start, which never moves back.

        Segments that lie below it go with the next `apply_retention`.
        """
        with self.lock:
            if before_offset > self.log_end_offset:
                raise OffsetOutOfRange(
                    f"Offset {before_offset} is not in {self.name}, which ends at "
                    f"{self.log_end_offset}."
                )
            self._move_log_start(before_offset)
            return self.log_start_offset

    def apply_retention(self, now_ms: int) -> int:
        """Remove segments that are too old, too many or below the log start; returns how many.

        An active segment whose records are all too old is rolled first.
        """
        with self.maintenance, self._disk(f"Removing old segments of {self.name}"):
            active = self._segments.active
            if active.size and is_expired(active, self.config, now_ms):
                self.roll(now_ms)
            self._flusher.flush_closed()
            with self.lock:
                count = count_removable(
                    self.segments,
                    self.config,
                    log_start_offset=self.log_start_offset,
                    flushed_offset=self.recovery_point,
                    now_ms=now_ms,
                )
            if count:
                self._settle()
            with self.lock:
                segments = self.segments
                if count:
                    self._move_log_start(segments[count].base_offset)
                    self._segments.replace(segments[count:])
                self._repair_doubted()
            self._removed.add(segments[:count])
            if count:
                remove_old_snapshots(self.directory, [each.base_offset for each in self.segments])
            return count

    def purge_deleted(self, now_ms: int) -> int:
        """Unlink removed segments after `file.delete.delay.ms`; returns how many."""
        with self.maintenance, self._disk(f"Removing old segments of {self.name}"):
            return self._removed.purge(now_ms, self.config.file_delete_delay_ms)

    def replace_segments(self, old: Sequence[Segment], cleaned: Path | None) -> None:
        """Put a compacted segment in the place of consecutive closed ones, or nothing.

        `cleaned` is the path of its files up to the base offset: `.log.cleaned`, `.index.cleaned`
        and `.timeindex.cleaned` follow. Once this begins to rename, a crash does not stop it: the
        next start completes it. Raises LogError if the log has other segments by now.
        """
        with self.maintenance, self._disk(f"Compacting {self.name}"):
            self._flusher.flush_closed()
            closed = self.segments[:-1]
            first = closed.index(old[0]) if old and old[0] in closed else len(closed)
            after = first + len(old)
            if not old or closed[first:after] != tuple(old):
                raise LogError(f"The segments to replace are not neighbours in {self.name}.")
            self._settle()
            new = [] if cleaned is None else [commit_cleaned(cleaned, old)]
            with self.lock:
                segments = self.segments
                self._segments.replace((*segments[:first], *new, *segments[after:]))
            self._removed.add(old)
            for segment in new:
                # Locked, since a reader opens a file by its name.
                with self.lock:
                    segment.rename("")
                    segment.release_indexes()
            sync_directory(self.directory)

    def update_config(self, config: LogConfig) -> None:
        """Take over changed settings; they hold from the next append on."""
        with self.lock:
            self.config = config
            self._changes_batches = changes_batches(config)
            self._uses_log_append_time = config.message_timestamp_type == "LogAppendTime"
            self._roll_policy = RollPolicy(config)

    def complete(self, *, durable: bool = True) -> None:
        """Write all that a start wants to find, before the log is closed; raises StorageError.

        What is not `durable` gets to disk with a sync of the whole file system.
        """
        with self.maintenance, self._disk(f"Closing {self.name}"):
            # Who wrote a few batches is as quickly read from them as from a snapshot.
            if len(self.producers) or len(self.segments) > 1 or self.size > _SMALL:
                take_snapshot(self.directory, self.log_end_offset, self.producers.entries)
            self._flusher.complete(durable=durable)

    def close(self, *, is_synced: bool = False) -> None:
        """Bring everything to disk, indexes included, and end the use of the log.

        Who has synced the whole file system since `complete` says so, and it is not done again.
        """
        if not is_synced:
            self.complete()
        with self.maintenance, self._disk(f"Closing {self.name}"):
            self._flusher.close(self.name, is_synced=is_synced)

    def parent_synced(self) -> None:
        """Note that the directory's name is on disk, which the first flush would see to else."""
        self._flusher.parent_synced()

    def delete(self) -> Path:
        """Take the log out of service at once; returns the renamed directory, to be removed."""
        target = self.directory.with_name(set_aside(self.name, DELETED_DIRECTORY))
        with self.maintenance, self.lock, self._disk(f"Deleting {self.name}"):
            self.directory.rename(target)
            self._flusher.failure = StorageError(f"{self.name} has been deleted.")
            self.directory = target
            return target

    def _already_appended(self, duplicate: BatchMetadata) -> AppendInfo:
        return AppendInfo(
            duplicate.first_offset,
            duplicate.last_offset,
            duplicate.timestamp if self._uses_log_append_time else -1,
            self.log_start_offset,
            self._segments.end,
            is_duplicate=True,
        )

    def _write_of_producer(
        self, records: memoryview, placed: Placed, header: BatchHeader, now_ms: int
    ) -> None:
        marker = decode_marker(records) if header.is_control else None
        if marker is not None:
            self.producers.check_marker(header, marker)
            placed = placed._replace(aborted=self.producers.aborted_by(header, marker))
        self._write(records, placed, now_ms)
        self.producers.update(header, now_ms, marker)

    def _write(self, records: memoryview, placed: Placed, now_ms: int) -> None:
        segment = self._segments.active
        if self._roll_policy.must_roll(segment, len(records), placed, now_ms):
            self.roll(now_ms)
            segment = self._segments.active
        try:
            segment.append(records, placed, self.config.index_interval_bytes)
        except OSError as error:
            failure = storage_error(error, f"Appending to {self.name}")
            if segment.is_torn:
                self._flusher.failure = failure
            raise failure from error
        self._segments.end = LogPosition(placed.last_offset + 1, segment.base_offset, segment.size)

    def _settle(self) -> None:
        # Without the log's lock: the journal may have to wait for a flush, which takes it.
        if self._journal is not None:
            self._journal.settle(self, self.recovery_point)

    def _move_log_start(self, offset: int) -> None:
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self._epochs.truncate_from_start(offset)
