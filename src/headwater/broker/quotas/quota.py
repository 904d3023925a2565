"""One quota over all who have it: what each of them has used, and how long that makes it wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.broker.quotas.entity import Entity
    from headwater.broker.quotas.limit import Limit

_MANY = 10_000
"""Client ids cost nothing to make up, so what is kept for each must not pile up."""


class Measure(Protocol):
    """How much was used, against a bound."""

    bound: float

    def record(self, value: float, now_ms: int) -> None:
        """Add to what was used."""

    def throttle_ms(self, now_ms: int) -> int:
        """Return how long to wait to be within the bound."""

    def is_idle(self, now_ms: int) -> bool:
        """Whether a new one would say the same."""


M = TypeVar("M", bound=Measure)
Who = TypeVar("Who")


class Usage(Generic[M]):
    """What those who share one limit have used of it."""

    __slots__ = ("measure", "throttle_ms", "throttled_at_ms")

    def __init__(self, measure: M) -> None:
        self.measure = measure
        self.throttle_ms = 0
        self.throttled_at_ms = 0
        """When somebody was last made to wait, and for how long."""

    def charge(self, value: float, now_ms: int) -> int:
        """Add a value and return for how many milliseconds that throttles."""
        self.measure.record(value, now_ms)
        return self.check(now_ms)

    def check(self, now_ms: int) -> int:
        """Return for how many milliseconds what was used so far throttles."""
        throttle_ms = self.measure.throttle_ms(now_ms)
        if throttle_ms:
            self.throttle_ms, self.throttled_at_ms = throttle_ms, now_ms
        return throttle_ms


class Quota(Generic[Who, M]):
    """Finds the limit that counts for each, by the rule of `find`, and keeps its usage.

    It is false as long as nobody has a limit.
    """

    def __init__(
        self,
        find: Callable[[Mapping[Entity, float], Who], Limit[Who] | None],
        new_measure: Callable[[float], M],
    ) -> None:
        self._find = find
        self._new_measure = new_measure
        self._limits: dict[Entity, float] = {}
        self._usages: dict[Who, Usage[M]] = {}
        self._found: dict[Who, Usage[M] | None] = {}

    def __bool__(self) -> bool:
        return bool(self._limits)

    def set_limits(self, limits: Mapping[Entity, float]) -> None:
        """Replace all limits; what was used under the old ones still counts."""
        self._limits = dict(limits)
        self._found.clear()

    def usage_of(self, who: Who, now_ms: int) -> Usage[M] | None:
        """Return what this one and those who share its limit have used; None without a limit."""
        if who in self._found:
            return self._found[who]
        if len(self._found) >= _MANY:
            self._forget_idle(now_ms)
        limit = self._find(self._limits, who) if self._limits else None
        usage = None
        if limit is not None:
            usage = self._usages.get(limit.shared_by)
            if usage is None:
                usage = self._usages[limit.shared_by] = Usage(self._new_measure(limit.bound))
            usage.measure.bound = limit.bound
        self._found[who] = usage
        return usage

    def charge(self, who: Who, value: float, now_ms: int) -> int:
        """Add to what was used and return for how many milliseconds that throttles."""
        usage = self.usage_of(who, now_ms)
        return 0 if usage is None else usage.charge(value, now_ms)

    def usages(self, now_ms: int) -> dict[Who, Usage[M]]:
        """Return what was used lately, by who shares a limit."""
        self._forget_idle(now_ms)
        return dict(self._usages)

    def _forget_idle(self, now_ms: int) -> None:
        self._found.clear()
        self._usages = {
            who: usage for who, usage in self._usages.items() if not usage.measure.is_idle(now_ms)
        }
