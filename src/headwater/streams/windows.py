"""Windows in event time: tumbling, hopping, sessions, and the span of a join."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from headwater.plan.errors import PlanError
from headwater.plan.windows import AnyWindow, Duration, SessionWindow, Window, milliseconds
from headwater.streams.hints import not_yet
from headwater.streams.location import Located


@dataclass(frozen=True)
class TimeWindow:
    """Windows of an aggregate, as `tumbling`, `hopping` and `session` make them."""

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

    def grace(self, duration: Duration) -> JoinWindow:
        """Wait this long in event time for records that come late."""
        with Located():
            return replace(self, grace_ms=milliseconds(duration))


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


def sliding(difference: Duration) -> NoReturn:
    """Return windows that begin and end with records: not there yet."""
    with Located():
        not_yet("sliding windows are", f"hopping({difference!r}, ...) has windows that overlap")
    raise AssertionError("it was refused")


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
        raise PlanError("a window has a size above zero, and a session such a gap")
    return found
