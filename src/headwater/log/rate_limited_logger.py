"""Log lines that would repeat themselves: a few for each cause and minute, and then a count."""

from __future__ import annotations

import logging
import threading
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PERIOD_S = 60.0
_MOST_CAUSES = 1000
"""Causes that are remembered; beyond, the oldest is forgotten and may be told again."""


class RateLimitedLogger:
    """Tells each cause so many times a minute; any thread may use it.

        faults = RateLimitedLogger(logging.getLogger("headwater.broker"))
        faults.error("disk", "can't append to %s: %s", name, error)

    A cause is anything that can be a key. The first line after a silence says how many lines there
    would have been.
    """

    def __init__(
        self, logger: logging.Logger, burst: int = 1, clock: Callable[[], float] = monotonic
    ) -> None:
        self._logger = logger
        self._burst = burst
        self._clock = clock
        self._lock = threading.Lock()
        self._causes: dict[object, _Told] = {}

    def error(
        self,
        cause: object,
        message: str,
        *arguments: object,
        exc_info: BaseException | None = None,
    ) -> None:
        """Log an error, unless its cause was told enough lately."""
        self._log(logging.ERROR, cause, message, arguments, exc_info)

    def warning(self, cause: object, message: str, *arguments: object) -> None:
        """Log a warning, unless its cause was told enough lately."""
        self._log(logging.WARNING, cause, message, arguments, None)

    def _log(
        self,
        level: int,
        cause: object,
        message: str,
        arguments: tuple[object, ...],
        exc_info: BaseException | None,
    ) -> None:
        with self._lock:
            untold = self._admit(cause)
        if untold is None:
            return
        if untold:
            message, arguments = (
                f"{message} (%d more like this were not logged)",
                (*arguments, untold),
            )
        self._logger.log(level, message, *arguments, exc_info=exc_info)

    def _admit(self, cause: object) -> int | None:
        """Return how many lines were left out before this one, or None if there is to be none."""
        now = self._clock()
        told = self._causes.get(cause)
        if told is None or now - told.since >= PERIOD_S:
            self._causes.pop(cause, None)
            if len(self._causes) >= _MOST_CAUSES:
                del self._causes[next(iter(self._causes))]
            self._causes[cause] = _Told(now)
            return 0 if told is None else told.untold
        if told.lines < self._burst:
            told.lines += 1
            return 0
        told.untold += 1
        return None


class _Told:
    __slots__ = ("lines", "since", "untold")

    def __init__(self, since: float) -> None:
        self.since = since
        self.lines = 1
        self.untold = 0
