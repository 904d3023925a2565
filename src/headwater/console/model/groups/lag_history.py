"""How the lag of groups went, as far as somebody looked: a point for each look, for an hour."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_APART_S = 5.0
_KEPT = 720
_MOST_GROUPS = 200


class LagPoint(NamedTuple):
    """A lag at a moment of the monotonic clock."""

    at: float
    lag: int


class LagHistory:
    """Keeps points of those groups that were most behind, and no more than memory allows."""

    def __init__(self) -> None:
        self._points: dict[str, deque[LagPoint]] = {}
        self._last = float("-inf")

    def note(self, at: float, lags: Mapping[str, int]) -> None:
        """Take note of the lags of all groups, unless it was done a moment ago."""
        if at - self._last < _APART_S:
            return
        self._last = at
        for name in self._points.keys() - lags.keys():
            del self._points[name]
        new = sorted(lags.keys() - self._points.keys(), key=lambda name: (-lags[name], name))
        for name in new[: max(0, _MOST_GROUPS - len(self._points))]:
            self._points[name] = deque(maxlen=_KEPT)
        for name, points in self._points.items():
            points.append(LagPoint(at, lags[name]))

    def of(self, group: str) -> Sequence[LagPoint]:
        """Return the points of a group, the oldest first."""
        return tuple(self._points.get(group, ()))
