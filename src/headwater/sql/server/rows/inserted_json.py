"""The values of /inserts-stream as their columns have them; what does not fit is refused.

JSON's numbers, texts and booleans are what they are, as in ksqlDB: a text is no number, and a
number with a fraction is no INTEGER. Decimals are the exception: they may be texts, and they are
rounded.
"""

from __future__ import annotations

from typing import Any

from headwater.sql.errors import SqlError
from headwater.sql.server.rows.casting import caster
from headwater.sql.server.rows.json_values import from_json
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DOUBLE,
    INTEGER,
    STRING,
    TIMES,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
    kind,
)

_WIDTHS: dict[SqlType, int] = {INTEGER: 2**31, BIGINT: 2**63}
_KINDS: dict[type, str] = {
    bool: "BOOLEAN", float: "DOUBLE", str: "STRING", list: "ARRAY", dict: "STRUCT",
}  # fmt: skip


def inserted_json(name: str, value: Any, type_: SqlType) -> Any:
    """Return the value of a column; raises SqlError."""
    if not _fits(value, type_):
        raise SqlError(f"Can't coerce a field of type {_kind(value)} into type {type_}: `{name}`")
    return from_json(value, type_)


def _fits(value: Any, type_: SqlType) -> bool:
    if value is None:
        return True
    match type_:
        case Array(element):
            return isinstance(value, list) and all(_fits(item, element) for item in value)
        case Map(_, item_type):
            return isinstance(value, dict) and all(
                _fits(item, item_type) for item in value.values()
            )
        case Struct(fields):
            types = {name.upper(): part for name, part in fields}
            return isinstance(value, dict) and all(
                _fits(part, types[name.upper()])
                for name, part in value.items()
                if name.upper() in types
            )
        case _ if type_ in _WIDTHS:
            return _is_whole(value) and -_WIDTHS[type_] <= value < _WIDTHS[type_]
        case _ if type_ == DOUBLE:
            return _is_whole(value) or isinstance(value, float)
        case _ if type_ == BOOLEAN:
            return isinstance(value, bool)
        case _ if type_ == STRING:
            return isinstance(value, str)
        case Decimal():
            allowed = _is_whole(value) or isinstance(value, float | str)
        case _:
            # A time as a number is Headwater's own: milliseconds, or days.
            allowed = isinstance(value, str) or (type_ in TIMES and _is_whole(value))
    return allowed and _is_read(value, type_)


def _is_read(value: Any, type_: SqlType) -> bool:
    if type_ == BYTES:
        return caster(STRING, BYTES)(value) is not None
    try:
        return from_json(value, type_) is not None
    except (ValueError, TypeError, ArithmeticError):
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    if _is_whole(value):
        return kind(INTEGER if -_WIDTHS[INTEGER] <= value < _WIDTHS[INTEGER] else BIGINT)
    return _KINDS[type(value)]
