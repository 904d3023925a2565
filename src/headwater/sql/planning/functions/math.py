"""Numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.functions.function_call import FormulaMaker, FunctionCall, named, text
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import BIGINT, INTEGER, Decimal

if TYPE_CHECKING:
    from headwater.plan.expressions import Expression


def _whole(function: str) -> FormulaMaker:
    """Return CEIL or FLOOR, which keep the type of their argument."""

    def make(call: FunctionCall) -> Expression:
        if call.result in (INTEGER, BIGINT):
            return call.formula("{0}")
        # Spark's make a BIGINT of a DOUBLE, which is too short for some.
        ddl = to_plan(call.result).ddl()
        return call.formula(f"CAST({function}({{0}}) AS {ddl})")

    return make


def _round(call: FunctionCall) -> Expression:
    (value, *_) = call.types
    if value in (INTEGER, BIGINT):
        return call.formula("{0}")
    if isinstance(value, Decimal):
        places = "{1}" if len(call.arguments) > 1 else "0"
        return call.formula(f"try_cast(round({{0}}, {places}) AS {to_plan(call.result).ddl()})")
    if len(call.arguments) > 1:
        return call.formula("round({0}, {1})")
    # Halves go up, not away from zero, where a DOUBLE becomes a whole number.
    return call.formula("try_cast(floor({0} + 0.5D) AS bigint)")


def _trunc(call: FunctionCall) -> Expression:
    (value, *_) = call.types
    if value in (INTEGER, BIGINT):
        return call.formula("{0}")
    places = "{1}" if len(call.arguments) > 1 else "0"
    if isinstance(value, Decimal):
        cut = f"if({{0}} < 0, ceil({{0}}, {places}), floor({{0}}, {places}))"
        return call.formula(f"try_cast({cut} AS {to_plan(call.result).ddl()})")
    return call.formula(f"CAST(hw_trunc({{0}}, {places}) AS {to_plan(call.result).ddl()})")


def _geo_distance(call: FunctionCall) -> Expression:
    """Return the length of the great circle, by the haversine formula."""
    chord = (
        "pow(sin(radians({2} - {0}) / 2), 2) + "
        "cos(radians({0})) * cos(radians({2})) * pow(sin(radians({3} - {1}) / 2), 2)"
    )
    is_miles = "upper({4}) LIKE 'M%'" if len(call.arguments) > 4 else "false"
    radius = f"if(coalesce({is_miles}, false), 3959D, 6371D)"
    return call.formula(f"2 * {radius} * asin(sqrt(least({chord}, 1D)))")


def _logarithm(call: FunctionCall) -> Expression:
    """Return a logarithm, which in Java has a value for zero and for negative numbers."""
    natural = (
        "CASE WHEN {0} > 0 THEN ln({0}) WHEN {0} = 0 THEN double('-Infinity') "
        "WHEN {0} < 0 THEN double('NaN') END"
    )
    if len(call.arguments) == 1:
        return call.formula(natural)
    return call.formula("CASE WHEN {0} > 0 AND {0} <> 1 AND {1} > 0 THEN ln({1}) / ln({0}) END")


def _absolute(call: FunctionCall) -> Expression:
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
    "GENERATE_SERIES": named("sequence"),
    "GEO_DISTANCE": _geo_distance,
    "GREATEST": named("greatest"),
    "LEAST": named("least"),
    "LN": _logarithm,
    "LOG": _logarithm,
    "PI": text("pi()"),
    "POWER": named("power"),
    "RANDOM": text("rand()"),
    "ROUND": _round,
    "SIGN": text("CAST(signum({0}) AS int)"),
    "TRUNC": _trunc,
}
