"""Log a fault that comes back with every request once a minute, and say how often it came."""

from __future__ import annotations

import logging
import threading
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

INTERVAL_S = 60.0
_MOST_CAUSES = 1000


class RateLimitedLogger:
    """One line for each cause and minute; any thread may use it.

    faults = RateLimitedLogger(logging.getLogger("headwater.broker"))
    faults.error(("disk", error.errno), "%s", error)
    """

    def __init__(
        self,
        logger: logging.Logger,
        *,
        interval_s: float = INTERVAL_S,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._logger = logger
        self._interval_s = interval_s
        self._clock = clock
        self._lock = threading.Lock()
        # When each cause was last told, and how often it has come since then.
        self._told: dict[Hashable, tuple[float, int]] = {}

    def error(self, cause: Hashable, message: str, *args: object) -> bool:
        """Log an error unless its cause was told within the last minute; says whether it was."""
        return self._log(logging.ERROR, cause, message, args)

    def warning(self, cause: Hashable, message: str, *args: object) -> bool:
        """Do the same with a warning."""
        return self._log(logging.WARNING, cause, message, args)

    def _log(self, level: int, cause: Hashable, message: str, args: tuple[object, ...]) -> bool:
        now = self._clock()
        with self._lock:
            told_at, silent = self._told.get(cause, (None, 0))
            if told_at is not None and now - told_at < self._interval_s:
                self._told[cause] = told_at, silent + 1
                return False
            if len(self._told) >= _MOST_CAUSES:
                del self._told[next(iter(self._told))]
            self._told.pop(cause, None)
            self._told[cause] = now, 0
        if silent:
            message, args = message + " (%d more times since it was last told)", (*args, silent)
        self._logger.log(level, message, *args)
        return True
