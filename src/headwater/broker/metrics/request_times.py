"""How many requests of each API were served, and how long each took until its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.metrics.durations import Durations
from headwater.protocol.api_keys import SERVED

if TYPE_CHECKING:
    from collections.abc import ItemsView

    from headwater.protocol.api_keys import ApiKey
    from headwater.protocol.frames import RequestHeader


class RequestTimes:
    """Counted for every request, so this is as little as it can be."""

    def __init__(self) -> None:
        self._times: dict[tuple[ApiKey, int], Durations] = {}

    def record(self, header: RequestHeader, nanoseconds: int) -> None:
        """Count a request that has been answered."""
        times = self._times.get(header[:2])
        if times is None:
            times = self._times_of(*header[:2])
        # What `Durations.record` does: a call would cost as much as all the rest.
        times.buckets[(nanoseconds // 1000).bit_length()] += 1
        times.total_ns += nanoseconds

    def items(self) -> ItemsView[tuple[ApiKey, int], Durations]:
        """Return the times of each API and version."""
        return self._times.items()

    def _times_of(self, api_key: ApiKey, version: int) -> Durations:
        # ApiVersions is answered in any version, and clients must not fill the memory with them.
        known = min(version, SERVED[api_key].max) if version >= 0 else 0
        return self._times.setdefault((api_key, known), Durations())
