"""Connect's own view of the process's Spark session: the same JVM, settings of its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.spark.shared_session import SharedSession

# What a record says must depend neither on where the worker runs nor on how a field is written.
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    # What is larger than this stays Arrow's until a task reads it; below, it is rows of the plan.
    "spark.sql.execution.arrow.localRelationThreshold": str(1 << 20),
}


class ConnectSession:
    """Starts Spark with the first connector that needs it; any thread may ask."""

    def __init__(self, shared: SharedSession) -> None:
        self._shared = shared
        self._lock = threading.Lock()
        self._of: SparkSession | None = None
        self._own: SparkSession | None = None

    def get(self) -> SparkSession:
        """Return the session; raises what the start of Spark does."""
        shared = self._shared.get()
        with self._lock:
            if self._own is None or self._of is not shared:
                own = shared.newSession()
                for name, value in _SETTINGS.items():
                    own.conf.set(name, value)
                self._of, self._own = shared, own
            return self._own
