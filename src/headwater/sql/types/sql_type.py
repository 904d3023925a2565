"""The types of columns and expressions, written as ksqlDB writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Primitive:
    """A type without parts."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Decimal:
    """A number with `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True)
class Array:
    """Values of one type in order."""

    element: SqlType

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True)
class Map:
    """Values by key."""

    key: SqlType
    value: SqlType

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True)
class Struct:
    """Named fields in order."""

    fields: tuple[tuple[str, SqlType], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(name for name, _ in self.fields)

    def field(self, name: str) -> SqlType | None:
        """Return the type of a field, or None if there is no such field; capitals matter."""
        return next((type_ for known, type_ in self.fields if known == name), None)

    def __str__(self) -> str:
        inner = ", ".join(f"`{name.replace('`', '``')}` {type_}" for name, type_ in self.fields)
        return f"STRUCT<{inner}>"


SqlType: TypeAlias = Primitive | Decimal | Array | Map | Struct

# The type of NULL itself, which fits everywhere.
NULL = Primitive("NULL")
BOOLEAN = Primitive("BOOLEAN")
INTEGER = Primitive("INTEGER")
BIGINT = Primitive("BIGINT")
DOUBLE = Primitive("DOUBLE")
STRING = Primitive("STRING")
BYTES = Primitive("BYTES")
TIME = Primitive("TIME")
DATE = Primitive("DATE")
TIMESTAMP = Primitive("TIMESTAMP")

TIMES = (TIME, DATE, TIMESTAMP)
HEADERS = Array(Struct((("KEY", STRING), ("VALUE", BYTES))))


def is_number(type_: SqlType) -> bool:
    """Tell whether one can calculate with values of this type."""
    return isinstance(type_, Decimal) or type_ in (INTEGER, BIGINT, DOUBLE)


def as_decimal(type_: SqlType) -> Decimal:
    """Return the decimal that holds every number of a decimal or whole type."""
    if isinstance(type_, Decimal):
        return type_
    return Decimal(10 if type_ == INTEGER else 19, 0)


def kind(type_: SqlType) -> str:
    """Return a type's first word, such as DECIMAL or ARRAY."""
    return type_.name if isinstance(type_, Primitive) else type(type_).__name__.upper()
