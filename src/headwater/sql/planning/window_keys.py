"""Keys with the beginning of a window after them, in the bytes of Kafka Streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.expressions import Column
from headwater.plan.formats import Format
from headwater.plan.types import BINARY, DataType
from headwater.sql.errors import SqlError
from headwater.sql.planning.formulas import formula
from headwater.sql.types.sql_type import BIGINT, BYTES, INTEGER, STRING

if TYPE_CHECKING:
    from headwater.plan.expressions import Expression
    from headwater.sql.metastore.source import DataSource

_LONG = "unhex(lpad(hex(CAST({0} AS bigint)), 16, '0'))"
_BYTES = {
    STRING: "CAST({0} AS binary)",
    BYTES: "{0}",
    BIGINT: _LONG,
    INTEGER: f"substring({_LONG}, 5, 4)",
}


@dataclass(frozen=True)
class WindowKey:
    """The key of a windowed table, which Kafka Streams writes as the key and eight bytes more."""

    sink: DataSource

    @property
    def type(self) -> DataType:
        """Bytes: the window is no column of the key."""
        return BINARY

    @property
    def format(self) -> Format:
        """Bytes as they are."""
        return Format("bytes")

    def bytes_of(self, key: Expression) -> Expression:
        """Return the key's bytes and those of the window's beginning."""
        (column, *others) = self.sink.key
        if others or self.sink.key_format.name != "KAFKA" or column.type not in _BYTES:
            raise SqlError(
                f"windows with keys {column.type} in the {self.sink.key_format.name} format cannot "
                "be written yet"
            )
        start = formula("unix_millis({0})", BIGINT, Column(("record", "value", "window_start")))
        parts = formula(_BYTES[column.type], BYTES, key), formula(_LONG, BYTES, start)
        return formula("concat({0}, {1})", BYTES, *parts)
