"""Connect's schemas: what a key or a value is, apart from how it is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DECIMAL = "org.apache.kafka.connect.data.Decimal"
DATE = "org.apache.kafka.connect.data.Date"
TIME = "org.apache.kafka.connect.data.Time"
TIMESTAMP = "org.apache.kafka.connect.data.Timestamp"
SCALE = "scale"
PRECISION = "connect.decimal.precision"
"""The parameter that Confluent's converters keep a decimal's count of digits in."""


class Type(StrEnum):
    """The types, under the names that JsonConverter writes."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float"
    FLOAT64 = "double"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"

    @property
    def is_primitive(self) -> bool:
        """Whether a value of this type has no parts."""
        return self not in (Type.ARRAY, Type.MAP, Type.STRUCT)

    @property
    def is_number(self) -> bool:
        """Whether a value of this type is a number."""
        return self in _NUMBERS


_PHYSICAL = {
    DECIMAL: Type.BYTES,
    DATE: Type.INT32,
    TIME: Type.INT32,
    TIMESTAMP: Type.INT64,
}
_NUMBERS = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)


@dataclass(frozen=True)
class Field:
    """A field of a struct."""

    name: str
    schema: Schema


@dataclass(frozen=True)
class Schema:
    """What a value is. A logical type is a type with one of Connect's names, such as DECIMAL.

    `key` is a map's; `value` is a map's and the items of an array. A `default` is a Python value:
    a number, text, bytes, a dict or a list; a decimal.Decimal, datetime.date, datetime.datetime
    (with a time zone) or, of a TIME, the milliseconds of the day.

    >>> point = struct({"x": Schema(Type.INT32), "y": Schema(Type.INT32, optional=True)})
    >>> [field.name for field in point.fields], point.field("y").schema.optional
    (['x', 'y'], True)
    """

    type: Type
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    default: object = None
    parameters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    fields: tuple[Field, ...] = ()
    key: Schema | None = None
    value: Schema | None = None

    def field(self, name: str) -> Field | None:
        """Return the field of that name, if there is one."""
        return next((each for each in self.fields if each.name == name), None)

    def with_fields(self, fields: Iterable[Field]) -> Schema:
        """Return a struct of the same name, version and so on with other fields."""
        return replace(self, fields=tuple(fields))

    def as_optional(self) -> Schema:
        """Return the schema of the same value where it may be missing."""
        return self if self.optional else replace(self, optional=True)

    @property
    def logical(self) -> str | None:
        """The name of Connect's logical type that this is, if it is one."""
        return self.name if _PHYSICAL.get(self.name or "") is self.type else None

    @property
    def scale(self) -> int:
        """The digits behind the point of a DECIMAL."""
        return int(self.parameters.get(SCALE, "0"))


def struct(fields: Mapping[str, Schema], *, name: str | None = None) -> Schema:
    """Return a struct's schema."""
    return Schema(
        Type.STRUCT, name=name, fields=tuple(Field(each, of) for each, of in fields.items())
    )


def decimal(scale: int, precision: int | None = None, *, optional: bool = False) -> Schema:
    """Return the schema of a decimal number."""
    parameters = {SCALE: str(scale)}
    if precision is not None:
        parameters[PRECISION] = str(precision)
    return Schema(Type.BYTES, optional, DECIMAL, 1, parameters=parameters)


def date(*, optional: bool = False) -> Schema:
    """Return the schema of a day."""
    return Schema(Type.INT32, optional, DATE, 1)


def time(*, optional: bool = False) -> Schema:
    """Return the schema of a time of day."""
    return Schema(Type.INT32, optional, TIME, 1)


def timestamp(*, optional: bool = False) -> Schema:
    """Return the schema of a moment, to the millisecond."""
    return Schema(Type.INT64, optional, TIMESTAMP, 1)
