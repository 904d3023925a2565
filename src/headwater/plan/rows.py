"""What flows from operator to operator: the types of a record's key and value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.schemas.types import Field, Struct

if TYPE_CHECKING:
    from headwater.plan.schemas.types import DataType


@dataclass(frozen=True)
class RowType:
    """The types of a record's key and value.

    A key of several columns is a struct, whose fields are the columns. `has_position` says that
    the record still is the one that was read, with its topic, partition and offset. `windowed` says
    that the value's first fields are `window_start` and `window_end` and that they belong to the
    record's identity as its key does.
    """

    key: DataType
    value: DataType
    has_position: bool = False
    windowed: bool = False

    @property
    def key_columns(self) -> tuple[Field, ...]:
        """The columns of the key; one that is no struct has one, `key`."""
        return self.key.fields if isinstance(self.key, Struct) else (Field("key", self.key),)

    def __str__(self) -> str:
        return f"key {self.key.ddl()}, value {self.value.ddl()}"
