"""INSERT, DROP and ALTER."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    from headwater.sql.tree.expressions import Expression
    from headwater.sql.tree.queries import Query
    from headwater.sql.tree.statements.creation import SourceKind
    from headwater.sql.tree.statements.properties import Property
    from headwater.sql.tree.types import TypeNode


@dataclass(frozen=True)
class InsertSelect(Node):
    """A query whose rows go to a stream that exists."""

    target: str
    query: Query
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True)
class InsertValues(Node):
    """One row; without columns the values are those of all columns in order."""

    target: str
    columns: tuple[str, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class DropSource(Node):
    """Forget a stream or a table, and with `delete_topic` its records."""

    kind: SourceKind
    name: str
    if_exists: bool = False
    delete_topic: bool = False


class NamedKind(enum.Enum):
    """What else has a name and can be dropped."""

    TYPE = "TYPE"
    CONNECTOR = "CONNECTOR"


@dataclass(frozen=True)
class DropNamed(Node):
    """Forget a type or a connector."""

    kind: NamedKind
    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class AddedColumn(Node):
    """`ADD COLUMN name type`."""

    name: str
    type: TypeNode


@dataclass(frozen=True)
class AlterSource(Node):
    """New columns of a stream or a table."""

    kind: SourceKind
    name: str
    columns: tuple[AddedColumn, ...]


@dataclass(frozen=True)
class AlterSystem(Node):
    """A setting for all queries of the cluster."""

    property: str
    value: str
