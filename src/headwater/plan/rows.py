"""What flows from operator to operator: the types of a record's key and value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.plan.types import DataType


@dataclass(frozen=True)
class RowType:
    """The types of a record's key and value.

    `has_position` says that the record still is the one that was read, with its topic, partition
    and offset. `windowed` says that the value's first fields are `window_start` and `window_end`
    and that they belong to the record's identity as its key does.
    """

    key: DataType
    value: DataType
    has_position: bool = False
    windowed: bool = False

    def __str__(self) -> str:
        return f"key {self.key.ddl()}, value {self.value.ddl()}"
