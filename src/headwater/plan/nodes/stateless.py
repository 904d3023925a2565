"""Operators that remember nothing from one record to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.nodes.node import ChangelogMode, Node, Operand

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.expressions.python_function import PythonFunction


@dataclass(frozen=True, eq=False, kw_only=True)
class Stateless(Node):
    """An operator without state, which makes a stream."""

    @property
    def changelog(self) -> ChangelogMode:
        """Records that stand by themselves."""
        return ChangelogMode.APPEND


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordByRecord(Stateless):
    """An operator that makes at most one record of each: of a table it makes another table."""

    @property
    def changelog(self) -> ChangelogMode:
        """That of its input."""
        above: Node = self
        while isinstance(above, RecordByRecord):  # chains may be longer than Python nests calls
            above = above.parents[0]
        return above.changelog


@dataclass(frozen=True, eq=False, kw_only=True)
class Filter(RecordByRecord):
    """Keeps the records for which the predicate is true."""

    predicate: Operand


@dataclass(frozen=True, eq=False, kw_only=True)
class Split(RecordByRecord):
    """Finds the first condition that a record meets, for the branches that follow.

    A function is asked once for a record, and only if no condition before it holds.
    """

    conditions: tuple[Operand, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Branch(RecordByRecord):
    """The records of a split for which one condition was the first to hold.

    The last branch, whose index is the number of conditions, has those for which none did.
    """

    index: int

    @property
    def split(self) -> Split:
        """The operator that found out."""
        (split,) = self.parents
        assert isinstance(split, Split), "a branch follows a split"
        return split


@dataclass(frozen=True, eq=False, kw_only=True)
class Map(RecordByRecord):
    """Replaces the key, the value, or both at once, and the time if there is another one.

    `pair` is a Python function that returns a struct of `key` and `value`; with it, `key` and
    `value` are None. On a table the operands are made so that a deleted key stays deleted.
    """

    key: Operand | None = None
    value: Operand | None = None
    pair: PythonFunction | None = None
    timestamp: Expression | None = None

    @property
    def changes_key(self) -> bool:
        """Whether the key is replaced."""
        return self.key is not None or self.pair is not None


@dataclass(frozen=True, eq=False, kw_only=True)
class Peek(RecordByRecord):
    """Calls a function for each record and passes it on unchanged."""

    function: PythonFunction


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatMap(Stateless):
    """Makes any number of records out of each: one for each element of an array.

    An element is the new value, or with `keyed` a struct of `key` and `value`.
    """

    items: Operand
    keyed: bool

    @property
    def changes_key(self) -> bool:
        """Whether the elements bring keys."""
        return self.keyed


@dataclass(frozen=True, eq=False, kw_only=True)
class Merge(Stateless):
    """All records of several streams of the same type."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Repartition(Stateless):
    """Brings equal keys together, in this many partitions if a count is given."""

    partitions: int | None = None

    @property
    def brings_keys_together(self) -> bool:
        """That is all it does."""
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(Stateless):
    """A stream read as upserts: the latest value of each key; null deletes it.

    It keeps nothing itself: the values are kept by the operator that joins or writes it.
    """

    @property
    def changelog(self) -> ChangelogMode:
        """This is a table."""
        return ChangelogMode.UPSERT

    @property
    def brings_keys_together(self) -> bool:
        """Whoever keeps the values does so by key."""
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class ToStream(Stateless):
    """A table's changes as a stream of records."""

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take tables; of what was replaced, a record says nothing."""
        del parent
        return mode is not ChangelogMode.APPEND


@dataclass(frozen=True, eq=False, kw_only=True)
class TableFilter(Stateless):
    """The rows of a table for which the predicate is true; one that was in and is not is deleted.

    What a row replaces stands beside it, so that nothing is said of a row that was never in.
    """

    predicate: Expression

    @property
    def changelog(self) -> ChangelogMode:
        """Another table."""
        return ChangelogMode.UPSERT

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take a table whose rows have beside them what they replace."""
        del parent
        return mode is ChangelogMode.RETRACT
