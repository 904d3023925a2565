"""Which types can be compared, and with which operators."""

from __future__ import annotations

from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.sql_type import (
    BOOLEAN,
    DATE,
    NULL,
    STRING,
    TIMES,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
    is_number,
)

_EQUALITY = ("=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")


def check_comparable(operator: str, left: SqlType, right: SqlType) -> None:
    """Refuse a comparison that has no meaning."""
    if NULL in (left, right) and not operator.startswith("IS"):
        raise TypeMismatchError("nothing is equal to NULL: write IS NULL or IS NOT NULL")
    if not _go_together(left, right):
        raise TypeMismatchError(f"{left} and {right} cannot be compared: cast one of them")
    if operator not in _EQUALITY and not (_has_order(left) and _has_order(right)):
        raise TypeMismatchError(f"a {left} has no order: it can be compared with = and <> alone")


def _go_together(left: SqlType, right: SqlType) -> bool:
    if left == right or NULL in (left, right):
        return True
    if is_number(left) and is_number(right):
        return True
    pair = (left, right)
    # A text that is compared with a time is read as one.
    if STRING in pair and any(type_ in TIMES for type_ in pair):
        return True
    return DATE in pair and TIMESTAMP in pair


def _has_order(type_: SqlType) -> bool:
    return type_ != BOOLEAN and not isinstance(type_, Array | Map | Struct)
