"""Values of columns in JSON as ksqlDB has them: names in any capitals, times as numbers."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
from typing import Any

from headwater.sql.server.rows.casting import EPOCH, EXACT, at, caster, milliseconds_of, quantized
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)

_DAY_MS = 86_400_000


def from_json(value: Any, type_: SqlType) -> Any:
    """Return what JSON has as a value of a type; raises ValueError and TypeError."""
    if value is None:
        return None
    match type_:
        case Array(element):
            return [from_json(item, element) for item in _of(value, list)]
        case Map(key, item):
            to_key = caster(STRING, key)
            return {to_key(name): from_json(part, item) for name, part in _of(value, dict).items()}
        case Struct():
            return fields_from_json(_of(value, dict), type_)
        case Decimal():
            return quantized(_decimal(value), type_)
    if type_ in (INTEGER, BIGINT):
        return int(value)
    if type_ == DOUBLE:
        return float(value)
    if type_ == STRING:
        return value if isinstance(value, str) else _text(value)
    if type_ == BOOLEAN:
        return _of(value, bool) if not isinstance(value, str) else caster(STRING, BOOLEAN)(value)
    if type_ == BYTES:
        return value if isinstance(value, bytes) else base64.b64decode(value)
    return _time(value, type_)


def fields_from_json(value: dict[str, Any], struct: Struct) -> dict[str, Any]:
    """Return the fields of an object; names are found as they are, or else in other capitals."""
    others = None
    found: dict[str, Any] = {}
    for name, type_ in struct.fields:
        given = value.get(name)
        if given is None and name not in value:
            if others is None:
                others = {each.upper(): part for each, part in value.items()}
            given = others.get(name.upper())
        found[name] = from_json(given, type_)
    return found


def to_json(value: Any, type_: SqlType) -> Any:
    """Return a value as JSON has it."""
    match value, type_:
        case None, _:
            return None
        case bytes(), _:
            return base64.b64encode(value).decode()
        case dt.datetime(), _:
            return milliseconds_of(value)
        case dt.date(), _:
            return (value - EPOCH.date()).days
        case dt.time(), _:
            moment = dt.datetime.combine(EPOCH.date(), value, dt.UTC)
            return milliseconds_of(moment)
        case list(), Array(element):
            return [to_json(item, element) for item in value]
        case dict(), Map(_, item):
            return {str(name): to_json(part, item) for name, part in value.items()}
        case dict(), Struct(fields):
            return {name: to_json(value.get(name), part) for name, part in fields}
        case _:
            return value


def _time(value: Any, type_: SqlType) -> Any:
    if isinstance(value, str):
        return caster(STRING, type_)(value)
    if isinstance(value, dt.date | dt.time):  # out of Avro
        return value
    if isinstance(value, dict):  # out of Protobuf
        return _of_message(value, type_)
    number = int(value)
    if type_ == DATE:
        return EPOCH.date() + dt.timedelta(days=number)
    if type_ == TIME:
        return at(number % _DAY_MS).time()
    assert type_ == TIMESTAMP
    return at(number)


def _of_message(value: dict[str, Any], type_: SqlType) -> Any:
    if type_ == DATE:
        return dt.date(*(value.get(part, 0) for part in ("year", "month", "day")))
    if type_ == TIME:
        hour, minute, second = (value.get(part, 0) for part in ("hours", "minutes", "seconds"))
        return dt.time(hour, minute, second, value.get("nanos", 0) // 1_000_000 * 1000)
    raise TypeError(f"{value!r} is no {type_}")


def _decimal(value: Any) -> decimal.Decimal:
    if isinstance(value, dict):  # out of Protobuf
        unscaled = int.from_bytes(base64.b64decode(value.get("value", "")), "big", signed=True)
        return decimal.Decimal(unscaled).scaleb(-value.get("scale", 0), EXACT)
    return decimal.Decimal(str(value))


def _of(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
