"""What a .proto file says, as plain values: messages, fields, enums, services and their options.

Names of types stay as they were written; `scopes` resolves them. The order of statements is kept
where it matters to a reader of the schema, and comments are not kept at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

MAX_FIELD_NUMBER = 536_870_911
MAX_ENUM_NUMBER = 2_147_483_647


@dataclass(frozen=True, slots=True)
class Word:
    """An option's value that is not quoted: a number, a boolean or the name of an enum value."""

    text: str


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An option's value in braces; a key that came several times holds all its values."""

    entries: dict[str, OptionValue]


OptionValue: TypeAlias = "str | Word | Aggregate | tuple[OptionValue, ...]"


@dataclass(frozen=True, slots=True)
class Option:
    """`name = value`; an extension's name stood in parentheses, a path may follow either."""

    name: str
    value: OptionValue
    is_extension: bool = False
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """A field; `type` is a scalar, a type's name, or `map<key, value>`."""

    type: str
    name: str
    number: int
    label: str | None = None  # "optional", "required", "repeated", or nothing was written
    default: OptionValue | None = None
    json_name: str | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A group of proto2: a field and the message that is its type, in one statement."""

    number: int
    message: Message
    label: str | None = None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class OneOf:
    """Fields of which at most one is set."""

    name: str
    fields: tuple[Field, ...] = ()
    groups: tuple[Group, ...] = ()
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from start to end, both included."""

    start: int
    end: int
    is_single: bool = False  # written as one number


@dataclass(frozen=True, slots=True)
class Reserved:
    """One `reserved` statement: numbers or names."""

    values: tuple[Range | str, ...]


@dataclass(frozen=True, slots=True)
class Extensions:
    """One `extensions` statement: the numbers that others may use."""

    ranges: tuple[Range, ...]
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Extend:
    """Fields that are added to a message declared elsewhere."""

    extendee: str
    fields: tuple[Field, ...] = ()
    groups: tuple[Group, ...] = ()


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A name with its number."""

    name: str
    number: int
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum."""

    name: str
    values: tuple[EnumValue, ...] = ()
    options: tuple[Option, ...] = ()
    reserved: tuple[Reserved, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A message and everything that is declared inside it."""

    name: str
    fields: tuple[Field, ...] = ()
    one_ofs: tuple[OneOf, ...] = ()
    groups: tuple[Group, ...] = ()
    types: tuple[Message | Enum, ...] = ()
    extends: tuple[Extend, ...] = ()
    options: tuple[Option, ...] = ()
    reserved: tuple[Reserved, ...] = ()
    extensions: tuple[Extensions, ...] = ()

    @property
    def is_map_entry(self) -> bool:
        """Whether a descriptor made this message up to stand for a map's entry."""
        return any(
            option.name == "map_entry" and option.value == Word("true") for option in self.options
        )


@dataclass(frozen=True, slots=True)
class Method:
    """An rpc of a service."""

    name: str
    request: str
    response: str
    streams_request: bool = False
    streams_response: bool = False
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """A service."""

    name: str
    methods: tuple[Method, ...] = ()
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtoFile:
    """One .proto file."""

    syntax: str | None = None  # "proto2", "proto3", or nothing was written
    edition: str | None = None
    package: str | None = None
    imports: tuple[str, ...] = ()
    public_imports: tuple[str, ...] = ()
    weak_imports: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    types: tuple[Message | Enum, ...] = ()
    extends: tuple[Extend, ...] = ()
    services: tuple[Service, ...] = field(default=())

    @property
    def all_imports(self) -> tuple[str, ...]:
        """Every file that this one needs, whichever way it imports it."""
        return self.imports + self.public_imports + self.weak_imports
