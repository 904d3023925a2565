"""Numbers, with Java's ways at NaN, infinity and zero."""

from __future__ import annotations

import decimal
import math
import random
from typing import TYPE_CHECKING, Any

from headwater.sql.server.rows.casting import quantized, wrapped
from headwater.sql.server.rows.equality import ordered
from headwater.sql.server.rows.functions.row_call import (
    CallMaker,
    RowCall,
    lenient,
    strict,
    typed,
    within_limit,
)
from headwater.sql.types.sql_type import BIGINT, DOUBLE, INTEGER, Decimal

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.sql.types.sql_type import SqlType

_PLACES = decimal.Context(prec=400)


def _absolute(call: RowCall) -> CallMaker:
    result = call.result
    if result in (INTEGER, BIGINT):
        return strict(lambda value: wrapped(abs(value), result))
    return strict(abs)


def _of_double(function: Callable[[float], float]) -> CallMaker:
    """Return a function of a double; where Python refuses a value Java has NaN."""

    def compute(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return strict(compute)


def _whole(rounding: str, of_double: Callable[[float], int]) -> CallMaker:
    """Return CEIL or FLOOR, which keep the type of their argument."""

    def choose(call: RowCall) -> CallMaker:
        result = call.result
        if isinstance(result, Decimal):
            return strict(lambda value: quantized(value.to_integral_value(rounding), result))
        if result == DOUBLE:
            return strict(lambda value: float(of_double(value)) if math.isfinite(value) else value)
        return strict(lambda value: value)

    return typed(choose)


def _rounded(value: decimal.Decimal, places: int) -> decimal.Decimal:
    """Return the nearest number; of two that are as near the greater."""
    rounding = decimal.ROUND_HALF_UP if value > 0 else decimal.ROUND_HALF_DOWN
    return _at_places(value, places, rounding)


def _cut(value: decimal.Decimal, places: int) -> decimal.Decimal:
    return _at_places(value, places, decimal.ROUND_DOWN)


def _at_places(value: decimal.Decimal, places: int, rounding: str) -> decimal.Decimal:
    if abs(places) > 350:
        return value if places > 0 else decimal.Decimal(0)
    return value.quantize(decimal.Decimal(1).scaleb(-places), rounding, _PLACES)


def _to_places(cut: Callable[[decimal.Decimal, int], decimal.Decimal]) -> Callable[..., CallMaker]:
    """Return ROUND or TRUNC: of a DOUBLE without places a BIGINT is made."""

    def choose(call: RowCall) -> CallMaker:
        result: SqlType = call.result
        given = call.types[0]
        if given in (INTEGER, BIGINT):
            return strict(lambda value, places=0: value)
        if isinstance(given, Decimal):
            assert isinstance(result, Decimal)
            return strict(lambda value, places=0: quantized(cut(value, places), result))
        if result == DOUBLE:
            return strict(
                lambda value, places: (
                    float(cut(decimal.Decimal(repr(value)), places)) + 0.0
                    if math.isfinite(value)
                    else value
                )
            )
        return strict(lambda value: wrapped(int(cut(decimal.Decimal(repr(value)), 0)), BIGINT))

    return choose


def _cube_root(value: float) -> float:
    return math.cbrt(value)


def _cotangent(value: float) -> float:
    return _quotient(1.0, math.tan(value))


def _quotient(one: float, other: float) -> float:
    if other != 0:
        return one / other
    return math.nan if one == 0 or math.isnan(one) else math.copysign(math.inf, one * other or 1.0)


def _hyperbolic_sine(value: float) -> float:
    try:
        return math.sinh(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _natural(value: float) -> float:
    if value > 0:
        return math.log(value)
    return -math.inf if value == 0 else math.nan


def _logarithm(value: float, *others: float) -> float:
    if not others:
        return _natural(value)
    base = value
    if math.isnan(base) or base <= 0 or base == 1:
        return math.nan
    return _natural(others[0]) / math.log(base)


def _power(base: float, exponent: float) -> float:
    """Return Java's power: NaN where Python has a complex number or an error."""
    if abs(base) == 1 and (math.isinf(exponent) or math.isnan(exponent)):
        return math.nan
    try:
        return math.pow(base, exponent)
    except ValueError:
        is_odd = exponent % 2 == 1
        return math.copysign(math.inf, base) if base == 0 and is_odd else _undefined(base)
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _undefined(base: float) -> float:
    return math.inf if base == 0 else math.nan


def _sign(value: Any) -> int:
    if isinstance(value, float) and math.isnan(value):
        return 0
    return int(value > 0) - int(value < 0)


def _series(call: RowCall) -> CallMaker:
    def make(start: int, end: int, step: int | None = None) -> list[int]:
        by = step if step is not None else 1 if end >= start else -1
        if by == 0 or (end - start) * by < 0:
            raise ValueError("the step leads away from the end")
        within_limit(abs(end - start) // abs(by) + 1)
        return list(range(start, end + (1 if by > 0 else -1), by))

    return strict(make)


def _chosen(choose: Callable[..., Any]) -> CallMaker:
    """Return the greatest or least of values, of which nulls are none."""

    def compute(*values: Any) -> Any:
        there = [value for value in values if value is not None]
        return choose(there, key=ordered) if there else None

    return lenient(compute)


FUNCTIONS: dict[str, CallMaker] = {
    "ABS": typed(_absolute),
    "ACOS": _of_double(math.acos),
    "ASIN": _of_double(math.asin),
    "ATAN": _of_double(math.atan),
    "ATAN2": strict(math.atan2),
    "CBRT": _of_double(_cube_root),
    "CEIL": _whole(decimal.ROUND_CEILING, math.ceil),
    "COS": _of_double(math.cos),
    "COSH": _of_double(math.cosh),
    "COT": _of_double(_cotangent),
    "DEGREES": _of_double(math.degrees),
    "EXP": _of_double(math.exp),
    "FLOOR": _whole(decimal.ROUND_FLOOR, math.floor),
    "GENERATE_SERIES": typed(_series),
    "GREATEST": _chosen(max),
    "LEAST": _chosen(min),
    "LN": strict(_natural),
    "LOG": strict(_logarithm),
    "PI": strict(lambda: math.pi),
    "POWER": strict(_power),
    "RADIANS": _of_double(math.radians),
    "RANDOM": strict(random.random),
    "ROUND": typed(_to_places(_rounded)),
    "SIGN": strict(_sign),
    "SIN": _of_double(math.sin),
    "SINH": _of_double(_hyperbolic_sine),
    "SQRT": _of_double(math.sqrt),
    "TAN": _of_double(math.tan),
    "TANH": _of_double(math.tanh),
    "TRUNC": typed(_to_places(_cut)),
}
