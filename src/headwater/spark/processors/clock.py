"""The time of the key at hand, and timers by it: those of the user, and those of stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

_SCHEDULED = "headwater-scheduled"


class Clock(ABC):
    """What time it is; where stores set timers too, the user's own are remembered."""

    def __init__(self, handle: StatefulProcessorHandle, *, shared: bool) -> None:
        self._handle = handle
        self._scheduled = (
            handle.getMapState(_SCHEDULED, "at bigint", "is_set boolean") if shared else None
        )
        self.now_ms = 0

    @abstractmethod
    def turn_to(self, at_ms: int, watermark_ms: int, system_ms: int) -> None:
        """Find out what time it is, with a record or a timer of this time."""

    def schedule(self, at_ms: int) -> None:
        """Set a timer of the user's."""
        if self._scheduled is not None:
            self._scheduled.updateValue((at_ms,), (True,))
        self.wake_at(at_ms)

    def wake_at(self, at_ms: int) -> None:
        """Set a timer for a store, which then forgets what has outlived its time."""
        self._handle.registerTimer(at_ms)

    def take(self, fired_ms: int) -> bool:
        """Tell whether a timer that has fired is the user's."""
        if self._scheduled is None:
            return True
        if not self._scheduled.containsKey((fired_ms,)):
            return False
        self._scheduled.removeKey((fired_ms,))
        return True

    def alarms(self) -> list[int]:
        """Return when somebody has to see to it that timers fire, since the last time."""
        return []


class StreamClock(Clock):
    """The time of the records, which move it, and have timers fire."""

    def turn_to(self, at_ms: int, watermark_ms: int, system_ms: int) -> None:
        """Take the latest time of the key's records, and of all in batches before."""
        del system_ms
        self.now_ms = max(at_ms, watermark_ms)


class WallClock(Clock):
    """The time of the machine: for timers to fire without records, each is told."""

    def __init__(self, handle: StatefulProcessorHandle, *, shared: bool) -> None:
        super().__init__(handle, shared=shared)
        self._alarms: list[int] = []

    def turn_to(self, at_ms: int, watermark_ms: int, system_ms: int) -> None:
        """Take the time at which the batch began."""
        del at_ms, watermark_ms
        self.now_ms = system_ms

    def wake_at(self, at_ms: int) -> None:
        """Set a timer, and tell of it."""
        super().wake_at(at_ms)
        self._alarms.append(at_ms)

    def alarms(self) -> list[int]:
        """Return the timers that were set."""
        alarms, self._alarms = self._alarms, []
        return alarms
