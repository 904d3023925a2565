"""How often something took how long, counted with next to no work."""

from __future__ import annotations

_BUCKETS = 64


class Durations:
    """Counts in buckets that double in width, from a microsecond on.

    >>> durations = Durations()
    >>> durations.record(1_500_000)
    >>> durations.cumulative(from_us=512, to_us=4096)
    [(512, 0), (1024, 0), (2048, 1), (4096, 1)]
    """

    __slots__ = ("buckets", "total_ns")

    def __init__(self) -> None:
        self.buckets = [0] * _BUCKETS
        self.total_ns = 0

    def record(self, nanoseconds: int) -> None:
        """Count one."""
        self.buckets[(nanoseconds // 1000).bit_length()] += 1
        self.total_ns += nanoseconds

    def copy(self) -> Durations:
        """Return what has been counted so far."""
        other = Durations()
        other.buckets = self.buckets.copy()
        other.total_ns = self.total_ns
        return other

    @property
    def count(self) -> int:
        """How many were recorded."""
        return sum(self.buckets)

    def cumulative(self, from_us: int, to_us: int) -> list[tuple[int, int]]:
        """Return bounds in microseconds, powers of two, with how many were below each."""
        bounds = range(from_us.bit_length() - 1, to_us.bit_length())
        return [(1 << bound, sum(self.buckets[: bound + 1])) for bound in bounds]
