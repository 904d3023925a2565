"""Columns of PostgreSQL: what the catalog or the log says of them, and what they become."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.connect.connectors.debezium.envelope import enumeration
from headwater.connect.connectors.debezium.postgresql import texts
from headwater.connect.connectors.debezium.table import Column, Table
from headwater.connect.connectors.debezium.value_types import (
    ZONED_TIMESTAMP,
    ValueType,
    bits,
    named,
)
from headwater.connect.data.schema import Schema, Type, struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater.connect.connectors.debezium.selection import Selection
    from headwater.connect.connectors.debezium.value_types import Handling

_LOGGER = logging.getLogger(__name__)

UNAVAILABLE = "\0unavailable"
"""A large value that was not changed and is not told; no text of PostgreSQL's has a zero byte."""


class PgType(NamedTuple):
    """A type of the catalog: its name, the labels of an enum, and the items of an array."""

    name: str
    labels: tuple[str, ...] = ()
    items: PgType | None = None


class Described(NamedTuple):
    """A column as the database describes it."""

    name: str
    type: PgType
    modifier: int
    is_nullable: bool
    is_key: bool


class TableMaker:
    """Makes tables of descriptions, as a connector's configuration wants them."""

    def __init__(self, selection: Selection, handling: Handling, placeholder: str) -> None:
        self.selection = selection
        self._handling = handling
        self._placeholder = placeholder

    def table(self, schema: str, name: str, described: Iterable[Described]) -> Table:
        """Return a table; columns of types that are not known are left out."""
        columns, key = [], []
        for place, each in enumerate(described):
            is_shown = self.selection.has_column(schema, name, each.name)
            if not is_shown and not each.is_key:
                continue
            type_ = self._type(each.type, each.modifier)
            if type_ is None:
                _LOGGER.warning(
                    "%s.%s.%s is left out: type %s is not known", schema, name, each.name,
                    each.type.name,
                )  # fmt: skip
                continue
            column = self._column(each, place, type_.optional(each.is_nullable))
            if is_shown:
                columns.append(column)
            if each.is_key:
                key.append(column)
        topic = self.selection.topic(schema, name)
        return Table(schema, name, topic, tuple(columns), tuple(key))

    def _column(self, described: Described, place: int, type_: ValueType) -> Column:
        convert = _or_placeholder(type_, self._placeholder)
        absent = None if described.is_nullable else type_.zero
        return Column(described.name, place, type_.schema, convert, absent)

    def _type(self, type_: PgType, modifier: int) -> ValueType | None:
        if type_.labels:
            return ValueType(enumeration(type_.labels), None, "")
        if type_.items is not None:
            return _array(self._type(type_.items, modifier))
        return self._handled(type_.name, modifier) or _PLAIN.get(type_.name)

    def _handled(self, name: str, modifier: int) -> ValueType | None:
        handling = self._handling
        match name:
            case "numeric":
                return self._number(modifier)
            case "money":
                return _read(handling.decimal(19, 2), texts.money)
            case "bytea":
                return _read(handling.bytes(), texts.raw)
            case "date":
                return _maybe_infinite(_read(handling.date(), texts.day), 2**31 - 1, -(2**31))
            case "time":
                return _read(handling.time(_digits(modifier)), texts.time_of_day)
            case "timestamp":
                read = _read(handling.timestamp(_digits(modifier)), texts.moment)
                unit = 1 if _digits(modifier) > 3 else 1000
                most, least = 9223372036825200000 // unit, -9223372036832400000 // unit
                return _maybe_infinite(read, most, least)
            case "bit" | "varbit":
                return bits(modifier if modifier > 0 else 2**31 - 1)
        return None

    def _number(self, modifier: int) -> ValueType:
        from decimal import Decimal

        if modifier < 0 and self._handling.decimals == "precise":
            zero = {"scale": 0, "value": b"\0"}
            return ValueType(_VARIABLE, texts.variable_scale, zero)
        precision, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
        return _read(self._handling.decimal(precision, scale), Decimal)


def _digits(modifier: int) -> int:
    return 6 if modifier < 0 else modifier


def _read(type_: ValueType, read: Callable[[str], Any]) -> ValueType:
    then = type_.convert
    if then is None:
        return type_._replace(convert=read)
    return type_._replace(convert=lambda text: then(read(text)))


def _maybe_infinite(type_: ValueType, most: int, least: int) -> ValueType:
    if type_.schema.logical is not None or type_.convert is None:
        return type_  # Connect's own types have no such values.
    return type_._replace(convert=texts.or_infinity(type_.convert, most, least))


def _array(item: ValueType | None) -> ValueType | None:
    if item is None:
        return None
    schema = Schema(Type.ARRAY, value=item.schema.as_optional())
    return ValueType(schema, lambda text: texts.items(text, item.convert), [])


def _or_placeholder(type_: ValueType, placeholder: str) -> Callable[[str], Any] | None:
    """Numbers and times are never so large that they are not told."""
    convert = type_.convert
    if type_.schema.type is Type.BYTES and type_.schema.logical is None:
        stand_in: object = placeholder.encode()
    elif type_.schema.type is Type.STRING:
        stand_in = placeholder
    elif type_.schema.type is Type.ARRAY or type_.schema.logical is not None:
        stand_in = None
    else:
        return convert

    def converted(text: str) -> Any:
        if text == UNAVAILABLE:
            return stand_in
        return text if convert is None else convert(text)

    return converted


def _text(name: str | None = None) -> ValueType:
    schema = Schema(Type.STRING) if name is None else named(Type.STRING, name)
    return ValueType(schema, None, "")


_VARIABLE = replace(
    struct(
        {"scale": Schema(Type.INT32), "value": Schema(Type.BYTES)},
        name="io.debezium.data.VariableScaleDecimal",
    ),
    version=1,
)
_TEXTS = (
    "text varchar bpchar char name citext ltree inet cidr macaddr macaddr8 int4range int8range "
    "numrange tsrange tstzrange daterange"
)
_PLAIN = {
    **dict.fromkeys(_TEXTS.split(), _text()),
    "bool": ValueType(Schema(Type.BOOLEAN), texts.boolean, False),
    "int2": ValueType(Schema(Type.INT16), int),
    "int4": ValueType(Schema(Type.INT32), int),
    "int8": ValueType(Schema(Type.INT64), int),
    "oid": ValueType(Schema(Type.INT64), int),
    "float4": ValueType(Schema(Type.FLOAT32), float, 0.0),
    "float8": ValueType(Schema(Type.FLOAT64), float, 0.0),
    "json": _text("io.debezium.data.Json"),
    "jsonb": _text("io.debezium.data.Json"),
    "xml": _text("io.debezium.data.Xml"),
    "uuid": _text("io.debezium.data.Uuid"),
    "timestamptz": ZONED_TIMESTAMP._replace(convert=texts.zoned_moment),
    "timetz": ValueType(
        named(Type.STRING, "io.debezium.time.ZonedTime"), texts.zoned_time, "00:00:00Z"
    ),
    "interval": ValueType(named(Type.INT64, "io.debezium.time.MicroDuration"), texts.duration),
}
