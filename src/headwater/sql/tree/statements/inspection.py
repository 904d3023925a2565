"""SHOW, LIST, DESCRIBE, EXPLAIN and PRINT."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    from headwater.sql.tree.statements.statement import Statement


class Listing(enum.Enum):
    """What can be listed, in the words after SHOW."""

    STREAMS = "STREAMS"
    TABLES = "TABLES"
    TOPICS = "TOPICS"
    ALL_TOPICS = "ALL TOPICS"
    QUERIES = "QUERIES"
    FUNCTIONS = "FUNCTIONS"
    PROPERTIES = "PROPERTIES"
    TYPES = "TYPES"
    VARIABLES = "VARIABLES"
    CONNECTORS = "CONNECTORS"
    SOURCE_CONNECTORS = "SOURCE CONNECTORS"
    SINK_CONNECTORS = "SINK CONNECTORS"
    CONNECTOR_PLUGINS = "CONNECTOR PLUGINS"


@dataclass(frozen=True)
class Show(Node):
    """`SHOW what [EXTENDED]`; LIST is the same word."""

    listing: Listing
    extended: bool = False


@dataclass(frozen=True)
class Describe(Node):
    """`DESCRIBE source [EXTENDED]`."""

    name: str
    extended: bool = False


class Described(enum.Enum):
    """What can be described all at once."""

    STREAMS = "STREAMS"
    TABLES = "TABLES"


@dataclass(frozen=True)
class DescribeAll(Node):
    """`DESCRIBE STREAMS [EXTENDED]` or `DESCRIBE TABLES [EXTENDED]`."""

    described: Described
    extended: bool = False


@dataclass(frozen=True)
class DescribeFunction(Node):
    """`DESCRIBE FUNCTION name`."""

    name: str


@dataclass(frozen=True)
class DescribeConnector(Node):
    """`DESCRIBE CONNECTOR name`."""

    name: str


@dataclass(frozen=True)
class ExplainQuery(Node):
    """`EXPLAIN id` of a query that runs."""

    query_id: str


@dataclass(frozen=True)
class ExplainStatement(Node):
    """`EXPLAIN statement`."""

    statement: Statement


@dataclass(frozen=True)
class PrintTopic(Node):
    """`PRINT topic [FROM BEGINNING] [INTERVAL n] [LIMIT n]`."""

    topic: str
    from_beginning: bool = False
    interval: int | None = None
    limit: int | None = None
