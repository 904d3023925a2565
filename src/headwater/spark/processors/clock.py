"""Event time of the key at hand, and timers by it: those of the user, and those of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

_SCHEDULED = "headwater-scheduled"


class Clock:
    """What time it is; where stores set timers too, the user's own are remembered."""

    def __init__(self, handle: StatefulProcessorHandle, *, shared: bool) -> None:
        self._handle = handle
        self._scheduled = (
            handle.getMapState(_SCHEDULED, "at bigint", "is_set boolean") if shared else None
        )
        self.now_ms = 0

    def schedule(self, at_ms: int) -> None:
        """Set a timer of the user's."""
        if self._scheduled is not None:
            self._scheduled.updateValue((at_ms,), (True,))
        self._handle.registerTimer(at_ms)

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
