"""What a join by foreign key must give, in plain Python, and random tables for it."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING

from tests.integration.streams_reference import Event
from tests.integration.tables_reference import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.integration.streams_reference import Value
    from tests.integration.tables_reference import Changes

LEFT, RIGHT = "l", "r"


def random_references(
    seed: int, *, keys: int, foreign_keys: int, size: int, batches: int = 2, disorder: int = 0
) -> list[list[Event]]:
    """Return batches of left rows, which refer to right rows or to nothing, and of right rows.

    Times go on by one, and back by at most the disorder.
    """
    choice = random.Random(seed)
    found = []
    for number in range(batches):
        batch = []
        for place in range(size):
            at = (number * size + place) - choice.randint(0, disorder)
            if choice.random() < 0.6:
                key = None if choice.random() < 0.03 else f"k{choice.randrange(keys):03}"
                to = None if choice.random() < 0.15 else f"f{choice.randrange(foreign_keys):02}"
                value: Value = {"n": choice.randint(0, 9), "to": to}
                event = Event(LEFT, key, None if choice.random() < 0.2 else value, at)
            else:
                key = None if choice.random() < 0.03 else f"f{choice.randrange(foreign_keys):02}"
                right = None if choice.random() < 0.3 else {"n": choice.randint(0, 9)}
                event = Event(RIGHT, key, right, at)
            batch.append(event)
        found.append(batch)
    return found


class ForeignKeyJoin:
    """The pairs of left rows with the right rows that they refer to."""

    def __init__(self, kind: str, *, each: bool) -> None:
        self._keeps_left = kind == "left"
        self._each = each
        self._left: dict[str, Event] = {}
        self._right: dict[str, Event] = {}
        self._there: set[str] = set()

    def of(
        self, batch: Iterable[Event], pair: Callable[[Value | None, Value | None], Value]
    ) -> Changes:
        """Return what a batch of records, in their order, makes of the pairs."""
        found: Changes = defaultdict(list)
        was_there = set(self._there)
        for event in batch:
            if event.key is None:
                continue
            table = self._left if event.topic == LEFT else self._right
            if event.value is None:
                table.pop(event.key, None)
            else:
                table[event.key] = event
            keys = [event.key] if event.topic == LEFT else self._referring(event.key)
            for key in keys:
                self._change(found, key, event, pair)
        if self._each:
            return found
        return {
            key: each[-1:] for key, each in found.items() if key in self._there or key in was_there
        }

    def _referring(self, foreign_key: str) -> list[str]:
        return [
            key
            for key, event in self._left.items()
            if event.value is not None and event.value["to"] == foreign_key
        ]

    def _change(self, found: Changes, key: str, event: Event, pair: Callable[..., Value]) -> None:
        left = self._left.get(key)
        to = None if left is None or left.value is None else left.value["to"]
        right = None if to is None else self._right.get(to)
        is_there = left is not None and (right is not None or self._keeps_left)
        if is_there or key in self._there:
            later = max(each.time for each in (event, left, right) if each is not None)
            value = pair(left and left.value, right and right.value) if is_there else None
            found[key].append(Change(value, later, event.time))
        (self._there.add if is_there else self._there.discard)(key)
