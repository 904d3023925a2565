"""How long to wait before something that failed is tried again: longer each time in a row."""

from __future__ import annotations

_FIRST_S, _LONGEST_S = 1.0, 60.0
# What ran this long was well: the next failure starts at the shortest wait again.
_WELL_AFTER_S = 120.0


class BackOff:
    """Waits that double, for one thing that is tried again and again.

    >>> back_off = BackOff()
    >>> [back_off.after(lasted_s=0.5) for _ in range(3)], back_off.after(lasted_s=600.0)
    ([1.0, 2.0, 4.0], 1.0)
    """

    def __init__(self) -> None:
        self._next_s = _FIRST_S

    def after(self, lasted_s: float) -> float:
        """Return how long to wait after a failure; `lasted_s` is how long all was well before."""
        wait_s = _FIRST_S if lasted_s > _WELL_AFTER_S else self._next_s
        self._next_s = min(wait_s * 2, _LONGEST_S)
        return wait_s
