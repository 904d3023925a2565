"""The formats of keys and values: which columns each can hold, and which properties it takes."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.sql_type import STRING, Array, Map, SqlType, Struct, kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.sql.metastore.source import SourceColumn


@dataclass(frozen=True)
class SerdeFormat:
    """A way to write columns into bytes.

    `refused` are the kinds of types that it has no bytes for, `wraps` the values that
    WRAP_SINGLE_VALUE may have, `takes` the properties that are its own.
    """

    name: str
    refused: frozenset[str] = frozenset()
    has_single_field: bool = False
    has_string_map_keys: bool = False
    has_avro_names: bool = False
    is_in_registry: bool = False
    wraps: frozenset[bool] = frozenset((True, False))
    takes: frozenset[str] = frozenset()

    def check(self, columns: Sequence[SourceColumn]) -> None:
        """Refuse columns that the format cannot hold."""
        if self.has_single_field and len(columns) > 1:
            names = ", ".join(column.name for column in columns)
            raise TypeMismatchError(f"the {self.name} format has a single column, not {names}")
        for column in columns:
            for type_ in types_within(column.type):
                self._check_type(column, type_)
            if self.has_avro_names:
                _check_avro_name(column.name)

    def _check_type(self, column: SourceColumn, type_: SqlType) -> None:
        if kind(type_) in self.refused:
            raise TypeMismatchError(
                f"the {self.name} format has no {kind(type_)}, which column {column.name} is"
            )
        if self.has_string_map_keys and isinstance(type_, Map) and type_.key != STRING:
            raise TypeMismatchError(
                f"the {self.name} format has maps with STRING keys alone, and those of column "
                f"{column.name} are {type_.key}"
            )
        if self.has_avro_names and isinstance(type_, Struct):
            for name in type_.names:
                _check_avro_name(name)


_NESTED = frozenset(("ARRAY", "MAP", "STRUCT"))
_FULL_NAME = frozenset(("FULL_SCHEMA_NAME",))
_NULLABLE = frozenset(("NULLABLE_REPRESENTATION",))
_ONLY_BARE = frozenset((False,))

FORMATS: dict[str, SerdeFormat] = {
    format_.name: format_
    for format_ in (
        SerdeFormat(
            "AVRO",
            has_string_map_keys=True,
            has_avro_names=True,
            is_in_registry=True,
            takes=_FULL_NAME,
        ),
        SerdeFormat("JSON", has_string_map_keys=True),
        SerdeFormat("JSON_SR", has_string_map_keys=True, is_in_registry=True, takes=_FULL_NAME),
        SerdeFormat("PROTOBUF", is_in_registry=True, takes=_FULL_NAME | _NULLABLE),
        SerdeFormat("PROTOBUF_NOSR", takes=_NULLABLE),
        SerdeFormat("DELIMITED", _NESTED, wraps=_ONLY_BARE, takes=frozenset(("DELIMITER",))),
        SerdeFormat(
            "KAFKA",
            _NESTED | {"BOOLEAN", "DECIMAL", "TIME", "DATE", "TIMESTAMP"},
            has_single_field=True,
            wraps=_ONLY_BARE,
        ),
        SerdeFormat("NONE", wraps=frozenset()),
    )
}


@dataclass(frozen=True)
class ChosenFormat:
    """The format of a topic's keys or values, with its properties."""

    format: SerdeFormat
    properties: tuple[tuple[str, str], ...] = ()
    schema_id: int | None = None

    @property
    def name(self) -> str:
        """The format's name."""
        return self.format.name

    @property
    def message(self) -> str | None:
        """The name of Protobuf's message, where one is given: others name their only schema."""
        return dict(self.properties).get("FULL_SCHEMA_NAME") if self.name == "PROTOBUF" else None


def find_format(name: str) -> SerdeFormat:
    """Return the format of this name; capitals do not matter."""
    found = FORMATS.get(name.upper())
    if found is None:
        close = difflib.get_close_matches(name.upper(), FORMATS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(FORMATS)}"
        raise TypeMismatchError(f"there is no format {name}; {hint}")
    return found


def check_key_types(columns: Sequence[SourceColumn]) -> None:
    """Refuse maps in keys: the same entries could be written in different orders."""
    for column in columns:
        if any(isinstance(type_, Map) for type_ in types_within(column.type)):
            raise TypeMismatchError(
                f"key column {column.name} is {column.type}: a key can have no MAP in it, since "
                "the order of its entries, and with it the bytes of the key, is not fixed"
            )


def types_within(type_: SqlType) -> Iterator[SqlType]:
    """Return a type and those that it is made of."""
    yield type_
    match type_:
        case Array(element):
            yield from types_within(element)
        case Map(key, value):
            yield from types_within(key)
            yield from types_within(value)
        case Struct(fields):
            for _, part in fields:
                yield from types_within(part)
        case _:
            pass


def _check_avro_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise TypeMismatchError(
            f"{name} is no name for Avro: letters, digits and _ alone, and no digit first"
        )
