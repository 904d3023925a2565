"""Windows in event time: tumbling, hopping, sliding, sessions, and the span of a join."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headwater.plan.errors import PlanError
from headwater.plan.windows import (
    AnyWindow,
    Duration,
    SessionWindow,
    SlidingWindow,
    Window,
    milliseconds,
)
from headwater.streams.location import Located


@dataclass(frozen=True)
class TimeWindow:
    """Windows of an aggregate, as `tumbling`, `hopping`, `session` and `sliding` make them."""

    window: AnyWindow

    def grace(self, duration: Duration) -> TimeWindow:
        """Wait this long in event time for records that come late."""
        with Located():
            return TimeWindow(replace(self.window, grace_ms=milliseconds(duration)))


@dataclass(frozen=True)
class JoinWindow:
    """How far apart the timestamps of two records may be that belong together."""

    before_ms: int
    after_ms: int
    grace_ms: int = 0
    is_eager: bool = False

    def grace(self, duration: Duration) -> JoinWindow:
        """Wait this long in event time for records that come late."""
        with Located():
            return replace(self, grace_ms=milliseconds(duration))

    def eager(self) -> JoinWindow:
        """Let records without a partner come out at once, and again with each partner.

        That is what `JoinWindows.of` did before Kafka 3.1, and ksqlDB does without GRACE PERIOD.
        """
        return replace(self, is_eager=True)


def tumbling(size: Duration) -> TimeWindow:
    """Return windows that follow each other without overlap: `tumbling("1 minute")`."""
    with Located():
        size_ms = _positive(size)
        return TimeWindow(Window(size_ms, size_ms))


def hopping(size: Duration, advance: Duration) -> TimeWindow:
    """Return windows of one size that start every `advance`; a record is in several of them."""
    with Located():
        size_ms, advance_ms = _positive(size), _positive(advance)
        if advance_ms > size_ms:
            raise PlanError(
                f"windows of {size} that start every {advance} leave gaps between them: the "
                "advance is at most the size"
            )
        return TimeWindow(Window(size_ms, advance_ms))


def session(gap: Duration) -> TimeWindow:
    """Return windows that end after a gap without records: `session("30 minutes")`.

    Records that are at most the gap apart are in one session; it begins with the first of them and
    ends with the last. One that comes between two sessions makes one of them.
    """
    with Located():
        return TimeWindow(SessionWindow(_positive(gap)))


def sliding(difference: Duration) -> TimeWindow:
    """Return windows that slide over the records: `sliding("10 seconds")`.

    Records that are at most the difference apart share a window. There is one that ends with each
    record, and one that begins right after it if that has any records.
    """
    with Located():
        return TimeWindow(SlidingWindow(_positive(difference)))


def within(duration: Duration) -> JoinWindow:
    """Return a span to both sides: the other record is at most this much older or newer."""
    with Located():
        span = milliseconds(duration)
        return JoinWindow(span, span)


def between(before: Duration, after: Duration) -> JoinWindow:
    """Return a span: the other record is at most `before` older and at most `after` newer."""
    with Located():
        return JoinWindow(milliseconds(before), milliseconds(after))


def _positive(duration: Duration) -> int:
    found = milliseconds(duration)
    if found == 0:
        raise PlanError("a window has a size above zero, and so is the gap of a session")
    return found
