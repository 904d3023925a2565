"""The types of sums, products and their like, with ksqlDB's rules for a decimal's digits."""

from __future__ import annotations

from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.sql_type import (
    BIGINT,
    DOUBLE,
    INTEGER,
    STRING,
    Decimal,
    SqlType,
    as_decimal,
    is_number,
)

# A quotient keeps at least so many digits after the point.
_LEAST_SCALE = 6


def arithmetic_type(operator: str, left: SqlType, right: SqlType) -> SqlType:
    """Return the type of `left operator right`."""
    if operator == "+" and left == right == STRING:
        return STRING
    if not is_number(left) or not is_number(right):
        raise TypeMismatchError(f"{left} {operator} {right} cannot be calculated")
    if DOUBLE in (left, right):
        return DOUBLE
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return _decimal(operator, as_decimal(left), as_decimal(right))
    return BIGINT if BIGINT in (left, right) else INTEGER


def wider_number(left: SqlType, right: SqlType) -> SqlType:
    """Return the type that holds the numbers of both."""
    if DOUBLE in (left, right):
        return DOUBLE
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        one, other = as_decimal(left), as_decimal(right)
        scale = max(one.scale, other.scale)
        return Decimal(max(_whole(one), _whole(other)) + scale, scale)
    return BIGINT if BIGINT in (left, right) else INTEGER


def _decimal(operator: str, left: Decimal, right: Decimal) -> Decimal:
    scale = max(left.scale, right.scale)
    match operator:
        case "+" | "-":
            return Decimal(max(_whole(left), _whole(right)) + scale + 1, scale)
        case "*":
            return Decimal(left.precision + right.precision + 1, left.scale + right.scale)
        case "/":
            quotient_scale = max(_LEAST_SCALE, left.scale + right.precision + 1)
            return Decimal(_whole(left) + right.scale + quotient_scale, quotient_scale)
        case "%":
            return Decimal(min(_whole(left), _whole(right)) + scale, scale)
        case _:
            raise TypeMismatchError(f"{operator} is no operator of decimals")


def _whole(type_: Decimal) -> int:
    """Return the digits before the point."""
    return type_.precision - type_.scale
