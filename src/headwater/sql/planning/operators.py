"""Operators as Spark SQL, with ksqlDB's ways at nulls, zeroes and overflows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.casts import cast
from headwater.sql.planning.comparing import comparable
from headwater.sql.planning.formulas import constant, formula, literal
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    STRING,
    TIMES,
    TIMESTAMP,
    Array,
    Decimal,
    SqlType,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.plan.expressions.expressions import Expression

_TRIED = {"+": "try_add", "-": "try_subtract", "*": "try_multiply", "%": "try_mod"}
_DOUBLE_DIVISION = (
    "CASE WHEN {1} <> 0 THEN {0} / {1} WHEN {0} = 0 OR isnan({0}) THEN double('NaN') "
    "WHEN {0} > 0 THEN double('Infinity') WHEN {0} < 0 THEN double('-Infinity') END"
)
_DOUBLE_REMAINDER = (
    "CASE WHEN {1} <> 0 THEN {0} % {1} WHEN {0} IS NOT NULL AND {1} = 0 THEN double('NaN') END"
)


def arithmetic(
    sign: str, parts: Sequence[Expression], types: Sequence[SqlType], result: SqlType
) -> Expression:
    """Return a calculation; what overflows or divides a whole number by zero is null."""
    if result == STRING:
        return formula("({0} || {1})", STRING, *parts)
    if isinstance(result, Decimal):
        operator = "try_divide({0}, {1})" if sign == "/" else f"{_TRIED[sign]}({{0}}, {{1}})"
        return formula(f"try_cast({operator} AS {to_plan(result).ddl()})", result, *parts)
    if result == INTEGER and sign != "/":
        # Java's numbers go round where they are too long; Spark fails, or has null.
        wide = [cast(part, type_, BIGINT) for part, type_ in zip(parts, types, strict=True)]
        return cast(formula(f"{_TRIED[sign]}({{0}}, {{1}})", BIGINT, *wide), BIGINT, INTEGER)
    same = [cast(part, type_, result) for part, type_ in zip(parts, types, strict=True)]
    if sign == "/" and result == DOUBLE:
        return formula(_DOUBLE_DIVISION, DOUBLE, *same)
    if sign == "%" and result == DOUBLE:
        return formula(_DOUBLE_REMAINDER, DOUBLE, *same)
    if sign == "/":
        ddl = to_plan(result).ddl()
        return formula(f"try_cast({{0}} DIV nullif({{1}}, 0) AS {ddl})", result, *same)
    return formula(f"{_TRIED[sign]}({{0}}, {{1}})", result, *same)


def negated(value: Expression, type_: SqlType) -> Expression:
    """Return a number with the other sign, which the least whole number of a type has not."""
    if type_ in (INTEGER, BIGINT):
        return arithmetic("-", [constant(0, type_), value], [type_, type_], type_)
    return formula("(-{0})", type_, value)


def comparison(sign: str, parts: Sequence[Expression], types: Sequence[SqlType]) -> Expression:
    """Return a comparison, which is false where one side is null unless it asks for that."""
    left, right = _as_times(parts, types)
    left, right = comparable(left, types[0]), comparable(right, types[1])
    if sign == "IS DISTINCT FROM":
        return formula("(NOT ({0} <=> {1}))", BOOLEAN, left, right)
    if sign == "IS NOT DISTINCT FROM":
        return formula("({0} <=> {1})", BOOLEAN, left, right)
    # To Java NaN is nothing's equal, nor greater or less; to Spark it is the greatest number.
    doubles = [f"{{{index}}}" for index, type_ in enumerate(types) if type_ == DOUBLE]
    if not doubles:
        return formula(f"coalesce({{0}} {sign} {{1}}, false)", BOOLEAN, left, right)
    is_nan = " OR ".join(f"isnan({double})" for double in doubles)
    of_nan = "true" if sign in ("<>", "!=") else "false"
    test = f"CASE WHEN {is_nan} THEN {of_nan} ELSE {{0}} {sign} {{1}} END"
    return formula(f"coalesce({test}, false)", BOOLEAN, left, right)


def _as_times(
    parts: Sequence[Expression], types: Sequence[SqlType]
) -> tuple[Expression, Expression]:
    """Return the two sides; a text beside a time, or beside a row's time in numbers, is read."""
    sides = list(parts)
    for index, other in ((0, 1), (1, 0)):
        if types[index] != STRING:
            continue
        if types[other] in TIMES:
            sides[index] = cast(parts[index], STRING, types[other])
        elif types[other] == BIGINT:
            at = cast(parts[index], STRING, TIMESTAMP)
            sides[index] = formula("unix_millis({0})", BIGINT, at)
    left, right = sides
    return left, right


def like(parts: Sequence[Expression], escape: str | None, negated: bool) -> Expression:
    """Return whether a text is like a pattern; without ESCAPE no letter escapes another."""
    word = "NOT " if negated else ""
    value, pattern = parts
    if escape is None:
        pattern = formula("replace({0}, '\\\\', '\\\\\\\\')", STRING, pattern)
        return formula(f"({word}coalesce({{0}} LIKE {{1}}, false))", BOOLEAN, value, pattern)
    text = f"({word}coalesce({{0}} LIKE {{1}} ESCAPE {literal(escape)}, false))"
    return formula(text, BOOLEAN, value, pattern)


def subscript(parts: Sequence[Expression], types: Sequence[SqlType], result: SqlType) -> Expression:
    """Return an element, counted from 1 or from the end if negative, or a map's value."""
    base, index = parts
    if isinstance(types[0], Array):
        text = "CASE WHEN {1} <> 0 THEN try_element_at({0}, {1}) END"
        return formula(text, result, base, formula("CAST({0} AS int)", BIGINT, index))
    return formula("try_element_at({0}, {1})", result, base, index)
