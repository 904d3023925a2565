"""What operators on tables must give, in plain Python: Kafka Streams' rules, key by key."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.integration.streams_reference import Event, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Key = Any


class Change(NamedTuple):
    """A row of a table; None deletes the key. `arrived` is the time of the record behind it."""

    value: Value | None
    time: int
    arrived: int


Changes = dict[Key, list[Change]]
"""The changes of each key, in their order."""


def random_tables(
    seed: int, topics: Sequence[str], *, keys: int, size: int, batches: int = 2, span: int = 30
) -> list[list[Event]]:
    """Return batches of records for tables: out of order, deleted, without a key.

    No two topics have records of the same time: which of them comes first then is nobody's concern.
    """
    choice = random.Random(seed)
    found = []
    for number in range(batches):
        batch = []
        for _ in range(size):
            place = choice.randrange(len(topics))
            at = (number * span // 2 + choice.randrange(span)) * len(topics) + place
            key = None if choice.random() < 0.03 else f"k{choice.randrange(keys):03}"
            value = None if choice.random() < 0.25 else {"n": choice.randint(0, 9)}
            batch.append(Event(topics[place], key, value, at))
        found.append(batch)
    return found


def changes_of(batch: Iterable[Event], topic: str) -> Changes:
    """Return a topic's records as changes of a table."""
    found: Changes = defaultdict(list)
    for event in batch:
        if event.topic == topic and event.key is not None:
            found[event.key].append(Change(event.value, event.time, event.time))
    return dict(found)


def mapped(changes: Changes, function: Callable[[Value], Value | None]) -> Changes:
    """Return the changes with other values; what is deleted stays so."""
    return {
        key: [c._replace(value=None if c.value is None else function(c.value)) for c in each]
        for key, each in changes.items()
    }


def counted(changes: Changes, counts: dict[Key, int], latest: dict[Key, int]) -> Changes:
    """Return how many changes with a value each key has had, one change for each of them."""
    found: Changes = {}
    for key, each in changes.items():
        results = []
        for change in each:
            if change.value is not None:
                counts[key] = counts.get(key, 0) + 1
                latest[key] = max(latest.get(key, change.time), change.time)
                results.append(Change({"count": counts[key]}, latest[key], change.arrived))
        found[key] = results
    return found


class TablesJoin:
    """The pairs of two tables' rows."""

    def __init__(self, kind: str, *, each: bool) -> None:
        self._keeps_left, self._keeps_right = kind != "inner", kind == "outer"
        self._each = each
        self._rows: dict[Key, list[Change | None]] = {}

    def of(
        self, left: Changes, right: Changes, pair: Callable[[Value | None, Value | None], Value]
    ) -> Changes:
        """Return what a batch of changes makes of the pairs."""
        found = {
            key: self._of_key(key, left.get(key, []), right.get(key, []), pair)
            for key in sorted({*left, *right})
        }
        return {key: changes for key, changes in found.items() if changes}

    def _of_key(
        self, key: Key, left: list[Change], right: list[Change], pair: Callable[..., Value]
    ) -> list[Change]:
        rows = self._rows.setdefault(key, [None, None])
        was_there = before = self._is_pair(rows)
        results = []
        for change, side in _in_order(left, right):
            rows[side] = None if change.value is None else change
            is_there = self._is_pair(rows)
            if is_there or before:
                value = pair(*(row and row.value for row in rows)) if is_there else None
                later = max(each.time for each in (change, *rows) if each is not None)
                results.append(Change(value, later, change.arrived))
            before = is_there
        if self._each:
            return results
        return results[-1:] if before or was_there else []

    def _is_pair(self, rows: list[Change | None]) -> bool:
        left, right = (row is not None for row in rows)
        return (left and (right or self._keeps_left)) or (right and self._keeps_right)


class TableGroups:
    """The rows that a table has, by group, folded whenever a row enters or leaves a group."""

    def __init__(
        self,
        by: Callable[[Value], Any],
        fold: Callable[[Any, Value | None, Value | None], Any],
        *,
        each: bool,
    ) -> None:
        self._by = by
        self._fold = fold
        self._each = each
        self._table: dict[Key, Value] = {}
        self._results: dict[Any, Any] = {}
        self._latest: dict[Any, int] = {}

    def of(self, batch: Iterable[Event], topic: str) -> Changes:
        """Return the results of each group that a batch of the table's records changes."""
        found: Changes = defaultdict(list)
        for event in batch:
            if event.topic != topic or event.key is None:
                continue
            old = self._table.pop(event.key, None)
            if event.value is not None:
                self._table[event.key] = event.value
            left, entered = (row and self._by(row) for row in (old, event.value))
            if left == entered and left is not None:
                self._change(found, left, old, event.value, event.time)
                continue
            if left is not None:
                self._change(found, left, old, None, event.time)
            if entered is not None:
                self._change(found, entered, None, event.value, event.time)
        return found if self._each else {key: each[-1:] for key, each in found.items()}

    def _change(
        self, found: Changes, group: Any, old: Value | None, new: Value | None, time: int
    ) -> None:
        result = self._results[group] = self._fold(self._results.get(group), old, new)
        latest = self._latest[group] = max(self._latest.get(group, time), time)
        found[group].append(Change(result, latest, time))


def _in_order(left: list[Change], right: list[Change]) -> Iterable[tuple[Change, int]]:
    """Take two queues; the one whose first change arrived earlier comes next, at a tie the left."""
    queues = [list(left), list(right)]
    while waiting := [side for side in (0, 1) if queues[side]]:
        side = min(waiting, key=lambda each: (queues[each][0].arrived, each))
        yield queues[side].pop(0), side
