"""Spark's types, as its schemas have them in JSON, in Python and in SQLite."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any, TypedDict

from msgspec import json

_SCALARS: dict[str, Any] = {
    "string": str,
    "binary": bytes,
    "boolean": bool,
    "byte": int,
    "short": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
    "date": dt.date,
    "timestamp": dt.datetime,
    "timestamp_ntz": dt.datetime,
}
# Only what SQLite compares as Spark does can be looked up by range.
_KEYS = {
    "string": "TEXT",
    "binary": "BLOB",
    "boolean": "INTEGER",
    "byte": "INTEGER",
    "short": "INTEGER",
    "integer": "INTEGER",
    "long": "INTEGER",
    "float": "REAL",
    "double": "REAL",
    "date": "INTEGER",
    "timestamp": "INTEGER",
}


class UnsupportedKey(Exception):  # noqa: N818 - says what the key is, not that an error occurred
    """A key of this type cannot be looked up; the message says which part of it."""


def value_type(schema: str) -> Any:
    """Return the Python type of what a schema in Spark's JSON describes, structs as dicts."""
    return _python_type(json.decode(schema))


def key_columns(schema: str) -> tuple[tuple[str, ...], ...]:
    """Return the path of every leaf of a key, e.g. (('window', 'start'), ('window', 'end')).

    A key that is no struct has one leaf, with an empty path.
    """
    return tuple(path for path, _ in _leaves(json.decode(schema), ()))


def key_affinities(schema: str) -> tuple[str, ...]:
    """Return SQLite's type of every leaf of a key."""
    return tuple(affinity for _, affinity in _leaves(json.decode(schema), ()))


def key_part(value: object) -> object:
    """Return a leaf of a key as SQLite keeps it: times as microseconds, dates as days."""
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        return (moment - _EPOCH) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return value.toordinal() - _EPOCH.toordinal()
    return value


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def _python_type(schema: Any) -> Any:
    if isinstance(schema, str):
        if schema.startswith("decimal"):
            return decimal.Decimal | None
        return _SCALARS[schema] | None if schema in _SCALARS else Any
    match schema["type"]:
        case "struct":
            fields = {field["name"]: _python_type(field["type"]) for field in schema["fields"]}
            return TypedDict("Row", fields, total=False) | None  # type: ignore[operator]
        case "array":
            return list[_python_type(schema["elementType"])] | None  # type: ignore[misc]
        case "map":
            of = (_python_type(schema["keyType"]), _python_type(schema["valueType"]))
            return dict.__class_getitem__(of) | None
        case _:
            return Any


def _leaves(schema: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
    if isinstance(schema, dict) and schema["type"] == "struct":
        return [
            leaf
            for field in schema["fields"]
            for leaf in _leaves(field["type"], (*path, field["name"]))
        ]
    if not isinstance(schema, str) or schema not in _KEYS:
        name = schema if isinstance(schema, str) else schema["type"]
        where = f"'{'.'.join(path)}' of the key" if path else "the key"
        raise UnsupportedKey(
            f"{where} is of type {name}, by which nothing can be looked up. "
            f"Use one of {', '.join(sorted(_KEYS))}, or cast it to a string."
        )
    return [(path, _KEYS[schema])]
