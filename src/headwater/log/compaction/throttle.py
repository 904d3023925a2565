"""Hold a background job to a number of bytes per second."""

from __future__ import annotations

import math
import time


class Throttle:
    """Sleeps as long as it takes to stay below the rate; an infinite rate never sleeps."""

    def __init__(self, bytes_per_second: float = math.inf) -> None:
        self._rate = bytes_per_second
        self._started = time.monotonic()
        self._bytes = 0

    def pay(self, count: int) -> None:
        """Account for bytes read or written."""
        self._bytes += count
        ahead = self._bytes / self._rate - (time.monotonic() - self._started)
        if ahead > 0:
            time.sleep(ahead)
