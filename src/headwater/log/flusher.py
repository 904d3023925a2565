"""Bring a log's files to disk, and know up to which offset they are there."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.disk import storage_error, sync_directory
from headwater.log.errors import StorageError
from headwater.log.segments.log_segments import LogPosition

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.disk import OpenFile
    from headwater.log.log_loader import LoadedLog
    from headwater.log.segments.segment import Segment


class Region(NamedTuple):
    """Bytes of a segment's file; behind the last of their batches comes `end_offset`."""

    file: OpenFile
    segment_base: int
    position: int
    length: int
    end_offset: int


class Flusher:
    """Syncs what was written since the last time, one thread at a time, without the log's lock.

    The indexes of the active segment are left out, and the leader epochs that began in it:
    recovery builds them anew. Those of a closed segment are on disk before the recovery point
    moves past its end.
    """

    def __init__(self, directory: Path, loaded: LoadedLog, lock: threading.RLock) -> None:
        self.recovery_point = loaded.recovery_point
        """All below this offset is on disk."""
        self.failure: StorageError | None = None
        """Why the log takes no more writes, if it does not."""
        self.closed = list(loaded.unsynced)
        """Segments that do not grow any more but are not all on disk."""
        self._directory = directory
        self._segments = loaded.segments
        self._epochs = loaded.epochs
        self._lock = lock
        self._flushing = threading.Lock()
        self._names_changed = not loaded.has_names_on_disk
        self._directory_is_new = loaded.is_new
        self._synced_end = loaded.segments.end if loaded.is_synced else None
        self._safe = loaded.segments.end
        """All before it is on disk, in the log's own files or in the journal."""

    def check(self) -> None:
        """Raise StorageError if the log takes no more writes."""
        if self.failure is not None:
            raise StorageError(str(self.failure))

    def segment_closed(self, segment: Segment) -> None:
        """Note that a segment was complete and another one was created."""
        self.closed.append(segment)
        self._names_changed = True

    def parent_synced(self) -> None:
        """Note that the name of the log's directory is on disk."""
        self._directory_is_new = False

    def unsafe_regions(self) -> tuple[LogPosition, list[Region]]:
        """Return where the log ends, and what was appended since the last flush or `made_safe`."""
        with self._lock:
            self.check()
            end, safe = self._segments.end, self._safe
            active = self._segments.active
            if end.offset <= safe.offset:
                return end, []
            if active.base_offset == safe.segment_base:
                length = end.position - safe.position
                region = Region(active.file, active.base_offset, safe.position, length, end.offset)
                return end, [region]
            regions = []
            following = end.offset
            for segment in reversed(self._segments.all):
                if segment.base_offset < safe.segment_base:
                    break
                start = safe.position if segment.base_offset == safe.segment_base else 0
                if segment.size > start:
                    length = segment.size - start
                    regions.append(
                        Region(segment.file, segment.base_offset, start, length, following)
                    )
                following = segment.base_offset
            return end, regions[::-1]

    def made_safe(self, end: LogPosition) -> None:
        """Note that the journal has everything before a position on disk."""
        with self._lock:
            # Of the same offset, the one in the later segment.
            if end > self._safe:
                self._safe = end

    def flush(self) -> LogPosition:
        """Bring everything that was appended before this call to disk."""
        with self._flushing:
            with self._lock:
                self.check()
                end = self._segments.end
                closed = tuple(self.closed)
                files = [file for segment in closed for file in segment.files()]
                if end.offset > self.recovery_point:
                    files.append(self._segments.active.file)
            self._sync(files, closed, end)
        return end

    def flush_closed(self) -> None:
        """Bring all but the active segment to disk, which is what a roll asks for."""
        with self._flushing:
            with self._lock:
                self.check()
                end_offset = self._segments.active.base_offset
                closed = tuple(self.closed)
                if not closed and self.recovery_point >= end_offset:
                    return
                files = [file for segment in closed for file in segment.files()]
            self._sync(files, closed, LogPosition(end_offset, end_offset, 0))

    def complete(self, *, durable: bool) -> None:
        """Write what the active segment's indexes and the leader epochs lack; raises OSError."""
        with self._lock:
            if self.failure is not None or not self._is_changed:
                return
            active = self._segments.active
            active.finish()
            # A segment without entries has a single one in its time index, which the next start
            # misses if it is lost: that need not wait for the disk.
            if active.offset_index.count and active not in self.closed:
                self.closed.append(active)
            self._write_epochs(is_due=bool(self.closed), durable=durable)

    def close(self, name: str, *, is_synced: bool) -> None:
        """Bring everything to disk, unless that was done by other means, and stop."""
        with self._lock:
            if self.failure is not None:
                return
            is_changed = self._is_changed
            if is_changed and is_synced:
                self._note_synced(tuple(self.closed), self._segments.end)
        if is_changed and not is_synced:
            self.flush()
        self.failure = StorageError(f"{name} is closed.")

    @property
    def _is_changed(self) -> bool:
        """Whether there is anything that the next start would miss."""
        if self._segments.end == self._synced_end and not self._epochs.is_misleading:
            return False
        # What nobody has written to need not be there.
        return self._segments.end.offset > 0 or bool(self.closed)

    def _sync(self, files: list[OpenFile], closed: tuple[Segment, ...], end: LogPosition) -> None:
        self._sync_data(files)
        try:
            self._write_epochs(is_due=bool(closed), durable=True)
            self._sync_names()
        except OSError as error:
            # Nothing that was written is in doubt; the next flush tries again.
            raise storage_error(error, f"Flushing {self._directory.name}") from error
        self._note_synced(closed, end)

    def _note_synced(self, closed: tuple[Segment, ...], end: LogPosition) -> None:
        with self._lock:
            for segment in closed:
                segment.release_indexes()
                self.closed.remove(segment)
            self.recovery_point = max(self.recovery_point, end.offset)
            self.made_safe(end)

    def _write_epochs(self, *, is_due: bool, durable: bool) -> None:
        """Write the leader epochs if they are due, or if the file tells of wrong ones."""
        if self._epochs.is_misleading or (is_due and self._epochs.is_dirty):
            self._epochs.write(durable=durable)
            self._names_changed = True

    def _sync_data(self, files: list[OpenFile]) -> None:
        try:
            for file in files:
                file.sync()
        except OSError as error:
            # The system may have dropped the pages that it could not write, so that another sync
            # would succeed without them. Only a restart, which reads what is there, can tell.
            failure = storage_error(error, f"Bringing {self._directory.name} to disk")
            self.failure = StorageError(
                f"{failure} The log takes no more writes until the broker is restarted."
            )
            raise self.failure from error

    def _sync_names(self) -> None:
        # Cleared first, since a roll may change names again while this is under way.
        if self._names_changed:
            self._names_changed = False
            try:
                sync_directory(self._directory)
            except OSError:
                self._names_changed = True
                raise
        if self._directory_is_new:
            sync_directory(self._directory.parent)
            self._directory_is_new = False
