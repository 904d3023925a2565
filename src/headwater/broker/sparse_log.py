"""Log lines that would repeat themselves: a few for each cause and minute, and then a count."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

PERIOD_S = 60.0
_MOST_CAUSES = 1000
"""Causes that are remembered; beyond, the oldest is forgotten and may be told again."""


class _Told:
    __slots__ = ("lines", "since", "untold")

    def __init__(self, since: float) -> None:
        self.since = since
        self.lines = 0
        self.untold = 0


class SparseLog:
    """A logger that tells each cause so many times a minute.

        _log = SparseLog(logger)
        _log.error("disk", "can't append to %s: %s", name, error)

    A cause is anything that can be a key. The first line after a silence says how many lines there
    would have been.
    """

    def __init__(
        self, logger: logging.Logger, burst: int = 1, clock: Callable[[], float] = monotonic
    ) -> None:
        self._logger = logger
        self._burst = burst
        self._clock = clock
        self._causes: dict[object, _Told] = {}

    def error(
        self,
        cause: object,
        message: str,
        *arguments: object,
        exc_info: BaseException | None = None,
    ) -> None:
        """Log an error, unless its cause was told enough lately."""
        untold = self._admit(cause)
        if untold is not None:
            self._logger.error(message + untold, *arguments, exc_info=exc_info)

    def warning(self, cause: object, message: str, *arguments: object) -> None:
        """Log a warning, unless its cause was told enough lately."""
        untold = self._admit(cause)
        if untold is not None:
            self._logger.warning(message + untold, *arguments)

    def _admit(self, cause: object) -> str | None:
        """Return what to add to the line, or None if there is to be none."""
        now = self._clock()
        told = self._causes.get(cause)
        if told is None or now - told.since >= PERIOD_S:
            untold = 0 if told is None else told.untold
            self._causes.pop(cause, None)
            if len(self._causes) >= _MOST_CAUSES:
                del self._causes[next(iter(self._causes))]
            told = self._causes[cause] = _Told(now)
            told.lines = 1
            return f" ({untold} more like this were not logged)" if untold else ""
        if told.lines < self._burst:
            told.lines += 1
            return ""
        told.untold += 1
        return None
