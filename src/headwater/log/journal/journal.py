"""One sync for the appends of many logs, before their own files are synced in the background.

    journal = Journal(Path("data"), 256 << 20)
    [end] = journal.commit([(LogId(topic_id, 0), log)])
    journal.close()

A group commit writes what the logs have appended into the journal, in sequence, and syncs that
alone. The logs' own files have the same bytes in the page cache. When a file of the journal is
full, a thread syncs the logs that have entries in it, and the file can be used again. After a
power cut, `replay` writes the entries to the logs' files, before these are opened and checked.

When the journal cannot be used (a full disk, a failing one), each log is synced itself instead.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater.log.disk import storage_error
from headwater.log.errors import LogError, StorageError
from headwater.log.file_names import JOURNAL
from headwater.log.journal.group_buffer import GroupBuffer
from headwater.log.journal.journal_file import JournalFile
from headwater.log.journal.journal_format import BLOCK
from headwater.log.rate_limited_logger import RateLimitedLogger

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from headwater.log.flusher import Region
    from headwater.log.journal.journal_format import LogId
    from headwater.log.log import Log
    from headwater.log.segments.log_segments import LogPosition

logger = logging.getLogger("headwater.log")

MOST_FILES = 4
LEAST_BYTES = MOST_FILES * 64 * BLOCK

_MOST_PIECE = 2 << 20
"""The most bytes of one log in a group, of which there may be twice as many."""
_SETTLED_SHARE = 16
"""One part of so many of each file is kept for entries that let old segments be removed."""


class Journal:
    """The journal of one data directory, which had none, or whose journal was replayed."""

    def __init__(self, directory: Path, size: int) -> None:
        self._directory = directory
        self._file_bytes = size // MOST_FILES // BLOCK * BLOCK
        self._reserve = self._file_bytes // _SETTLED_SHARE // BLOCK * BLOCK
        self._most_piece = min(_MOST_PIECE, self._file_bytes // 8)
        self._group = GroupBuffer(2 * self._most_piece)
        self._number = 0
        self._lock = threading.Lock()
        self._current: JournalFile | None = None
        self._full: deque[JournalFile] = deque()
        self._free: deque[JournalFile] = deque()
        self._made = 0
        self._failure: StorageError | None = None
        self._told = RateLimitedLogger(logger)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="headwater-journal")

    def commit(self, logs: Sequence[tuple[LogId, Log]]) -> list[LogPosition | LogError]:
        """Make everything safe that was appended to these logs before this call.

        Returns for each of them where that ends, or why it is not safe.
        """
        with self._lock:
            ends: list[LogPosition | LogError] = []
            regions: list[tuple[LogId, Log, Region]] = []
            length = 0
            for log_id, log in logs:
                try:
                    end, unsafe = log.unsafe_regions()
                except LogError as error:
                    ends.append(error)
                    continue
                ends.append(end)
                for region in unsafe:
                    regions.append((log_id, log, region))
                    length += region.length
            is_written = length <= self._file_bytes // 2 and self._write_regions(regions)
        for number, (_, log) in enumerate(logs):
            safe = ends[number]
            if isinstance(safe, LogError):
                continue
            if is_written:
                log.made_safe(safe)
            else:
                ends[number] = _flush(log)
        return ends

    def settle(self, log: Log, offset: int) -> None:
        """Void what the journal has of a log below an offset, before the log removes any of it.

        The log has it on disk in its own files. Raises StorageError.
        """
        with self._lock:
            # Each looked at once: the thread may clear one meanwhile.
            ids = [log_id for file in self._live() for log_id in [file.logs.get(log)] if log_id]
            if not ids:
                return
            log_id = ids[0]
            self._group.clear()
            self._group.add_settled(log_id, offset)
            if self._failure is None and self._write({log: log_id}, reserve=0):
                return
        raise StorageError(
            f"{log.name} keeps its old segments for now: the journal cannot take note of them. "
            f"{self._failure or 'It is full until the logs can be brought to disk.'}"
        )

    def close(self) -> None:
        """End the work in the background; the files stay."""
        with self._lock:
            self._failure = StorageError("The journal is closed.")
        self._thread.shutdown(wait=True, cancel_futures=True)
        for file in (*self._live(), *self._free):
            file.close()

    def _live(self) -> Iterator[JournalFile]:
        yield from tuple(self._full)
        if self._current is not None:
            yield self._current

    def _write_regions(self, regions: list[tuple[LogId, Log, Region]]) -> bool:
        """Write all of them, in as many groups as it takes; False if the journal cannot."""
        if self._failure is not None:
            return False
        group = self._group
        group.clear()
        members: dict[Log, LogId] = {}
        for log_id, log, piece in self._pieces(regions):
            if not group.has_room(piece.length):
                if not self._write(members, reserve=self._reserve):
                    return False
                group.clear()
                members = {}
            try:
                group.add_region(log_id, piece)
            except OSError as error:
                failure = storage_error(error, f"Reading {log.name}")
                self._told.error(log.name, "%s", failure)
                return False
            members[log] = log_id
        return group.is_empty or self._write(members, reserve=self._reserve)

    def _pieces(
        self, regions: list[tuple[LogId, Log, Region]]
    ) -> Iterator[tuple[LogId, Log, Region]]:
        """Cut what is larger than a group may be."""
        most = self._most_piece
        for each in regions:
            log_id, log, region = each
            if region.length <= most:
                yield each
                continue
            for start in range(0, region.length, most):
                length = min(most, region.length - start)
                position = region.position + start
                yield log_id, log, region._replace(position=position, length=length)

    def _write(self, members: dict[Log, LogId], *, reserve: int) -> bool:
        """Write the group of entries of some logs; False if the journal cannot."""
        file = self._current
        if file is None or not file.has_room(self._group.size, reserve):
            file = self._next_file()
            if file is None:
                return False
        # First: it is not known what a failed write leaves.
        file.logs.update(members)
        try:
            file.write(self._number + 1, self._group)
        except OSError as error:
            self._failure = storage_error(error, f"Writing the journal in {self._directory}")
            logger.error(
                "%s From now on each log is brought to disk itself, which is slower, until the"
                " broker is restarted.", self._failure,
            )  # fmt: skip
            self._retire_current()
            return False
        self._number += 1
        return True

    def _next_file(self) -> JournalFile | None:
        """Return an empty file to go on with, once there is one; None if there is none."""
        self._retire_current()
        if not self._free and self._made < MOST_FILES:
            try:
                path = self._directory / f"{JOURNAL}{self._made}"
                self._free.append(JournalFile(path, self._file_bytes))
                self._made += 1
            except OSError as error:
                failure = storage_error(error, f"Making a journal in {self._directory}")
                self._told.warning(
                    type(failure), "%s Until then each log is brought to disk itself.", failure
                )
        if not self._free and self._full:
            self._thread.submit(self._reclaim).result()
        if self._free:
            self._current = self._free.popleft()
        return self._current

    def _retire_current(self) -> None:
        if self._current is not None:
            self._full.append(self._current)
            self._current = None
            self._thread.submit(self._reclaim)

    def _reclaim(self) -> None:
        """Bring the logs to disk that full files have entries of, the oldest file first."""
        while self._full:
            file = self._full[0]
            for log in tuple(file.logs):
                flushed = None if log.is_deleted else _flush(log)
                if isinstance(flushed, LogError) and not log.is_deleted:
                    # The entries are what a restart has to go by.
                    self._told.error(log.name, "%s", flushed)
                    return
            if not self._forget(file):
                return

    def _forget(self, file: JournalFile) -> bool:
        """Make the oldest full file free, or remove it if it cannot be written to."""
        try:
            file.clear()
            # Added first, so that whoever looks sees it in one of the two.
            self._free.append(file)
        except OSError:
            try:
                file.remove()
            except OSError as error:
                failure = storage_error(error, f"Clearing the journal in {self._directory}")
                self._told.error(type(failure), "%s", failure)
                return False
        self._full.popleft()
        return True


def _flush(log: Log) -> LogPosition | LogError:
    try:
        return log.flush()
    except LogError as error:
        return error
