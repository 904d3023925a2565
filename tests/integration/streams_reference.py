"""What stream programs must give, in plain Python: Kafka Streams' rules over batches of events."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tests.effort import often

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Value = dict[str, Any]
KEYS = ("a", "b", "c", "d", None)
IDS = ("a", "b", "a-b", "c-d-a")


@dataclass(frozen=True)
class Event:
    """A record of a topic; the value None is a tombstone, the time is in seconds."""

    topic: str
    key: str | None
    value: Value | None
    time: int

    @property
    def id(self) -> str | None:
        """The field of this name."""
        return None if self.value is None else self.value["id"]

    @property
    def number(self) -> Any:
        """The field `value`, an integer or None."""
        return None if self.value is None else self.value["value"]


Batch = list[Event]


class Result(NamedTuple):
    """A record that a program writes."""

    key: str | None
    value: Value | None
    time: int


def shown(value: Value | None) -> Value | None:
    """Return a value as JSON has it, without the fields that are null."""
    if value is None:
        return None
    return {name: each for name, each in value.items() if each is not None}


class Windows(NamedTuple):
    """Windows of a size, one every advance, in seconds."""

    size: int
    advance: int
    grace: int

    def starts(self, time: int) -> list[int]:
        """Return the windows that a time is in; none begins before the epoch."""
        first = time - time % self.advance
        found = range(first, time - self.size, -self.advance)
        return sorted(start for start in found if start >= 0)

    def closed(self, start: int, seen: int) -> bool:
        """Tell whether a window takes no more records once this time was seen."""
        return start + self.size + self.grace <= seen


def random_batches(seed: int, topics: Sequence[str], size: int, span: int) -> list[Batch]:
    """Return two batches; time goes on from one to the next, with some events far behind it.

    Two are enough to meet what the one before has left; `make soak` has a third. The seed 0, with
    which Hypothesis begins as the simplest, stands for no records at all.
    """
    if seed == 0:
        return []
    choice = random.Random(seed)
    batches = []
    for number in range(often(2, in_soak=3)):
        batch = []
        for _ in range(size):
            time = number * span // 2 + choice.randrange(span)
            if choice.random() < 0.15:
                time = choice.randrange(time + 1)
            batch.append(
                Event(choice.choice(topics), choice.choice(KEYS), _random_value(choice), time)
            )
        batches.append(batch)
    return batches


def _random_value(choice: random.Random) -> Value | None:
    if choice.random() < 0.1:
        return None
    number = None if choice.random() < 0.1 else choice.randint(-20, 20)
    return {"id": choice.choice(IDS), "value": number}


def summary(values: Sequence[Value]) -> Value:
    """Return what count, sum, avg, min and max give; as in SQL, they pass over null."""
    present = [each["value"] for each in values if each["value"] is not None]
    found: Value = {"n": len(values), "present": len(present)}
    if present:
        found |= {
            "total": sum(present),
            "mean": sum(present) / len(present),
            "low": min(present),
            "high": max(present),
        }
    return found


def reduced(values: Sequence[Value]) -> Value:
    """Return the longest id, the later one of equals, and the first value less the others."""
    best = values[0]["id"]
    for each in values[1:]:
        best = each["id"] if len(each["id"]) >= len(best) else best
    total = values[0]["value"]
    for each in values[1:]:
        total = None if total is None or each["value"] is None else total - each["value"]
    return {"id": best} | ({} if total is None else {"value": total})


class Aggregate:
    """All records of each group so far, folded whenever asked."""

    def __init__(self, by: Callable[[Event], str | None], fold: Callable[..., Value]) -> None:
        self._by = by
        self._fold = fold
        self._events: dict[str, list[Event]] = defaultdict(list)

    def each_change(self, batch: Batch) -> Iterator[Result]:
        """Yield a result for each record."""
        for event in batch:
            group = self._by(event)
            if group is not None and event.value is not None:
                self._events[group].append(event)
                yield self._result(group)

    def per_batch(self, batch: Batch) -> list[Result]:
        """Return the last result of each group that the batch changed."""
        return last_of({each.key: each for each in self.each_change(batch)})

    def _result(self, group: str) -> Result:
        events = self._events[group]
        values = [each.value for each in events]
        return Result(group, self._fold(values), max(each.time for each in events))


def last_of(results: dict[Any, Result]) -> list[Result]:
    """Return the values of a dict that kept the last one of each name."""
    return list(results.values())


class WindowedAggregate:
    """The records of each group and window; a window closes in event time.

    With `own_clock`, a group's own records close its windows at once; else, and for the others,
    a batch closes them when it ends.
    """

    def __init__(
        self,
        by: Callable[[Event], str | None],
        fold: Callable[..., Value],
        windows: Windows,
        *,
        own_clock: bool,
    ) -> None:
        self._by = by
        self._fold = fold
        self._windows = windows
        self._own_clock = own_clock
        self._events: dict[tuple[str, int], list[Event]] = defaultdict(list)
        self._clocks: dict[str, int] = defaultdict(int)
        self._watermark = 0
        self._final: set[tuple[str, int]] = set()
        self.late: list[Event] = []

    def each_change(self, batch: Batch) -> list[Result]:
        """Return a result for each record and window."""
        results = []
        taken = [
            (group, event)
            for event in batch
            if (group := self._by(event)) is not None and event.value is not None
        ]
        for group, event in taken:
            self._clocks[group] = max(self._clocks[group], event.time)
            seen = max(self._watermark, self._clocks[group] if self._own_clock else 0)
            starts = self._windows.starts(event.time)
            if any(self._windows.closed(start, seen) for start in starts):
                self.late.append(event)
            for start in starts:
                if not self._windows.closed(start, seen):
                    self._events[group, start].append(event)
                    results.append(self._result(group, start))
        self._watermark = max([self._watermark, *(event.time for _, event in taken)])
        return results

    def per_batch(self, batch: Batch) -> list[Result]:
        """Return the last result of each group and window that the batch changed."""
        changed = self.each_change(batch)
        return last_of({(each.key, _window_start(each)): each for each in changed})

    def final(self, batch: Batch) -> list[Result]:
        """Return the windows that the batch closed."""
        self.each_change(batch)
        closed = {
            (group, start)
            for group, start in self._events
            if self._windows.closed(start, self._watermark)
        } - self._final
        self._final |= closed
        return [self._result(group, start) for group, start in sorted(closed)]

    def _result(self, group: str, start: int) -> Result:
        events = self._events[group, start]
        window = {"window_start": start, "window_end": start + self._windows.size}
        folded = self._fold([each.value for each in events])
        return Result(group, window | folded, max(each.time for each in events))


def _window_start(result: Result) -> int:
    assert result.value is not None, "an aggregate has a value"
    start: int = result.value["window_start"]
    return start


class TableJoin:
    """A table, and what it has when a record of a stream comes."""

    def __init__(self, on: Callable[[Event], str | None], *, left: bool) -> None:
        self._on = on
        self._left = left
        self._table: dict[str, Value] = {}

    def joined(self, stream: Batch, table: Batch) -> Iterator[tuple[Event, Value | None]]:
        """Yield the stream's records with the table's values."""
        # A record without a value has nothing to be joined.
        stream = [event for event in stream if event.value is not None]
        groups = {self._on(event) for event in stream} | {event.key for event in table}
        for group in sorted(groups, key=str):
            yield from self._of_key(
                group,
                [event for event in table if event.key == group],
                [event for event in stream if self._on(event) == group],
            )

    def _of_key(
        self, key: str | None, table: Batch, stream: Batch
    ) -> Iterator[tuple[Event, Value | None]]:
        for event, of_table in self._in_order(table, stream):
            if not of_table:
                found = None if key is None else self._table.get(key)
                if self._left or found is not None:
                    yield event, found
            elif key is not None and event.value is None:
                self._table.pop(key, None)
            elif key is not None and event.value is not None:
                self._table[key] = event.value

    def _in_order(self, table: Batch, stream: Batch) -> Iterator[tuple[Event, bool]]:
        yield from _by_time(table, stream)


class GlobalTableJoin(TableJoin):
    """A global table, which is loaded before the stream's records, whatever their times."""

    def _in_order(self, table: Batch, stream: Batch) -> Iterator[tuple[Event, bool]]:
        yield from ((event, True) for event in table)
        yield from ((event, False) for event in stream)


