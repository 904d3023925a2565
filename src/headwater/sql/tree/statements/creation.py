"""CREATE: streams, tables, types and connectors."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    from headwater.sql.tree.queries import Query
    from headwater.sql.tree.statements.properties import Property
    from headwater.sql.tree.types import TypeNode


class SourceKind(enum.Enum):
    """What a topic is seen as."""

    STREAM = "STREAM"
    TABLE = "TABLE"


class ColumnRole(enum.Enum):
    """Where a column's value is in the record."""

    VALUE = ""
    KEY = "KEY"
    PRIMARY_KEY = "PRIMARY KEY"
    HEADERS = "HEADERS"
    HEADER = "HEADER"


@dataclass(frozen=True)
class ColumnDefinition(Node):
    """`name type [KEY | PRIMARY KEY | HEADERS | HEADER('header')]`."""

    name: str
    type: TypeNode
    role: ColumnRole = ColumnRole.VALUE
    header: str | None = None


@dataclass(frozen=True)
class CreateSource(Node):
    """A stream or a table over a topic; without columns they come from the registry."""

    kind: SourceKind
    name: str
    columns: tuple[ColumnDefinition, ...] = ()
    properties: tuple[Property, ...] = ()
    or_replace: bool = False
    is_source: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateAsSelect(Node):
    """A stream or a table that a query fills."""

    kind: SourceKind
    name: str
    query: Query
    properties: tuple[Property, ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateType(Node):
    """A name for a type."""

    name: str
    type: TypeNode
    if_not_exists: bool = False


class ConnectorKind(enum.Enum):
    """Whether a connector reads from or writes to the outside."""

    SOURCE = "SOURCE"
    SINK = "SINK"


@dataclass(frozen=True)
class CreateConnector(Node):
    """A connector that Connect runs."""

    kind: ConnectorKind
    name: str
    properties: tuple[Property, ...] = ()
    if_not_exists: bool = False
