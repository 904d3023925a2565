"""A table's types as Python's, for msgspec: structs are dicts."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import TYPE_CHECKING, Any, TypedDict

from headwater.plan.schemas.types import Array, Decimal, Map, Struct

if TYPE_CHECKING:
    from headwater.plan.schemas.types import DataType

_PRIMITIVES: dict[str, Any] = {
    "boolean": bool,
    "tinyint": int,
    "smallint": int,
    "int": int,
    "bigint": int,
    "float": float,
    "double": float,
    "string": str,
    "binary": bytes,
    "date": dt.date,
    "timestamp": dt.datetime,
    "timestamp_ntz": dt.datetime,
}


def python_type(type_: DataType) -> Any:
    """Return what values of a type are in Python; anything may be null."""
    match type_:
        case Struct(fields):
            named = {field.name: python_type(field.type) for field in fields}
            return TypedDict("Row", named, total=False) | None  # type: ignore[operator]
        case Array(element):
            return list[python_type(element)] | None  # type: ignore[misc]
        case Map(key, value):
            of = (_without_null(key), python_type(value))
            return dict.__class_getitem__(of) | None
        case Decimal():
            return decimal.Decimal | None
    found = _PRIMITIVES.get(type_.name)
    return Any if found is None else found | None


def _without_null(key: DataType) -> Any:
    # What is a key of an object in JSON is a text; msgspec makes numbers of it where asked to.
    return _PRIMITIVES.get(getattr(key, "name", ""), str)
