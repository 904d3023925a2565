"""Numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.casts import cast
from headwater.sql.planning.functions.function_call import FormulaMaker, FunctionCall, named, text
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import BIGINT, DOUBLE, INTEGER, Array, Decimal

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression


# Spark refuses what is no number, also where it is told to try.
_NUMBER = "CASE WHEN NOT isnan({{0}}) THEN {} END"


def _whole(function: str) -> FormulaMaker:
    """Return CEIL or FLOOR, which keep the type of their argument."""

    def make(call: FunctionCall) -> Expression:
        if call.result in (INTEGER, BIGINT):
            return call.formula("{0}")
        if call.result == DOUBLE:
            # Spark's make a BIGINT of it, which is too short for some.
            return call.formula(f"hw_{function}({{0}})")
        return call.formula(f"try_cast({function}({{0}}) AS {to_plan(call.result).ddl()})")

    return make


def _round(call: FunctionCall) -> Expression:
    """Return the nearest number; of two that are as near the greater, as Java has it."""
    (value, *_) = call.types
    if value in (INTEGER, BIGINT):
        return call.formula("{0}")
    if isinstance(value, Decimal):
        places = "{1}" if len(call.arguments) > 1 else "0"
        exact = f"hw_round_exact(CAST({{0}} AS string), {places})"
        return call.formula(f"try_cast({exact} AS {to_plan(call.result).ddl()})")
    if len(call.arguments) > 1:
        return call.formula("hw_round({0}, {1})")
    return call.formula(f"try_cast({_NUMBER.format('hw_round({0}, 0)')} AS bigint)")


def _trunc(call: FunctionCall) -> Expression:
    (value, *_) = call.types
    if value in (INTEGER, BIGINT):
        return call.formula("{0}")
    places = "{1}" if len(call.arguments) > 1 else "0"
    if isinstance(value, Decimal):
        exact = f"hw_trunc_exact(CAST({{0}} AS string), {places})"
        return call.formula(f"try_cast({exact} AS {to_plan(call.result).ddl()})")
    if call.result == DOUBLE:
        return call.formula(f"hw_trunc({{0}}, {places})")
    return call.formula(f"try_cast({_NUMBER.format(f'hw_trunc({{0}}, {places})')} AS bigint)")


def _series(call: FunctionCall) -> Expression:
    """Return numbers up or down to the last; none where the step leads away from it."""
    if len(call.arguments) == 2:
        return call.formula("sequence({0}, {1})")
    step = "CAST({2} AS bigint)" if call.result == Array(BIGINT) else "{2}"
    leads = "({2} > 0 AND {0} <= {1}) OR ({2} < 0 AND {0} >= {1})"
    return call.formula(f"CASE WHEN {leads} THEN sequence({{0}}, {{1}}, {step}) END")


_MILES = "('mi', 'mile', 'miles')"
_KILOMETRES = "('', 'km', 'kilometer', 'kilometers', 'kilometre', 'kilometres')"


def _geo_distance(call: FunctionCall) -> Expression:
    """Return the length of the great circle, by the haversine formula."""
    chord = (
        "pow(sin(radians({2} - {0}) / 2), 2) + "
        "cos(radians({0})) * cos(radians({2})) * pow(sin(radians({3} - {1}) / 2), 2)"
    )
    radius = "6371D"
    if len(call.arguments) > 4:
        unit = "lower(trim(coalesce({4}, '')))"
        radius = (
            f"CASE WHEN {unit} IN {_MILES} THEN 3959D WHEN {unit} IN {_KILOMETRES} THEN 6371D END"
        )
    # least has the other where one is null.
    is_there = " AND ".join(
        f"abs({{{index}}}) <= {limit}" for index, limit in enumerate((90, 180, 90, 180))
    )
    distance = f"2 * ({radius}) * asin(sqrt(least({chord}, 1D)))"
    return call.formula(f"CASE WHEN {is_there} THEN {distance} END")


_LN = (
    "CASE WHEN # > 0 THEN ln(#) WHEN # = 0 THEN double('-Infinity') "
    "WHEN # IS NOT NULL THEN double('NaN') END"
)


def _logarithm(call: FunctionCall) -> Expression:
    """Return a logarithm, which in Java has a value for zero and for negative numbers."""
    if len(call.arguments) == 1:
        return call.formula(_LN.replace("#", "{0}"))
    divided = f"({_LN.replace('#', '{1}')}) / ln({{0}})"
    is_base = "{0} > 0 AND {0} <> 1"
    return call.formula(
        "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL "
        f"WHEN {is_base} THEN {divided} ELSE double('NaN') END"
    )


def _absolute(call: FunctionCall) -> Expression:
    """Return a number without its sign; the least INTEGER stays, and the least BIGINT has none."""
    if call.result == INTEGER:
        return cast(call.formula("abs(CAST({0} AS bigint))"), BIGINT, INTEGER)
    if call.result == BIGINT:
        return call.formula("CASE WHEN {0} >= 0 THEN {0} ELSE try_subtract(0L, {0}) END")
    return call.formula("abs({0})")


_OF_DOUBLE = (
    "acos", "asin", "atan", "cbrt", "cos", "cosh", "cot", "degrees", "exp", "radians", "sin",
    "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip

FORMULAS: dict[str, FormulaMaker] = {
    **{name.upper(): named(name) for name in _OF_DOUBLE},
    "ABS": _absolute,
    "ATAN2": named("atan2"),
    "CEIL": _whole("ceil"),
    "FLOOR": _whole("floor"),
    "GENERATE_SERIES": _series,
    "GEO_DISTANCE": _geo_distance,
    "GREATEST": named("greatest"),
    "LEAST": named("least"),
    "LN": _logarithm,
    "LOG": _logarithm,
    "PI": text("pi()"),
    "POWER": named("power"),
    "RANDOM": text("rand()"),
    "ROUND": _round,
    "SIGN": text("CASE WHEN isnan(CAST({0} AS double)) THEN 0 ELSE CAST(signum({0}) AS int) END"),
    "TRUNC": _trunc,
}
