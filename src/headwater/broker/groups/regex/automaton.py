"""Matches names against an expression, one look at each character.

The expression becomes a non-deterministic automaton, and that is made deterministic as far as
names ask for it: a set of states and a character lead to the next set, which is remembered.
"""

from __future__ import annotations

from typing import NamedTuple

from headwater.broker.groups.regex.char_classes import WORD
from headwater.broker.groups.regex.parser import RegexError
from headwater.broker.groups.regex.syntax import (
    Assertion,
    Chars,
    Choice,
    Node,
    Repeat,
    Sequence,
    Where,
)

MAX_STATES = 10_000
MAX_REMEMBERED = 5_000
"""Steps that are kept; beyond that, matching begins to learn anew."""


class _Place(NamedTuple):
    """Where a match may be, with what has been read so far in mind."""

    states: frozenset[int]
    last: str | None
    """The last character if it is worth knowing: "w" of a word, "-" of none, None at the start."""


class Automaton:
    """A compiled expression.

    >>> from headwater.broker.groups.regex import parse
    >>> orders = Automaton(parse("orders[.](eu|us)"))
    >>> orders.matches("orders.eu"), orders.matches("orders.europe")
    (True, False)
    """

    def __init__(self, node: Node) -> None:
        self._free: list[list[tuple[int, Where | None]]] = []
        """By state, where it leads without a character, and in which places only."""
        self._moves: list[tuple[frozenset[str], int] | None] = []
        """By state, the characters that it takes and where they lead."""
        start = self._new_state()
        self._accept = self._build(node, start)
        self._start = _Place(frozenset({start}), None)
        self._next: dict[tuple[_Place, str], _Place] = {}
        self._accepts: dict[_Place, bool] = {}

    def matches(self, name: str) -> bool:
        """Whether the expression matches a whole name."""
        place = self._start
        remembered = self._next
        for char in name:
            place = remembered.get((place, char)) or self._step(place, char)
            if not place.states:
                return False
        accepts = self._accepts.get(place)
        if accepts is None:
            accepts = self._accepts[place] = self._accept in self._closure(place, None)
        return accepts

    def _step(self, place: _Place, char: str) -> _Place:
        if len(self._next) >= MAX_REMEMBERED:
            self._next.clear()
            self._accepts.clear()
        moves = (self._moves[state] for state in self._closure(place, char))
        reached = frozenset(move[1] for move in moves if move is not None and char in move[0])
        following = self._next[place, char] = _Place(reached, "w" if char in WORD else "-")
        return following

    def _closure(self, place: _Place, following: str | None) -> set[int]:
        """Return the states that are reached without a character, in front of the next one."""
        is_boundary = (place.last == "w") != (following in WORD)
        is_so = {
            None: True,
            Where.START: place.last is None,
            Where.END: following is None,
            Where.WORD_BOUNDARY: is_boundary,
            Where.NO_WORD_BOUNDARY: not is_boundary,
        }
        found = set(place.states)
        waiting = list(place.states)
        while waiting:
            for target, where in self._free[waiting.pop()]:
                if target not in found and is_so[where]:
                    found.add(target)
                    waiting.append(target)
        return found

    def _new_state(self) -> int:
        if len(self._free) >= MAX_STATES:
            raise RegexError("it takes too many states; repeat less")
        self._free.append([])
        self._moves.append(None)
        return len(self._free) - 1

    def _build(self, node: Node, start: int) -> int:
        """Add what matches a node from a state on, and return the state after it."""
        if isinstance(node, Sequence):
            for part in node.parts:
                start = self._build(part, start)
            return start
        if isinstance(node, Repeat):
            return self._build_repeat(node, start)
        end = self._new_state()
        if isinstance(node, Chars):
            # A state takes characters in one way only, so that a fresh one does it.
            taking = self._new_state()
            self._free[start].append((taking, None))
            self._moves[taking] = (node.allowed, end)
        elif isinstance(node, Assertion):
            self._free[start].append((end, node.where))
        else:
            self._build_choice(node, start, end)
        return end

    def _build_choice(self, node: Choice, start: int, end: int) -> None:
        for option in node.options:
            entry = self._new_state()
            self._free[start].append((entry, None))
            self._free[self._build(option, entry)].append((end, None))

    def _build_repeat(self, node: Repeat, start: int) -> int:
        for _ in range(node.least):
            start = self._build(node.part, start)
        end = self._new_state()
        self._free[start].append((end, None))
        if node.most is None:
            entry = self._new_state()
            self._free[start].append((entry, None))
            after = self._build(node.part, entry)
            self._free[after] += [(entry, None), (end, None)]
            return end
        for _ in range(node.most - node.least):
            start = self._build(node.part, start)
            self._free[start].append((end, None))
        return end
