"""Streams and tables: their columns, their topic and how its records are written."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from headwater.sql.metastore.formats import FORMATS, ChosenFormat
from headwater.sql.tree.statements.creation import ColumnRole, SourceKind
from headwater.sql.types.sql_type import BIGINT, INTEGER, SqlType
from headwater.sql.words import quoted

# Columns that every source has, or every windowed one, without declaring them.
PSEUDO_COLUMNS: dict[str, SqlType] = {
    "ROWTIME": BIGINT,
    "ROWPARTITION": INTEGER,
    "ROWOFFSET": BIGINT,
}
WINDOW_BOUNDS: dict[str, SqlType] = {"WINDOWSTART": BIGINT, "WINDOWEND": BIGINT}
RESERVED_COLUMNS = frozenset((*PSEUDO_COLUMNS, *WINDOW_BOUNDS))

_KAFKA, _JSON = ChosenFormat(FORMATS["KAFKA"]), ChosenFormat(FORMATS["JSON"])
_KEYS = (ColumnRole.KEY, ColumnRole.PRIMARY_KEY)
_HEADERS = (ColumnRole.HEADER, ColumnRole.HEADERS)


@dataclass(frozen=True)
class SourceColumn:
    """A column of a stream or a table; `header` is the name of the one header it is."""

    name: str
    type: SqlType
    role: ColumnRole = ColumnRole.VALUE
    header: str | None = None

    @property
    def is_key(self) -> bool:
        """Whether its value is in the record's key."""
        return self.role in _KEYS

    @property
    def is_header(self) -> bool:
        """Whether its value is in the record's headers."""
        return self.role in _HEADERS

    def __str__(self) -> str:
        role = f" {self.role.value}" if self.role.value else ""
        header = f"('{self.header}')" if self.header is not None else ""
        return f"{quoted(self.name)} {self.type}{role}{header}"


class WindowKind(enum.Enum):
    """What kind of windows the keys of a topic have in them."""

    TUMBLING = "TUMBLING"
    HOPPING = "HOPPING"
    SESSION = "SESSION"


@dataclass(frozen=True)
class KeyWindow:
    """The windows in a topic's keys; sessions have no size."""

    kind: WindowKind
    size_ms: int | None = None


@dataclass(frozen=True)
class TimestampColumn:
    """The column that says a row's time, in a pattern of Java's if it is a text."""

    name: str
    pattern: str | None = None


@dataclass(frozen=True)
class DataSource:
    """A stream or a table over a topic.

    `is_source` means that nobody may insert into it; `wrap_single_value` is None where the
    statement left it to the format.
    """

    name: str
    kind: SourceKind
    columns: tuple[SourceColumn, ...]
    topic: str = ""
    key_format: ChosenFormat = _KAFKA
    value_format: ChosenFormat = _JSON
    window: KeyWindow | None = None
    timestamp: TimestampColumn | None = None
    wrap_single_value: bool | None = None
    partitions: int | None = None
    is_source: bool = False

    @property
    def is_windowed(self) -> bool:
        """Whether each key has a window in it."""
        return self.window is not None

    @property
    def key(self) -> tuple[SourceColumn, ...]:
        """The columns of the key."""
        return tuple(column for column in self.columns if column.is_key)

    @property
    def value(self) -> tuple[SourceColumn, ...]:
        """The columns of the value."""
        return tuple(column for column in self.columns if column.role is ColumnRole.VALUE)

    @property
    def has_headers(self) -> bool:
        """Whether one of the columns is in the record's headers."""
        return any(column.is_header for column in self.columns)

    def column(self, name: str) -> SourceColumn | None:
        """Return the column of this name, or None if there is none; capitals matter."""
        return next((column for column in self.columns if column.name == name), None)


def key_role(kind: SourceKind) -> ColumnRole:
    """Return what a key column of a stream, or of a table, is called."""
    return ColumnRole.KEY if kind is SourceKind.STREAM else ColumnRole.PRIMARY_KEY
