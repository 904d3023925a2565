"""Python constants as Spark SQL literals, and their types."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import TYPE_CHECKING, Any

from headwater.plan.errors import ExpressionError
from headwater.plan.schemas.coercion import SignatureError, common_type
from headwater.plan.schemas.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Array,
    DataType,
    Decimal,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_INT_LIMIT = 1 << 31
_BIGINT_LIMIT = 1 << 63


def literal_type(value: Any) -> DataType:
    """Return the type that Spark gives to the literal."""
    match value:
        case None:
            return VOID
        case bool():
            return BOOLEAN
        case int():
            return _integer_type(value)
        case float():
            return DOUBLE
        case str():
            return STRING
        case bytes():
            return BINARY
        case decimal.Decimal():
            return _decimal_type(value)
        case datetime.datetime():
            return TIMESTAMP if value.tzinfo is not None else TIMESTAMP_NTZ
        case datetime.date():
            return DATE
        case datetime.timedelta():
            return INTERVAL
        case list() | tuple() if value:
            return Array(_element_type(value))
    raise ExpressionError(f"{value!r} ({type(value).__name__}) cannot stand in an expression")


def literal_sql(value: Any) -> str:
    """Return the literal as Spark SQL reads it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case int():
            return _integer_sql(value)
        case float():
            return f"{value!r}D" if math.isfinite(value) else f"double('{value}')"
        case str():
            return _string_sql(value)
        case bytes():
            return f"X'{value.hex()}'"
        case decimal.Decimal():
            return f"{value:f}BD"
        case datetime.datetime():
            kind = "TIMESTAMP" if value.tzinfo is not None else "TIMESTAMP_NTZ"
            return f"{kind} '{value.isoformat(sep=' ')}'"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
        case datetime.timedelta():
            microseconds = value // datetime.timedelta(microseconds=1)
            return f"make_dt_interval(0, 0, 0, {decimal.Decimal(microseconds).scaleb(-6):f}BD)"
        case list() | tuple() if value:
            return f"array({', '.join(literal_sql(part) for part in value)})"
    raise ExpressionError(f"{value!r} ({type(value).__name__}) cannot stand in an expression")


def _element_type(values: Sequence[Any]) -> DataType:
    try:
        return common_type([literal_type(value) for value in values])
    except SignatureError as error:
        raise ExpressionError(f"{values!r}: {error}") from error


def _integer_type(value: int) -> DataType:
    if -_INT_LIMIT <= value < _INT_LIMIT:
        return INT
    if -_BIGINT_LIMIT <= value < _BIGINT_LIMIT:
        return BIGINT
    raise ExpressionError(f"{value} does not fit into 64 bits: write it as a decimal.Decimal")


def _integer_sql(value: int) -> str:
    if _integer_type(value) == INT:
        return str(value)
    # The smallest bigint has no positive counterpart that a minus could stand before.
    return f"{value}L" if value != -_BIGINT_LIMIT else f"(-{_BIGINT_LIMIT - 1}L - 1)"


def _decimal_type(value: decimal.Decimal) -> DataType:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ExpressionError(f"{value} is no number that a decimal can hold")
    scale = max(0, -exponent)
    return Decimal(max(len(digits) + max(0, exponent), scale, 1), scale)


def _string_sql(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    # Spark would put the value of a variable there, in a text as well.
    escaped = escaped.replace("${", "\\u0024{")
    return f"'{escaped}'"
