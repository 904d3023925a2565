"""What happened to a table, as a database's log or a snapshot tells it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from headwater.connect.connectors.connector import SourceOffset
    from headwater.connect.connectors.debezium.table import Row, Table


class Op(StrEnum):
    """What happened to a row, under Debezium's letters."""

    READ = "r"
    CREATE = "c"
    UPDATE = "u"
    DELETE = "d"
    TRUNCATE = "t"


class Change(NamedTuple):
    """A change of a row; `source` has the values of the fields of the event's source."""

    table: Table
    op: Op
    before: Row | None
    after: Row | None
    source: tuple[Any, ...]


class SchemaChange(NamedTuple):
    """A statement that changed a database's tables."""

    database: str
    ddl: str
    source: tuple[Any, ...]


@dataclass
class Batch:
    """Changes, and the offset after them; there may be no change, and a new offset all the same.

    `has_more` says that it is worth asking again at once, `has_to_be_stored` that the offset is
    worth a transaction of its own: the end of a snapshot, the place where changes begin.
    """

    offset: SourceOffset | None = None
    changes: list[Change] = field(default_factory=list)
    schema_changes: list[SchemaChange] = field(default_factory=list)
    has_more: bool = False
    has_to_be_stored: bool = False


class Capture(Protocol):
    """A database whose changes are read, from an offset on."""

    def read(self, most: int) -> Batch:
        """Return about so many changes; none, and no offset, where nothing has happened."""
        ...

    def committed(self, offset: SourceOffset) -> None:
        """Take note that what was read up to this offset is in its topics."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
