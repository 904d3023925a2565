"""How far a connector is: rows, errors, and whether it gets anywhere."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """What became of the rows of a batch."""

    read: int = 0
    written: int = 0
    failed: int = 0

    @property
    def filtered(self) -> int:
        """How many a transform took out."""
        return max(0, self.read - self.written - self.failed)


class Progress:
    """What a running connector has done; its thread writes, any thread reads."""

    def __init__(self) -> None:
        self.rows_read = self.rows_written = self.rows_filtered = self.rows_failed = 0
        self.batches = self.restarts = self.lag = 0
        self.last_error = ""
        """In one line; empty where all is well since the start."""
        self.restart_in_s: float | None = None
        """How long it waits before it is tried again; None while it runs."""
        self._busy_since: float | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """A batch, or the look for one, begins."""
        self._busy_since = time.monotonic()

    def end(self) -> None:
        """It has ended, with rows or without."""
        self._busy_since = None

    def add(self, counts: BatchCounts) -> None:
        """Count a batch that was written."""
        with self._lock:
            self.batches += 1
            self.rows_read += counts.read
            self.rows_written += counts.written
            self.rows_filtered += counts.filtered
            self.rows_failed += counts.failed

    def is_stalled(self, after_s: float) -> bool:
        """Whether it has been at the same batch for so long."""
        since = self._busy_since
        return since is not None and time.monotonic() - since > after_s

    def summary(self, stalled_after_s: float) -> dict[str, Any]:
        """Return all of it, for the status."""
        return {
            "stalled": self.is_stalled(stalled_after_s),
            "rows_read": self.rows_read,
            "rows_written": self.rows_written,
            "rows_filtered": self.rows_filtered,
            "rows_failed": self.rows_failed,
            "batches": self.batches,
            "lag": self.lag,
            "restarts": self.restarts,
            "restart_in_s": self.restart_in_s,
            "last_error": self.last_error,
        }
