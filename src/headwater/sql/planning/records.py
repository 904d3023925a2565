"""How rows of a source are records of its topic: the types and formats of keys and values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.expressions import Column, Expression
from headwater.plan.formats import Format
from headwater.plan.rows import RowType
from headwater.plan.types import BINARY, DataType, Field, Struct
from headwater.sql.errors import SqlError
from headwater.sql.planning.formulas import formula, literal
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import (
    BIGINT,
    BYTES,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    SqlType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.sql.metastore.formats import ChosenFormat
    from headwater.sql.metastore.source import DataSource, SourceColumn

_KAFKA: dict[SqlType, str] = {
    STRING: "string",
    INTEGER: "int",
    BIGINT: "long",
    DOUBLE: "double",
    BYTES: "bytes",
}
_KINDS = {"JSON": "json", "AVRO": "avro", "JSON_SR": "jsonschema", "PROTOBUF": "protobuf"}


@dataclass(frozen=True)
class Records:
    """The records of a source's topic."""

    source: DataSource

    @property
    def key_format(self) -> Format:
        """The format of the keys; of what has no key, nobody reads the bytes."""
        if not self.source.key:
            return Format("bytes")
        return _format(self.source.key_format, self.source.key)

    @property
    def value_format(self) -> Format:
        """The format of the values."""
        return _format(self.source.value_format, self.source.value)

    @property
    def key_type(self) -> DataType:
        """The type of the key: of its only column, or a struct of them."""
        return key_type(self.source.key)

    @property
    def value_type(self) -> DataType:
        """The type of the value: a struct, or its only column where that is not wrapped."""
        if self.is_unwrapped:
            return to_plan(self.source.value[0].type)
        return Struct(
            tuple(Field(column.name, to_plan(column.type)) for column in self.source.value)
        )

    @property
    def is_unwrapped(self) -> bool:
        """Whether the value is its only column."""
        source = self.source
        if len(source.value) != 1:
            return False
        if source.value_format.name == "KAFKA":
            return True
        return source.wrap_single_value is False

    @property
    def row(self) -> RowType:
        """The types of a record as it is read."""
        return RowType(self.key_type, self.value_type, has_position=True)

    def column(self, name: str) -> Expression:
        """Return what stands for a column of a record."""
        pseudo = _PSEUDO.get(name)
        if pseudo is not None:
            return pseudo
        column = self.source.column(name)
        assert column is not None, f"{self.source.name} has no {name}"
        if column.is_header:
            return _header(column)
        if column.is_key:
            inside = () if len(self.source.key) == 1 else (name,)
            return Column(("record", "key", *inside))
        return Column(("record", "value", *(() if self.is_unwrapped else (name,))))

    @property
    def timestamp_by(self) -> Expression | None:
        """The column that says the time of a record, as one."""
        given = self.source.timestamp
        if given is None:
            return None
        column = self.source.column(given.name)
        assert column is not None
        value = self.column(given.name)
        if column.type == BIGINT:
            return formula("timestamp_millis({0})", TIMESTAMP, value)
        if column.type == TIMESTAMP:
            return value
        pattern = literal(given.pattern)
        return formula(f"try_to_timestamp({{0}}, {pattern})", TIMESTAMP, value)


_PSEUDO: dict[str, Expression] = {
    "ROWTIME": formula("unix_millis({0})", BIGINT, Column(("record", "timestamp"))),
    "ROWPARTITION": Column(("record", "partition")),
    "ROWOFFSET": Column(("record", "offset")),
}


def _header(column: SourceColumn) -> Expression:
    """Return all headers, or the last one of a name."""
    headers = Column(("record", "headers"))
    if column.header is None:
        made = "transform({0}, _h -> named_struct('KEY', _h.key, 'VALUE', _h.value))"
        return formula(made, column.type, headers)
    found = f"try_element_at(filter({{0}}, _h -> _h.key = {literal(column.header)}), -1).value"
    return formula(found, column.type, headers)


def key_type(columns: Sequence[SourceColumn]) -> DataType:
    """Return the type of a key of these columns; without any it is bytes that are always null."""
    if not columns:
        return BINARY
    if len(columns) == 1:
        return to_plan(columns[0].type)
    return Struct(tuple(Field(column.name, to_plan(column.type)) for column in columns))


def _format(chosen: ChosenFormat, columns: Sequence[SourceColumn]) -> Format:
    if chosen.name == "KAFKA":
        return Format("bytes" if not columns else _KAFKA[columns[0].type])
    if chosen.name not in _KINDS:
        raise SqlError(f"the {chosen.name} format cannot be read or written yet")
    _refuse_times(columns, chosen.name)
    return Format(_KINDS[chosen.name])


def _refuse_times(columns: Sequence[SourceColumn], name: str) -> None:
    """Refuse times, which ksqlDB writes as numbers and plans write as texts."""
    for column in columns:
        for word in ("DATE", "TIME", "TIMESTAMP"):
            if re.search(rf"\b{word}\b", str(column.type)):
                raise SqlError(f"{word} in the {name} format cannot be read or written yet")
