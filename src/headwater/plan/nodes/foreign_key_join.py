"""The join of two tables by a foreign key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from headwater.plan.nodes.node import ChangelogMode
from headwater.plan.nodes.stateful import Stateful

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression


@dataclass(frozen=True, eq=False, kw_only=True)
class ForeignKeyJoin(Stateful):
    """Each row of a table (first parent) with the row of another (second) that it refers to.

    `foreign_key` is over the first table's rows and gives the key of the second; the key of the
    result is the first's. A change of either row changes the pair, and one of the foreign key
    moves the row to another partner. `projection` is over a join scope; where there is no pair any
    more, the result is a tombstone. `left` keeps rows without a partner, those whose foreign key
    is null as well. `emit` is as in a `TableTableJoin`. With `repeats_ends` a change that leaves a
    row without a pair gives a tombstone also where there was none, as in Kafka Streams.
    """

    kind: Literal["inner", "left"]
    foreign_key: Expression
    projection: Expression
    emit: Literal["batch", "record"] = "batch"
    repeats_ends: bool = False

    @property
    def changelog(self) -> ChangelogMode:
        """Pairs replace those before them, and can be deleted."""
        return ChangelogMode.UPSERT

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Take two tables."""
        del parent
        return mode is ChangelogMode.UPSERT

    @property
    def word(self) -> str:
        """What is joined."""
        return "foreignkeyjoin"

    @property
    def in_arrival_order(self) -> bool:
        """A row meets the other table as it stands when the row arrives."""
        return True

    @property
    def waits(self) -> bool:
        """A pair leaves when it changes."""
        return False

    @property
    def regroups(self) -> bool:
        """Rows meet by the foreign key, and are brought back to their own."""
        return True

    @property
    def shuffles(self) -> int:
        """To the left table's key, to the foreign key, and back."""
        return 3

    @property
    def can_be_added(self) -> bool:
        """Not where results replace each other batch by batch."""
        return self.emit == "record"