@dataclass
class _Waiting:
    event: Event
    is_left: bool
    alone: bool


class StreamJoin:
    """Two streams, whose records meet by key where the right one is in the left one's span.

    Who meets nobody comes out when the latest time of the key, or of all keys in the batches
    before, has passed the span and the grace.
    """

    def __init__(
        self, kind: Literal["inner", "left", "outer"], before: int, after: int, grace: int
    ) -> None:
        self._kept = {"inner": (), "left": (True,), "outer": (True, False)}[kind]
        self._reach = {True: after, False: before}
        self._grace = grace
        self._retention = before + after + grace
        self._waiting: dict[str, list[_Waiting]] = defaultdict(list)
        self._seen: dict[str, int] = defaultdict(int)
        self._latest: dict[tuple[str, bool], int] = defaultdict(int)
        self._watermark = 0

    def joined(self, left: Batch, right: Batch) -> Iterator[tuple[Event | None, Event | None]]:
        """Yield what comes out, in the order of each key, and when the batch has ended."""
        for key in sorted({event.key for event in (*left, *right)}, key=str):
            lefts, rights = ([e for e in side if e.key == key] for side in (left, right))
            for event, is_left in _by_time(lefts, rights):
                yield from self._alone_or_met(event, is_left)
        times = [event.time for event in (*left, *right) if event.key is not None]
        self._watermark = max([self._watermark, *times])
        for key in list(self._waiting):
            self._seen[key] = max(self._seen[key], self._watermark)
            yield from self._settled(key)
            oldest = self._watermark - self._retention
            self._waiting[key] = [e for e in self._waiting[key] if e.event.time >= oldest]

    def _alone_or_met(
        self, event: Event, is_left: bool
    ) -> Iterator[tuple[Event | None, Event | None]]:
        key, kept = event.key, is_left in self._kept
        if key is None:
            if event.value is not None and kept:
                yield _sides(event, None, is_left)
            return
        self._seen[key] = max(self._seen[key], event.time, self._watermark)
        if event.value is None:
            return
        yield from self._settled(key)
        expired = self._latest[key, not is_left] - self._retention
        partners = [
            each
            for each in self._waiting[key]
            if each.is_left != is_left
            and each.event.time > expired
            and -self._reach[not is_left] <= each.event.time - event.time <= self._reach[is_left]
        ]
        for each in sorted(partners, key=lambda partner: partner.event.time):
            each.alone = False
            yield _sides(event, each.event, is_left)
        alone = kept and not partners
        if alone and event.time + self._reach[is_left] + self._grace < self._seen[key]:
            yield _sides(event, None, is_left)
            alone = False
        self._waiting[key].append(_Waiting(event, is_left, alone))
        self._latest[key, is_left] = max(self._latest[key, is_left], event.time)

    def _settled(self, key: str) -> Iterator[tuple[Event | None, Event | None]]:
        due = [
            each
            for each in self._waiting[key]
            if each.alone
            and each.event.time + self._reach[each.is_left] + self._grace < self._seen[key]
        ]
        for each in sorted(due, key=lambda one: (one.event.time, one.is_left)):
            each.alone = False
            yield _sides(each.event, None, each.is_left)


def _sides(event: Event, other: Event | None, is_left: bool) -> tuple[Event | None, Event | None]:
    return (event, other) if is_left else (other, event)


def _by_time(left: Batch, right: Batch) -> Iterator[tuple[Event, bool]]:
    """Take two queues; the one whose first record is older comes next, at a tie the left one."""
    lefts, rights = list(left), list(right)
    while lefts or rights:
        if lefts and (not rights or lefts[0].time <= rights[0].time):
            yield lefts.pop(0), True
        else:
            yield rights.pop(0), False
