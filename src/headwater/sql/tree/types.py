"""Types as they are written in a statement; `headwater.sql.types` says what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from headwater.sql.tree.node import Node


@dataclass(frozen=True)
class NamedType(Node):
    """A type by its name, such as `INT` or one of CREATE TYPE; `DECIMAL(10, 2)` has parameters."""

    name: str
    parameters: tuple[int | str, ...] = ()


@dataclass(frozen=True)
class ArrayType(Node):
    """`ARRAY<element>`."""

    element: TypeNode


@dataclass(frozen=True)
class MapType(Node):
    """`MAP<key, value>`."""

    key: TypeNode
    value: TypeNode


@dataclass(frozen=True)
class StructType(Node):
    """`STRUCT<name type, ...>`."""

    fields: tuple[tuple[str, TypeNode], ...]


TypeNode: TypeAlias = NamedType | ArrayType | MapType | StructType
