"""Timeouts by key: cheap to push back, since nearly all of them are pushed back for ever."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heappop, heappush
from itertools import count

OnTimeout = Callable[[], None]


class Timers:
    """Calls back when a time has come, unless the timer was cancelled or set anew.

    A heartbeat moves its member's timer, which happens thousands of times for each timer that
    really ends. So moving one to a later time touches nothing but a dictionary; the entry in the
    heap stays where it is, and finds out when it comes up that it is too early.
    """

    def __init__(self, clock_ms: Callable[[], int], wake_at: Callable[[int], None]) -> None:
        self._clock_ms = clock_ms
        self._wake_at = wake_at
        """Told of each earlier time at which `fire` has something to do."""
        self._timers: dict[Hashable, tuple[int, OnTimeout]] = {}
        self._heap: list[tuple[int, int, Hashable]] = []
        self._entries: dict[Hashable, int] = {}
        """The earliest entry that each key has in the heap."""
        self._order = count()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._timers

    @property
    def next_at(self) -> int | None:
        """When `fire` should next be called; None if nothing is set."""
        return self._heap[0][0] if self._heap else None

    def set(self, key: Hashable, delay_ms: int, on_timeout: OnTimeout) -> None:
        """Call back after a delay; an earlier timer of the same key is forgotten."""
        at = self._clock_ms() + max(delay_ms, 0)
        self._timers[key] = (at, on_timeout)
        entry = self._entries.get(key)
        if entry is None or at < entry:
            self._push(at, key)

    def cancel(self, key: Hashable) -> None:
        """Forget a timer, if there is one."""
        self._timers.pop(key, None)

    def fire(self) -> None:
        """Call back whatever is due."""
        now = self._clock_ms()
        heap = self._heap
        while heap and heap[0][0] <= now:
            entry, _, key = heappop(heap)
            if self._entries.get(key) == entry:
                del self._entries[key]
            timer = self._timers.get(key)
            if timer is None:
                continue
            at, on_timeout = timer
            if at > now:
                if key not in self._entries:
                    self._push(at, key)
                continue
            del self._timers[key]
            on_timeout()

    def clear(self) -> None:
        """Forget every timer."""
        self._timers.clear()
        self._heap.clear()
        self._entries.clear()

    def _push(self, at: int, key: Hashable) -> None:
        self._entries[key] = at
        is_first = not self._heap or at < self._heap[0][0]
        heappush(self._heap, (at, next(self._order), key))
        if is_first:
            self._wake_at(at)
