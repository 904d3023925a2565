"""How much room brokers' disks have, and when it is gone at the rate of the last hours."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.metrics.cluster_state import ClusterState, LogDirState

WINDOW_S = 6 * 3600.0
"""How far back it is looked at how a disk fills."""

_SAMPLE_EVERY_S = 60.0
_SHORTEST_HISTORY_S = 600.0


class Disk(NamedTuple):
    """A broker's directory, and when its disk is full if it goes on as it did."""

    place: LogDirState
    full_in_s: float | None
    """None if it does not fill, or if that is not known yet."""


class DiskSpace:
    """Remembers what was left of each disk, a minute apart, for some hours."""

    def __init__(self) -> None:
        self._history: dict[tuple[int, str], deque[tuple[float, int]]] = {}

    def take(self, cluster: ClusterState, now_s: float) -> Sequence[Disk]:
        """Return the disks; a directory that is gone is forgotten."""
        known = {}
        disks = []
        for place in cluster.log_dirs:
            key = (place.broker, place.path)
            samples = known[key] = self._history.get(key, deque())
            if not samples or now_s - samples[-1][0] >= _SAMPLE_EVERY_S:
                samples.append((now_s, place.usable_bytes))
            while now_s - samples[0][0] > WINDOW_S:
                samples.popleft()
            disks.append(Disk(place, _full_in_s(samples, place.usable_bytes)))
        self._history = known
        return disks


def _full_in_s(samples: Sequence[tuple[float, int]], usable: int) -> float | None:
    """Follow the line that fits best, as predict_linear of Prometheus does."""
    if samples[-1][0] - samples[0][0] < _SHORTEST_HISTORY_S:
        return None
    mean_s = sum(when for when, _ in samples) / len(samples)
    mean = sum(left for _, left in samples) / len(samples)
    spread = sum((when - mean_s) ** 2 for when, _ in samples)
    slope = sum((when - mean_s) * (left - mean) for when, left in samples) / spread
    return usable / -slope if slope < 0 else None
