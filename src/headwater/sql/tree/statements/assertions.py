"""ASSERT: topics and schemas that must be there, and in tests rows and definitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    from headwater.sql.tree.expressions import Expression
    from headwater.sql.tree.queries import Duration
    from headwater.sql.tree.statements.creation import CreateSource
    from headwater.sql.tree.statements.properties import Property


@dataclass(frozen=True)
class AssertTopic(Node):
    """`ASSERT [NOT EXISTS] TOPIC topic [WITH (...)] [TIMEOUT duration]`."""

    topic: str
    properties: tuple[Property, ...] = ()
    timeout: Duration | None = None
    exists: bool = True


@dataclass(frozen=True)
class AssertSchema(Node):
    """`ASSERT [NOT EXISTS] SCHEMA [SUBJECT subject] [ID id] [TIMEOUT duration]`."""

    subject: str | None = None
    schema_id: int | None = None
    timeout: Duration | None = None
    exists: bool = True


@dataclass(frozen=True)
class AssertValues(Node):
    """The next row of a source: `ASSERT VALUES source (columns) VALUES (...)`."""

    source: str
    columns: tuple[str, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class AssertTombstone(Node):
    """The next row is a tombstone: `ASSERT NULL VALUES source (columns) KEY (...)`."""

    source: str
    columns: tuple[str, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class AssertSource(Node):
    """A stream or a table has these columns and properties."""

    expected: CreateSource
