"""Calls of aggregate functions as aggregations of plans, and their results as SQL has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.expressions.aggregations import Aggregation
from headwater.sql.analysis.typed import CallMeaning, Typed
from headwater.sql.errors import SqlError
from headwater.sql.metastore.formats import types_within
from headwater.sql.planning.casts import cast
from headwater.sql.planning.formulas import formula
from headwater.sql.planning.wire_types import IN_AGGREGATES, kept, typed, wire_type
from headwater.sql.tree.expressions import BooleanLiteral, IntegerLiteral
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import STRING, TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.expressions.expressions import Expression
    from headwater.sql.planning.expressions import Translator
    from headwater.sql.types.sql_type import SqlType

# ksqlDB begins with zero, where Spark has nothing before the first number.
_FROM_ZERO = ("SUM", "AVG")
_BY_OFFSET = ("EARLIEST_BY_OFFSET", "LATEST_BY_OFFSET")
_TOP = ("TOPK", "TOPKDISTINCT")
_COLLECTED = ("COLLECT_LIST", "COLLECT_SET")
_KEEP_NULLS = (*_COLLECTED, "ATTR")
_MOST_BARS = 1000


def aggregation_of(call: Typed, translator: Translator, settings: Mapping[str, str]) -> Aggregation:
    """Return what a call folds its group into."""
    name = _name(call)
    if not call.parts:
        return Aggregation("count")
    value, *rest = call.parts
    argument = _as_numbers(translator.translate(value), value.type)
    function = name.lower()
    if name in _BY_OFFSET:
        limit, ignores = _options(call, rest)
        return Aggregation(function, argument, limit=limit, ignore_nulls=ignores)
    if name in _TOP:
        others = tuple(_as_numbers(translator.translate(part), part.type) for part in rest[:-1])
        return Aggregation(function, argument, others, limit=_whole_number(call, rest[-1]))
    if name == "HISTOGRAM":
        text = cast(argument, value.type, STRING)
        return Aggregation(function, text, limit=_MOST_BARS)
    if name in _KEEP_NULLS:
        limit = _collected_limit(name, settings) if name in _COLLECTED else None
        return Aggregation(function, argument, limit=limit, ignore_nulls=False)
    return Aggregation(function, argument, tuple(translator.translate(part) for part in rest))


def aggregate_result(call: Typed, found: Expression) -> Expression:
    """Return the result of a call, given where it is, in the type that the language has for it."""
    ddl = to_plan(call.type).ddl()
    if any(_has_time_of_day(part.type) for part in call.parts):
        numbers = wire_type(call.type, IN_AGGREGATES)
        made = formula(f"try_cast({{0}} AS {to_plan(numbers).ddl()})", numbers, found)
        return typed(made, call.type, IN_AGGREGATES)
    result = formula(f"try_cast({{0}} AS {ddl})", call.type, found)
    if _name(call) in _FROM_ZERO:
        return formula(f"coalesce({{0}}, CAST(0 AS {ddl}))", call.type, result)
    return result


def _as_numbers(value: Expression, type_: SqlType) -> Expression:
    """Return a value without times of the day, which Spark cannot keep in state."""
    return kept(value, type_, IN_AGGREGATES) if _has_time_of_day(type_) else value


def _has_time_of_day(type_: SqlType) -> bool:
    return TIME in types_within(type_)


def _name(call: Typed) -> str:
    meaning = call.meaning
    assert isinstance(meaning, CallMeaning)
    return meaning.function.name


def _options(call: Typed, rest: list[Typed]) -> tuple[int | None, bool]:
    """Return how many values are asked for, if that is said, and whether nulls are passed over."""
    limit, ignores = None, True
    for part in rest:
        if isinstance(part.expression, BooleanLiteral):
            ignores = part.expression.value
        else:
            limit = _whole_number(call, part)
    return limit, ignores


def _whole_number(call: Typed, part: Typed) -> int:
    expression = part.expression
    if not isinstance(expression, IntegerLiteral) or expression.value < 1:
        raise SqlError(
            f"{_name(call)} needs a whole number above 0 that is written out",
            expression.location,
        )
    return expression.value


def _collected_limit(name: str, settings: Mapping[str, str]) -> int | None:
    """Return the limit that a setting of ksqlDB's says, in any capitals and after any prefix."""
    for setting in (f"ksql.functions.{name.lower()}.limit", "ksql.functions._global_.limit"):
        if setting in settings:
            return int(settings[setting])
    return None
