"""A table's keys as a store keeps them: in their order, however the topic has them."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.plan.schemas.types import BINARY, DATE, STRING, Array, Primitive, Struct
from headwater.stores import ordered_bytes
from headwater.stores.errors import StoreValueError, UnsupportedKeyError
from headwater.stores.python_types import python_type
from headwater.stores.values import value_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.schemas.types import DataType
    from headwater.serde import SchemaRegistryClient
    from headwater.stores.table import FollowedTable

_KINDS: dict[str, type | tuple[type, ...]] = {
    "boolean": bool,
    "tinyint": int,
    "smallint": int,
    "int": int,
    "bigint": int,
    "float": (int, float),
    "double": (int, float),
    "string": str,
    "binary": bytes,
    "date": dt.date,
    "timestamp": dt.datetime,
    "timestamp_ntz": dt.datetime,
}


class KeyCodec:
    """Turns keys into bytes that sort as the keys do, and back."""

    def __init__(self, table: FollowedTable, registry: SchemaRegistryClient | None) -> None:
        check_key_type(table.key.type)
        self._type = table.key.type
        self._read = value_reader(table.key, table.topic, "key", registry)
        self._is_text = table.key.format.kind == "string"

    def of_record(self, data: bytes) -> bytes:
        """Return the bytes to keep for those of a record; raises StoreValueError."""
        return ordered_bytes.encode_text(data) if self._is_text else self.of(self._read(data))

    def of(self, key: Any) -> bytes:
        """Return the bytes to keep for a key; raises StoreValueError."""
        if isinstance(self._type, Struct):
            return b"".join(_parts(key, self._type, self._type.names))
        return _encoded(key, self._type, "the key")

    def beginning_with(self, key: Any) -> tuple[bytes, bytes]:
        """Return where keys begin, and where they end, that begin with a text or these fields.

        Raises StoreValueError.
        """
        if isinstance(self._type, Struct):
            given = tuple(key) if isinstance(key, dict) else ()
            if given != self._type.names[: len(given)] or not given:
                names = ", ".join(self._type.names)
                raise StoreValueError(
                    f"keys have the fields {names}: give the first ones of them, in this order"
                )
            first = b"".join(_parts(key, self._type, given))
            return first, ordered_bytes.after_values(first)
        if self._type not in (STRING, BINARY):
            raise StoreValueError(f"keys of type {self._type.ddl()} have no prefix: use range")
        first = _encoded(key, self._type, "the key")[:-1]
        return first, ordered_bytes.after_text(first)

    def key(self, kept: bytes) -> Any:
        """Return the key of what was kept."""
        if isinstance(self._type, Struct):
            return _read_fields(kept, 0, self._type)[0]
        return _read_back(kept, 0, self._type)[0]

    def parsed(self, text: str) -> Any:
        """Return the key that a text means, as an address has it; raises StoreValueError."""
        return parsed(text, self._type)


def parsed(text: str, type_: DataType) -> Any:
    """Return the key of a type that a text means: itself, or JSON; raises StoreValueError."""
    if type_ == STRING:
        return text
    try:
        return _of_json(text, python_type(type_))
    except (msgspec.DecodeError, msgspec.ValidationError) as failure:
        raise StoreValueError(
            f"{text!r} is no key of this store, which are {type_.ddl()}: {failure}"
        ) from None


def check_key_type(type_: DataType, where: str = "the key") -> None:
    """Raise UnsupportedKeyError for keys that have no order."""
    match type_:
        case Struct(fields):
            for field in fields:
                check_key_type(field.type, f"'{field.name}' of the key")
            return
        case Array(element):
            check_key_type(element, where)
            return
        case Primitive(name) if name in _KINDS:
            return
    raise UnsupportedKeyError(
        f"{where} is of type {type_.ddl()}, by which nothing can be looked up: cast it to a string"
    )


def _of_json(text: str, type_: Any) -> Any:
    try:
        return msgspec.json.decode(text, type=type_, strict=False)
    except msgspec.DecodeError:
        # A time, which nobody puts into quotes in an address.
        return msgspec.convert(text, type=type_, strict=False)


def _parts(key: Any, type_: Struct, names: tuple[str, ...]) -> list[bytes]:
    if not isinstance(key, dict) or not set(key) <= set(type_.names):
        fields = ", ".join(type_.names)
        raise StoreValueError(f"a key is a dict with the fields {fields}, and not {key!r}")
    types = {field.name: field.type for field in type_.fields}
    return [_encoded(key.get(name), types[name], f"{name!r} of the key") for name in names]


def _encoded(value: Any, type_: DataType, what: str) -> bytes:
    if value is None:
        return ordered_bytes.NULL
    match type_:
        case Struct():
            inner = b"".join(_parts(value, type_, type_.names))
            return ordered_bytes.encode([])[:-1] + inner + b"\x00"
        case Array(element) if isinstance(value, list | tuple):
            inner = b"".join(_encoded(each, element, what) for each in value)
            return ordered_bytes.encode([])[:-1] + inner + b"\x00"
        case Primitive(name) if isinstance(value, _KINDS[name]):
            number: Any = value
            try:
                is_number = name in ("float", "double")
                return ordered_bytes.encode(float(number) if is_number else value)
            except (ValueError, OverflowError) as failure:
                raise StoreValueError(f"{what}: {failure}") from None
    raise StoreValueError(f"{what} is {type_.ddl()}, and {value!r} is none")


def _read_fields(data: bytes, at: int, type_: Struct) -> tuple[dict[str, Any], int]:
    found = {}
    for field in type_.fields:
        found[field.name], at = _read_back(data, at, field.type)
    return found, at


def _read_back(data: bytes, at: int, type_: DataType) -> tuple[Any, int]:
    if data[at : at + 1] == ordered_bytes.NULL:
        return None, at + 1
    match type_:
        case Struct():
            fields, at = _read_fields(data, at + 1, type_)
            return fields, at + 1
        case Array(element):
            parts, at = [], at + 1
            while data[at]:
                part, at = _read_back(data, at, element)
                parts.append(part)
            return parts, at + 1
    value, at = ordered_bytes.decode(data, at)
    return _convert(type_)(value), at


def _convert(type_: DataType) -> Callable[[Any], Any]:
    if type_ == DATE:
        return ordered_bytes.date_of
    is_time = getattr(type_, "name", "").startswith("timestamp")
    return ordered_bytes.datetime_of if is_time else _as_it_is


def _as_it_is(value: Any) -> Any:
    return value
