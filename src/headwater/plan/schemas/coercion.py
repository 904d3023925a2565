"""The type that two values share: Spark's rules for mixing numbers, decimals and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.schemas.types import (
    DATE,
    DOUBLE,
    FLOAT,
    INTEGERS,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    DataType,
    Decimal,
    as_nullable,
    is_numeric,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMES = (DATE, TIMESTAMP, TIMESTAMP_NTZ)


class SignatureError(Exception):
    """Arguments that a function does not take."""


def common_type(types: Sequence[DataType]) -> DataType:
    """Return the one type that values of all these types can have."""
    found: DataType = VOID
    for type_ in types:
        if found == VOID or as_nullable(found) == as_nullable(type_):
            found = type_
        elif type_ != VOID:
            found = _wider(found, type_)
    return found


def _wider(left: DataType, right: DataType) -> DataType:
    if is_numeric(left) and is_numeric(right):
        return numeric_type(left, right)
    if left in TIMES and right in TIMES:
        return TIMESTAMP if TIMESTAMP in (left, right) else TIMESTAMP_NTZ
    raise SignatureError(f"{left.ddl()} and {right.ddl()} have no type in common: cast one of them")


def numeric_type(left: DataType, right: DataType) -> DataType:
    """Return the type that two numbers share."""
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        if DOUBLE in (left, right) or FLOAT in (left, right):
            return DOUBLE
        one, other = as_decimal(left), as_decimal(right)
        scale = max(one.scale, other.scale)
        digits = max(one.precision - one.scale, other.precision - other.scale)
        return Decimal(min(38, digits + scale), scale)
    if left == right == FLOAT:
        return FLOAT
    if DOUBLE in (left, right) or FLOAT in (left, right):
        return DOUBLE
    return max(left, right, key=INTEGERS.index)


def as_decimal(type_: DataType) -> Decimal:
    """Return the decimal that holds every number of a whole type."""
    if isinstance(type_, Decimal):
        return type_
    return Decimal((3, 5, 10, 20)[INTEGERS.index(type_)], 0)


def bounded_decimal(precision: int, scale: int) -> Decimal:
    """Spark's rule when a result needs more than 38 digits: keep at least 6 of the fraction."""
    if precision <= 38:
        return Decimal(precision, scale)
    whole = precision - scale
    return Decimal(38, max(38 - whole, min(scale, 6)))
