"""A bucket of tokens that fills at a steady rate: the measure for rare and expensive operations."""

from __future__ import annotations


class TokenBucket:
    """Gets `bound` tokens a second, holds those of all windows, and may be emptied below zero.

    >>> bucket = TokenBucket(bound=2.0, samples=10, window_ms=1000)
    >>> bucket.record(25, now_ms=0)
    >>> bucket.throttle_ms(now_ms=1000)
    1500
    """

    __slots__ = ("_last_ms", "_span_s", "_tokens", "bound")

    def __init__(self, bound: float, samples: int, window_ms: int) -> None:
        self.bound = bound
        self._span_s = samples * window_ms / 1000
        self._tokens = self._full
        self._last_ms = 0

    def record(self, tokens: float, now_ms: int) -> None:
        """Take tokens out."""
        self._tokens = self.tokens(now_ms) - tokens

    def tokens(self, now_ms: int) -> float:
        """Return how many there are."""
        gained = self.bound * (now_ms - self._last_ms) / 1000
        self._tokens = min(self._full, self._tokens + gained)
        self._last_ms = now_ms
        return self._tokens

    def throttle_ms(self, now_ms: int) -> int:
        """Return how long it takes until there are no fewer than none."""
        tokens = self.tokens(now_ms)
        return int(-tokens / self.bound * 1000 + 0.5) if tokens < 0 else 0

    def is_idle(self, now_ms: int) -> bool:
        """Whether it is full, as a new one is."""
        return self.tokens(now_ms) >= self._full

    @property
    def _full(self) -> float:
        return self._span_s * self.bound
