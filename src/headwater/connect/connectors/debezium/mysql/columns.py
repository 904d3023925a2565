"""Columns of MariaDB and MySQL: what a query or the binlog says of them, and what they become."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.debezium.envelope import enumeration
from headwater.connect.connectors.debezium.table import Column, Table
from headwater.connect.connectors.debezium.value_types import (
    ZONED_TIMESTAMP,
    ValueType,
    bits,
    named,
)
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.connect.connectors.debezium.selection import Selection
    from headwater.connect.connectors.debezium.value_types import Handling

_SECOND = timedelta(seconds=1)


class Described(NamedTuple):
    """A column as the database describes it; `kind` is a type's name as in information_schema.

    `digits` are those behind the point of a decimal, or of seconds; `length` counts bytes or bits,
    or all digits of a decimal.
    """

    name: str
    kind: str
    is_nullable: bool
    is_key: bool = False
    is_unsigned: bool = False
    length: int = 0
    digits: int = 0
    values: tuple[str, ...] = ()


class TableMaker:
    """Makes tables of descriptions, as a connector's configuration wants them."""

    def __init__(self, selection: Selection, handling: Handling, *, precise_bigints: bool) -> None:
        self.selection = selection
        self._handling = handling
        self._precise_bigints = precise_bigints

    def table(self, database: str, name: str, described: Iterable[Described]) -> Table:
        """Return a table; raises ConnectorError for a type that cannot be captured."""
        columns, key = [], []
        for index, each in enumerate(described):
            is_shown = self.selection.has_column(database, name, each.name)
            if not is_shown and not each.is_key:
                continue
            type_ = self._type(each)
            if type_ is None:
                raise ConnectorError(
                    f"{database}.{name}.{each.name} is of type {each.kind}, which cannot be "
                    f"captured; leave it out with column.exclude.list={database}.{name}.{each.name}"
                )
            type_ = type_.optional(each.is_nullable)
            absent = None if each.is_nullable else type_.zero
            column = Column(each.name, index, type_.schema, type_.convert, absent)
            if is_shown:
                columns.append(column)
            if each.is_key:
                key.append(column)
        topic = self.selection.topic(database, name)
        return Table(database, name, topic, tuple(columns), tuple(key))

    def _type(self, column: Described) -> ValueType | None:
        handling = self._handling
        match column.kind:
            case "bigint" if column.is_unsigned and self._precise_bigints:
                return ValueType(connect.decimal(0, 20), Decimal, Decimal(0))
            case "tinyint" | "smallint" | "mediumint" | "int" | "bigint":
                return ValueType(Schema(_integer(column)))
            case "float":
                return ValueType(Schema(Type.FLOAT32), None, 0.0)
            case "double":
                return ValueType(Schema(Type.FLOAT64), None, 0.0)
            case "decimal":
                return handling.decimal(column.length, column.digits)
            case "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext":
                return ValueType(Schema(Type.STRING), None, "")
            case "binary":
                return _padded(handling.bytes(), column.length)
            case "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob":
                return handling.bytes()
            case "date":
                return handling.date()
            case "time":
                return handling.time(column.digits)
            case "time2":
                return _mended(handling.time(column.digits))
            case "datetime":
                return handling.timestamp(column.digits)
            case "timestamp":
                return ZONED_TIMESTAMP
            case "year":
                return ValueType(named(Type.INT32, "io.debezium.time.Year"))
            case "bit":
                return bits(column.length)
            case "enum":
                return ValueType(enumeration(column.values), None, "")
            case "set":
                return _set(column.values)
            case "json":
                return ValueType(named(Type.STRING, "io.debezium.data.Json"), _json, "null")
        return None


def enum_values(column_type: str) -> tuple[str, ...]:
    """Return the values in a type such as `enum('a','b')`.

    >>> enum_values("set('it''s','b')")
    ("it's", 'b')
    """
    return tuple(each.replace("''", "'") for each in re.findall(r"'((?:[^']|'')*)'", column_type))


def _integer(column: Described) -> Type:
    match column.kind:
        case "tinyint":
            return Type.INT16
        case "smallint":
            return Type.INT32 if column.is_unsigned else Type.INT16
        case "int":
            return Type.INT64 if column.is_unsigned else Type.INT32
        case "bigint":
            return Type.INT64
    return Type.INT32


def _padded(type_: ValueType, length: int) -> ValueType:
    """A BINARY has no trailing zeros in the binlog."""
    then = type_.convert

    def pad(value: bytes) -> Any:
        whole = value.ljust(length, b"\0")
        return whole if then is None else then(whole)

    return type_._replace(convert=pad)


def _mended(type_: ValueType) -> ValueType:
    """A time before 0:00 with a fraction is read from the binlog with the fraction's complement."""
    then = type_.convert
    assert then is not None

    def mend(value: timedelta) -> Any:
        if value.days >= 0 or not value.microseconds:
            return then(value)
        fraction = timedelta(microseconds=value.microseconds)
        return then(value - fraction + _SECOND - fraction)

    return type_._replace(convert=mend)


def _set(values: Sequence[str]) -> ValueType:
    schema = named(Type.STRING, "io.debezium.data.EnumSet", allowed=",".join(values))
    order = {value: number for number, value in enumerate(values)}

    def joined(value: str | set[str]) -> str:
        return value if isinstance(value, str) else ",".join(sorted(value, key=order.__getitem__))

    return ValueType(schema, joined, "")


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=_text)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
