"""Records as the files of ksqlDB's test runner have them, as keys and values of their source."""

from __future__ import annotations

import base64
import datetime
from typing import TYPE_CHECKING, Any

from headwater.sql.metastore.source import WindowKind
from headwater.sql.types.sql_type import BYTES, Array, Map, SqlType, Struct

if TYPE_CHECKING:
    from headwater.sql.metastore.source import DataSource

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def record_time(record: dict[str, Any]) -> datetime.datetime:
    """Return a record's timestamp, which is nought where the file has none."""
    return at(record.get("timestamp", 0))


def at(milliseconds: int) -> datetime.datetime:
    """Return the time that is so many milliseconds after 1970."""
    return _EPOCH + datetime.timedelta(milliseconds=milliseconds)


def record_headers(record: dict[str, Any]) -> dict[str, bytes | None]:
    """Return a record's headers."""
    given = ((header["KEY"], header.get("VALUE")) for header in record.get("headers") or ())
    return {name: None if text is None else base64.b64decode(text) for name, text in given}


def record_key(record: dict[str, Any], source: DataSource) -> Any:
    """Return a record's key, with its window if the source has windows."""
    value = record.get("key")
    if value is None or not source.key:
        return None
    if len(source.key) == 1:
        key = _named(only_column(value, source), source.key[0].type)
        if source.key_format.name == "KAFKA" and source.key[0].type == BYTES:
            key = base64.b64decode(key)
    else:
        key = _named(value, Struct(tuple((column.name, column.type) for column in source.key)))
    if source.window is None:
        return key
    window = record["window"]
    bounds = {"window_start": window["start"]}
    if source.window.kind is WindowKind.SESSION:
        bounds["window_end"] = window["end"]
    return {"key": key, **bounds}


def only_column(key: Any, source: DataSource) -> Any:
    """Return a key of one column without the message around it, which it has in Protobuf."""
    columns = source.key
    if len(columns) == 1 and isinstance(key, dict) and not isinstance(columns[0].type, Struct):
        return next(iter(key.values()), None)
    return key


def record_value(value: Any, source: DataSource) -> Any:
    """Return a record's value with the names of the source's columns."""
    if source.value_format.name == "KAFKA" and value is not None and source.value[0].type == BYTES:
        return base64.b64decode(value)
    if value is None or not isinstance(value, dict) or source.wrap_single_value is False:
        return value
    return _named(value, Struct(tuple((column.name, column.type) for column in source.value)))


def _named(value: Any, type_: SqlType) -> Any:
    """Return a value with the names of the source's columns, which ksqlDB reads in any capitals."""
    match type_:
        case Struct(fields) if isinstance(value, dict):
            found = {}
            for name, part in fields:
                keys = [key for key in value if key == name] or [
                    key for key in value if key.upper() == name.upper()
                ]
                if keys:
                    found[name] = _named(value[keys[0]], part)
            return found
        case Array(element) if isinstance(value, list):
            return [_named(part, element) for part in value]
        case Map(_, item) if isinstance(value, dict):
            return {name: _named(part, item) for name, part in value.items()}
        case _:
            return value
