"""Counts records as they are processed, and says how long it took from the first to the last."""

from __future__ import annotations

import time


class Stopwatch:
    """Reads the clock at the first record and at the last."""

    def __init__(self, records: int) -> None:
        self._records = records
        self._seen = 0
        self._started = 0.0

    def tick(self) -> bool:
        """Count a record; print the result and return True at the last one."""
        self._seen += 1
        if self._seen == 1:
            self._started = time.perf_counter()
        if self._seen != self._records:
            return False
        print(f"seconds={time.perf_counter() - self._started}", flush=True)
        return True
