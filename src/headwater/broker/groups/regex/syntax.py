"""What a parsed regular expression is made of."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias


class Chars(NamedTuple):
    """One character out of these."""

    allowed: frozenset[str]


class Sequence(NamedTuple):
    """One part after the other; without parts, nothing."""

    parts: tuple[Node, ...]


class Choice(NamedTuple):
    """Any one of these."""

    options: tuple[Node, ...]


class Repeat(NamedTuple):
    """A part again and again; without an upper limit if `most` is None."""

    part: Node
    least: int
    most: int | None


class Where(Enum):
    """A place between two characters."""

    START = 0
    END = 1
    WORD_BOUNDARY = 2
    NO_WORD_BOUNDARY = 3


class Assertion(NamedTuple):
    """Nothing, and only in such a place."""

    where: Where


Node: TypeAlias = "Chars | Sequence | Choice | Repeat | Assertion"
