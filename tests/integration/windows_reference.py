"""What aggregates of windows must give, in plain Python: Kafka Streams' rules, key by key."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.integration.streams_reference import Event, Value
from tests.integration.tables_reference import Change, Changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Fold(NamedTuple):
    """How a number becomes a state, how two states become one, and what is shown of it."""

    first: Callable[[int], Any]
    combined: Callable[[Any, Any], Any]
    shown: Callable[[Any], Value]


def _summary(numbers: list[int]) -> Value:
    return {
        "n": len(numbers),
        "total": sum(numbers),
        "mean": sum(numbers) / len(numbers),
        "low": min(numbers),
        "high": max(numbers),
    }


SUM = Fold(lambda n: n, lambda one, other: one + other, lambda value: {"reduced": value})
SUMMARY = Fold(lambda n: [n], lambda one, other: one + other, _summary)
DIFFERENCE = Fold(lambda n: n, lambda one, other: one - other, lambda value: {"reduced": value})


def random_events(seed: int, *, keys: int, size: int, batches: int, span: int) -> list[list[Event]]:
    """Return batches of records out of order, some far behind, some without a key or a value."""
    choice = random.Random(seed)
    found = []
    for number in range(batches):
        batch = []
        for index in range(size):
            time = number * span + index * span // size + choice.randrange(-6, 7)
            if choice.random() < 0.1:
                time -= choice.randrange(span)
            key = None if choice.random() < 0.03 else f"k{choice.randrange(keys):03}"
            value = None if choice.random() < 0.1 else {"n": choice.randint(0, 9)}
            batch.append(Event("r", key, value, max(0, time)))
        found.append(batch)
    return found


@dataclass
class Session:
    """The times of the first and of the last record, and what all were folded into."""

    start: int
    end: int
    state: Any


class SessionAggregate:
    """The sessions of each key; its own records close them at once, others when a batch ends."""

    def __init__(self, fold: Fold, gap: int, grace: int) -> None:
        self._fold = fold
        self._gap, self._grace = gap, grace
        self._open: dict[str, list[Session]] = defaultdict(list)
        self._seen: dict[str, int] = defaultdict(int)
        self._watermark = 0
        self._closed: Changes = {}
        self.late: list[Event] = []

    def each(self, batch: Iterable[Event]) -> Changes:
        """Return every change; a session that is gone has a window and nothing else."""
        found: Changes = defaultdict(list)
        self._closed = defaultdict(list)
        latest = self._watermark
        for event in batch:
            if event.key is not None and event.value is not None:
                self._take(event.key, event, found[event.key])
                latest = max(latest, event.time)
        self._watermark = latest
        for key in self._open:
            self._close(key)
        return found

    def last(self, batch: Iterable[Event]) -> Changes:
        """Return the last change of each session; none of one that came and went."""
        before = {
            (key, each.start, each.end) for key, found in self._open.items() for each in found
        }
        found: Changes = {}
        for key, changes in self.each(batch).items():
            kept: dict[Any, Change] = {}
            for change in changes:
                assert change.value is not None, "a session has its window"
                window = (key, change.value["start"], change.value["end"])
                kept.pop(window, None)
                if len(change.value) > 2 or window in before:
                    kept[window] = change
            found[key] = [*kept.values()]
        return found

    def final(self, batch: Iterable[Event]) -> Changes:
        """Return the sessions that were closed."""
        self.each(batch)
        return self._closed

    def _take(self, key: str, event: Event, found: list[Change]) -> None:
        time = event.time
        assert event.value is not None, "it was looked at"
        self._seen[key] = max(self._seen[key], time)
        self._close(key)
        near = [
            each
            for each in self._open[key]
            if each.start - self._gap <= time <= each.end + self._gap
        ]
        if not near and self._is_closed(key, time):
            self.late.append(event)
            return
        start = min([time, *(each.start for each in near)])
        end = max([time, *(each.end for each in near)])
        states = [each.state for each in near] + [self._fold.first(event.value["n"])]
        state = states[0]
        for other in states[1:]:
            state = self._fold.combined(state, other)
        session = Session(start, end, state)
        self._open[key] = sorted(
            [*(each for each in self._open[key] if each not in near), session],
            key=lambda each: each.start,
        )
        for each in near:
            if (each.start, each.end) != (start, end):
                found.append(Change({"start": each.start, "end": each.end}, each.end, time))
        found.append(self._shown(session, time))

    def _close(self, key: str) -> None:
        for each in [each for each in self._open[key] if self._is_closed(key, each.end)]:
            self._open[key].remove(each)
            self._closed.setdefault(key, []).append(self._shown(each, each.end))

    def _is_closed(self, key: str, end: int) -> bool:
        return end + self._gap + self._grace < max(self._seen[key], self._watermark)

    def _shown(self, session: Session, arrived: int) -> Change:
        window = {"start": session.start, "end": session.end}
        return Change(window | self._fold.shown(session.state), session.end, arrived)


class SlidingAggregate:
    """The windows of each key that end with a record, or begin after one and have records.

    They are taken from all records there are: none may come after its windows have closed, nor be
    of the first seconds after the epoch.
    """

    def __init__(self, fold: Fold, difference: int) -> None:
        self._fold = fold
        self._difference = difference
        self._taken: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def each(self, batch: Iterable[Event]) -> Changes:
        """Return every change, one for each window that a record is in or begins."""
        found: Changes = defaultdict(list)
        for event in batch:
            if event.key is not None and event.value is not None:
                before = self._windows(event.key)
                self._taken[event.key].append((_ms(event.time), event.value["n"]))
                found[event.key] += [
                    self._shown(event.key, start, event.time)
                    for start in sorted(self._windows(event.key))
                    if start not in before or start <= _ms(event.time) <= start + self._ms
                ]
        return found

    def last(self, batch: Iterable[Event]) -> Changes:
        """Return the last change of each window."""
        return {
            key: [
                self._shown(key, start, 0)
                for start in sorted({each.value["start"] for each in changes if each.value})
            ]
            for key, changes in self.each(batch).items()
        }

    def all(self) -> Changes:
        """Return all windows there are."""
        return {
            key: [self._shown(key, start, 0) for start in sorted(self._windows(key))]
            for key in self._taken
        }

    @property
    def _ms(self) -> int:
        return _ms(self._difference)

    def _windows(self, key: str) -> set[int]:
        times = {time for time, _ in self._taken[key]}
        ending = {time - self._ms for time in times}
        return ending | {time + 1 for time in times if self._values(key, time + 1)}

    def _values(self, key: str, start: int) -> list[tuple[int, int]]:
        return [each for each in self._taken[key] if start <= each[0] <= start + self._ms]

    def _shown(self, key: str, start: int, arrived: int) -> Change:
        values = self._values(key, start)
        state = self._fold.first(values[0][1])
        for _, number in values[1:]:
            state = self._fold.combined(state, self._fold.first(number))
        window = {"start": start, "end": start + self._ms}
        latest = max(time for time, _ in values) // 1000
        return Change(window | self._fold.shown(state), latest, arrived)


def _ms(seconds: int) -> int:
    return seconds * 1000
