"""A rate over the last few windows of time, measured as Kafka measures what clients use."""

from __future__ import annotations

from collections import deque


class SampledRate:
    """Sums up values in windows of time, and compares what that is in a second with a bound.

    >>> rate = SampledRate(bound=1_000_000, samples=11, window_ms=1000)
    >>> rate.record(20_000_000, now_ms=5_000)
    >>> rate.throttle_ms(now_ms=5_000)
    10000

    Who was quiet for a while may so use ten seconds' worth at once, and pays for what is above
    that by waiting.
    """

    __slots__ = ("_fewest_full_windows", "_samples", "_span_ms", "_window_ms", "bound")

    def __init__(self, bound: float, samples: int, window_ms: int) -> None:
        self.bound = bound
        self._window_ms = window_ms
        self._fewest_full_windows = samples - 1
        self._span_ms = samples * window_ms
        # One more than asked for: the oldest may reach into the span though it began before.
        self._samples: deque[_Sample] = deque(maxlen=samples + 1)

    @property
    def most_at_once(self) -> float:
        """The largest value that is not above the bound by itself."""
        return self.bound * self._fewest_full_windows * self._window_ms / 1000

    def record(self, value: float, now_ms: int) -> None:
        """Add a value, or take one back with a negative one."""
        samples = self._samples
        if not samples or now_ms - samples[-1].start_ms >= self._window_ms:
            samples.append(_Sample(now_ms))
        current = samples[-1]
        current.value += value
        current.last_ms = now_ms

    def per_second(self, now_ms: int) -> float:
        """Return how much came in per second."""
        elapsed_ms = self.elapsed_ms(now_ms)
        return sum(sample.value for sample in self._samples) / (elapsed_ms / 1000)

    def elapsed_ms(self, now_ms: int) -> int:
        """Return the time that the rate is taken over.

        It is never less than all windows but one, lest a client look fast for having just begun.
        """
        self._forget_old(now_ms)
        elapsed = now_ms - self._samples[0].start_ms if self._samples else 0
        missing = self._fewest_full_windows - elapsed // self._window_ms
        if missing > 0:
            elapsed += missing * self._window_ms
        return max(elapsed, 1)

    def throttle_ms(self, now_ms: int) -> int:
        """Return how long nothing may come in for the rate to be back at its bound."""
        above = self.per_second(now_ms) - self.bound
        return int(above / self.bound * self.elapsed_ms(now_ms) + 0.5) if above > 0 else 0

    def is_idle(self, now_ms: int) -> bool:
        """Whether there is nothing to remember, as with a new one."""
        self._forget_old(now_ms)
        return not self._samples

    def _forget_old(self, now_ms: int) -> None:
        samples = self._samples
        while samples and now_ms - samples[0].last_ms >= self._span_ms:
            samples.popleft()


class _Sample:
    """What was recorded within one window."""

    __slots__ = ("last_ms", "start_ms", "value")

    def __init__(self, start_ms: int) -> None:
        self.start_ms = self.last_ms = start_ms
        self.value = 0.0
