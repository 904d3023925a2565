"""What all operators of a plan have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from headwater.plan.expressions.expressions import Expression
from headwater.plan.expressions.python_function import PythonFunction

if TYPE_CHECKING:
    from headwater.plan.nodes import Operator
    from headwater.plan.rows import RowType

Operand: TypeAlias = Expression | PythonFunction


class ChangelogMode(StrEnum):
    """What a record that leaves an operator means for those before it."""

    APPEND = "append"
    """Nothing: each record stands by itself, as in a stream."""

    UPSERT = "upsert"
    """It is the latest value of its key, and null deletes the key, as in a table."""

    RETRACT = "retract"
    """As upsert, and the value that it replaces stands beside it, to be taken back."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Node(ABC):
    """An operator.

    `id` is made as Kafka Streams does (`KSTREAM-FILTER-0000000003`), `name` is the user's own for
    it, which keeps state and internal topics apart from the numbering. `location` is the line of
    the user's program.
    """

    id: str
    parents: tuple[Operator, ...] = ()
    row: RowType
    location: str = ""
    name: str | None = None

    @property
    @abstractmethod
    def changelog(self) -> ChangelogMode:
        """What the records that leave the operator mean for those before them."""

    def accepts(self, mode: ChangelogMode, parent: int) -> bool:
        """Tell whether the parent of this index may be in this mode.

        Old values are for operators that say they take them: others would forget them.
        """
        del parent
        return mode is not ChangelogMode.RETRACT

    @property
    def number(self) -> int:
        """The place in the order of the program, which is the number in the id."""
        digits = "".join(part for part in self.id.split("-") if part.isdecimal())
        return int(digits or 0)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """All that the operator computes from records."""
        parts = [part for value in vars(self).values() for part in _parts(value)]
        return tuple(part for part in parts if isinstance(part, Expression | PythonFunction))

    @property
    def changes_key(self) -> bool:
        """Whether records may leave with another key than they came with."""
        return False

    @property
    def topics_aside(self) -> tuple[str, ...]:
        """The topics that the operator itself writes, such as that of malformed records."""
        return ()

    @property
    def needs_repartition(self) -> bool:
        """Whether equal keys may be in different partitions after this operator."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            if node.scatters_keys:
                return True
            if not node.brings_keys_together:
                waiting.extend(node.parents)
        return False

    @property
    def scatters_keys(self) -> bool:
        """Whether equal keys may leave in different partitions although they came in one."""
        return self.changes_key

    @property
    def brings_keys_together(self) -> bool:
        """Whether equal keys are in one partition after this operator, wherever they came from."""
        return False


def _parts(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)
