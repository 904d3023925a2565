"""What a data directory has gone wrong with: told once a minute, counted for metrics.

Damage is found by whoever reads, many times a second. Nothing here changes a log's batches: they
stay as they are for whoever restores them, and everything that is intact is served.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater.log.rate_limited_logger import RateLimitedLogger

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.log.errors import CorruptBatch, StorageError

logger = logging.getLogger("headwater.log")


class StorageFaults:
    """The damage that the logs of one data directory have come upon since the start."""

    def __init__(self) -> None:
        self.corrupt_batches = 0
        """Reads that ended at a damaged batch."""
        self.rebuilt_indexes = 0
        """Indexes that did not fit their segment and were built anew."""
        self.journal_gaps = 0
        """Damaged or missing parts of a journal that a start had to do without."""
        self._told = RateLimitedLogger(logger)
        self._lock = threading.Lock()
        self._repairs: ThreadPoolExecutor | None = None

    def corrupt_batch(self, error: CorruptBatch, readable_from: int | None) -> None:
        """Tell of a damaged batch that a reader came to; `readable_from` is what lies behind it."""
        with self._lock:
            self.corrupt_batches += 1
        onward = "" if readable_from is None else f", or seek to offset {readable_from}, the next"
        self._told.error(
            str(error),
            "%s Consumers that come to it get CORRUPT_MESSAGE; all other batches are served."
            " Stop the broker and restore the file from a backup or a mirror%s that can be read.",
            error, onward or ", if it is to be had; nothing behind it in this file",
        )  # fmt: skip

    def lying_index(self, segment: str, reason: str) -> None:
        """Tell of an index that does not fit its segment and is going to be built anew."""
        self._told.warning(
            segment, "%s: its index is damaged (%s); rebuilding it, no record is lost",
            segment, reason,
        )  # fmt: skip

    def journal_gap(self, problem: str) -> None:
        """Tell of a part of the journal that cannot be used."""
        with self._lock:
            self.journal_gaps += 1
        logger.error("%s Records that were acknowledged may be lost.", problem)

    def repair_failed(self, error: StorageError) -> None:
        """Tell of a repair that the disk refused; the next reader asks for it again."""
        self._told.error(str(error), "%s", error)

    def index_rebuilt(self) -> None:
        """Count an index that was built anew."""
        with self._lock:
            self.rebuilt_indexes += 1

    def repair(self, work: Callable[[], None]) -> None:
        """Run a repair in a thread, one after the other."""
        with self._lock:
            if self._repairs is None:
                self._repairs = ThreadPoolExecutor(1, thread_name_prefix="headwater-repair")
            self._repairs.submit(work)

    def close(self) -> None:
        """Wait for the repairs that are under way."""
        with self._lock:
            repairs, self._repairs = self._repairs, None
        if repairs is not None:
            repairs.shutdown(wait=True)
