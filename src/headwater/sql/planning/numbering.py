"""The operators of one plan, numbered as Kafka Streams numbers its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from headwater.plan.nodes import Operator

if TYPE_CHECKING:
    from headwater.plan.rows import RowType

AnyOperator = TypeVar("AnyOperator", bound=Operator)


class Numbering:
    """Makes operators, each with the next number and the statement that it is part of."""

    def __init__(self) -> None:
        self._count = 0
        self.location = ""

    def add(
        self,
        class_: type[AnyOperator],
        kind: str,
        parents: tuple[Operator, ...],
        row: RowType,
        /,
        **fields: Any,
    ) -> AnyOperator:
        """Make an operator."""
        node_id = f"{kind}-{self._count:010d}"
        self._count += 1
        return class_(id=node_id, parents=parents, row=row, location=self.location, **fields)
