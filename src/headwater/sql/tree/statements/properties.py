"""The properties of a WITH clause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    from headwater.sql.tree.expressions import Literal


@dataclass(frozen=True)
class Property(Node):
    """`name = value`; a name without quotes is in capitals."""

    name: str
    value: Literal
