"""Rows as clients see them, in ksqlDB's JSON."""

from __future__ import annotations

import base64
import datetime as dt
import math
from typing import Any

import msgspec

from headwater.sql.server.rows.casting import text_of
from headwater.sql.types.sql_type import BYTES, Array, Map, SqlType, Struct

_ENCODER = msgspec.json.Encoder(decimal_format="number")


def encoded(value: Any) -> bytes:
    """Return a value as compact JSON, decimals as numbers."""
    return _ENCODER.encode(value)


def shown(value: Any, type_: SqlType) -> Any:
    """Return a value as JSON has it: times as texts, bytes in base64."""
    match value, type_:
        case None, _:
            return None
        case bytes(), _:
            return base64.b64encode(value).decode()
        case float(), _ if not math.isfinite(value):
            return text_of(value, type_)
        case ((dt.datetime() | dt.date() | dt.time()), _):
            return text_of(value, type_)
        case list(), Array(element):
            return [shown(item, element) for item in value]
        case dict(), Map(_, item):
            return {str(name): shown(part, item) for name, part in value.items()}
        case dict(), Struct(fields):
            return {name: shown(value.get(name), part) for name, part in fields}
        case str(), _ if type_ == BYTES:
            return value
        case _:
            return value
