"""The types of keys and values, under Spark's names, without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


class TypeTextError(ValueError):
    """A type that cannot be read; the message says where."""


@dataclass(frozen=True)
class Primitive:
    """A type without parts, such as `bigint` or `timestamp`."""

    name: str

    def ddl(self) -> str:
        """Return the type as Spark writes it."""
        return self.name


@dataclass(frozen=True)
class Decimal:
    """A number with a fixed count of digits."""

    precision: int = 10
    scale: int = 0

    def ddl(self) -> str:
        """Return the type as Spark writes it."""
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True)
class Array:
    """Values of one type in order."""

    element: DataType

    def ddl(self) -> str:
        """Return the type as Spark writes it."""
        return f"array<{self.element.ddl()}>"


@dataclass(frozen=True)
class Map:
    """Values by key."""

    key: DataType
    value: DataType

    def ddl(self) -> str:
        """Return the type as Spark writes it."""
        return f"map<{self.key.ddl()},{self.value.ddl()}>"


@dataclass(frozen=True)
class Field:
    """A named part of a struct."""

    name: str
    type: DataType
    nullable: bool = True

    def ddl(self) -> str:
        """Return the field as Spark writes it."""
        required = "" if self.nullable else " not null"
        return f"{quoted(self.name)}:{self.type.ddl()}{required}"


@dataclass(frozen=True)
class Struct:
    """Named fields in order."""

    fields: tuple[Field, ...]

    @classmethod
    def of(cls, **types: DataType) -> Struct:
        """Make a struct from names and types."""
        return cls(tuple(Field(name, type_) for name, type_ in types.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(field.name for field in self.fields)

    def field(self, name: str) -> Field | None:
        """Return the field of this name; as in Spark, capitals do not matter."""
        exact = next((field for field in self.fields if field.name == name), None)
        if exact is not None:
            return exact
        return next((field for field in self.fields if field.name.lower() == name.lower()), None)

    def ddl(self) -> str:
        """Return the type as Spark writes it."""
        return f"struct<{','.join(field.ddl() for field in self.fields)}>"


DataType: TypeAlias = Primitive | Decimal | Array | Map | Struct

VOID = Primitive("void")
BOOLEAN = Primitive("boolean")
TINYINT = Primitive("tinyint")
SMALLINT = Primitive("smallint")
INT = Primitive("int")
BIGINT = Primitive("bigint")
FLOAT = Primitive("float")
DOUBLE = Primitive("double")
STRING = Primitive("string")
BINARY = Primitive("binary")
DATE = Primitive("date")
TIMESTAMP = Primitive("timestamp")
TIMESTAMP_NTZ = Primitive("timestamp_ntz")
TIME = Primitive("time")
INTERVAL = Primitive("interval day to second")
HEADERS = Array(Struct.of(key=STRING, value=BINARY))
WINDOW_FIELDS = (Field("window_start", TIMESTAMP, False), Field("window_end", TIMESTAMP, False))

PRIMITIVES = {
    type_.name: type_
    for type_ in (
        VOID, BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, STRING, BINARY, DATE,
        TIMESTAMP, TIMESTAMP_NTZ, TIME, INTERVAL,
    )
}  # fmt: skip
INTEGERS = (TINYINT, SMALLINT, INT, BIGINT)


def is_numeric(type_: DataType) -> bool:
    """Tell whether one can calculate with values of this type."""
    return isinstance(type_, Decimal) or type_ in (*INTEGERS, FLOAT, DOUBLE)


def as_nullable(type_: DataType) -> DataType:
    """Return the type with every field nullable, which is how types are compared."""
    match type_:
        case Array(element):
            return Array(as_nullable(element))
        case Map(key, value):
            return Map(as_nullable(key), as_nullable(value))
        case Struct(fields):
            return Struct(tuple(Field(field.name, as_nullable(field.type)) for field in fields))
    return type_


def quoted(name: str) -> str:
    """Return a name as Spark SQL reads it in a type, quoted where it is not a plain word."""
    return name if name.isascii() and name.isidentifier() else backticked(name)


def backticked(name: str) -> str:
    """Return a name as Spark SQL reads it anywhere, also where it is one of SQL's own words."""
    return "`" + name.replace("`", "``") + "`"
