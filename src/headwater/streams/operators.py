"""What streams and tables share: a node of the plan that operators are added to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.streams.hints import Hints
from headwater.streams.operands import UNDECLARED

if TYPE_CHECKING:
    from headwater.plan.nodes import Operator
    from headwater.plan.rows import RowType
    from headwater.streams.builder import Builder
    from headwater.streams.operands import Classes


class Operators(Hints):
    """Records as one node of the plan gives them."""

    def __init__(self, builder: Builder, node: Operator, classes: Classes = UNDECLARED) -> None:
        self._builder = builder
        self.node = node
        self._classes = classes

    @property
    def row(self) -> RowType:
        """The types of keys and values."""
        return self.node.row
