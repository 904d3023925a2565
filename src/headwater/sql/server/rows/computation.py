"""Expressions computed in Python, with ksqlDB's ways at nulls, zeroes and overflows.

Pull queries, rows of INSERT ... VALUES and push queries over one stream need no more than this.
"""

from __future__ import annotations

import decimal
import math
import operator
from typing import TYPE_CHECKING, Any

from headwater.sql.analysis.scope import ColumnMeaning, ParameterMeaning
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.calls import called
from headwater.sql.server.rows.casting import (
    EXACT,
    caster,
    milliseconds_of,
    quantized,
    timestamp_of,
    wrapped,
)
from headwater.sql.server.rows.equality import equal
from headwater.sql.server.rows.like import like
from headwater.sql.server.rows.row import LAMBDA
from headwater.sql.tree import expressions as ex
from headwater.sql.types.sql_type import (
    BIGINT,
    DOUBLE,
    INTEGER,
    STRING,
    TIMES,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.sql.analysis.typed import Typed
    from headwater.sql.server.rows.row import Computation, Row


def computation(typed: Typed) -> Computation:
    """Return what computes an expression of a row; raises SqlError for what only Spark can."""
    expression = typed.expression
    match expression:
        case ex.Column():
            return _column(typed)
        case ex.NullLiteral():
            return lambda row: None
        case (
            ex.BooleanLiteral()
            | ex.IntegerLiteral()
            | ex.DecimalLiteral()
            | ex.DoubleLiteral()
            | ex.StringLiteral()
        ):
            value = expression.value
            return lambda row: value
        case ex.Call():
            return called(typed, computation)
        case ex.Case():
            return _case(expression, typed)
        case ex.MakeArray() | ex.MakeMap() | ex.MakeStruct():
            return _maker(typed)
        case ex.Lambda():
            return _lambda(expression, typed)
        case _:
            return _operator(expression, typed)


def _column(typed: Typed) -> Computation:
    match typed.meaning:
        case ParameterMeaning(name):
            place = LAMBDA, name
        case ColumnMeaning(source, name):
            place = source, name
        case _:
            raise AssertionError(f"{typed.expression} stands for nothing")
    return lambda row: row[place]


def _lambda(expression: ex.Lambda, typed: Typed) -> Computation:
    """Return a lambda as a value: a callable that knows the row around it."""
    body = computation(typed.parts[0])
    places = [(LAMBDA, name) for name in expression.parameters]

    def bound(row: Row) -> Callable[..., Any]:
        return lambda *values: body({**row, **dict(zip(places, values, strict=True))})

    return bound


def _operator(
    expression: ex.Dereference | ex.Subscript | ex.Sign | ex.Arithmetic | ex.Comparison
    | ex.Logical | ex.Not | ex.IsNull | ex.Between | ex.In | ex.Like | ex.Cast,
    typed: Typed,
) -> Computation:  # fmt: skip
    parts = [computation(part) for part in typed.parts]
    types = [part.type for part in typed.parts]
    first = parts[0]
    match expression:
        case ex.Dereference(_, name):
            return lambda row: _field(first(row), name)
        case ex.Subscript():
            return _subscript(parts, types[0])
        case ex.Sign(sign):
            return first if sign == "+" else _negated(first, typed.type)
        case ex.Arithmetic(sign):
            return _arithmetic(sign, parts, types, typed.type)
        case ex.Comparison(sign):
            return _comparison(sign, parts, types)
        case ex.Logical(sign):
            second = parts[1]
            return _logical(first, second, decided_by=sign == "OR")
        case ex.Not():
            return _not(first)
        case ex.IsNull(_, negated):
            return lambda row: (first(row) is None) is not negated
        case ex.Between(_, _, _, negated):
            low = _comparison(">=", [first, parts[1]], [types[0], types[1]])
            high = _comparison("<=", [first, parts[2]], [types[0], types[2]])
            return lambda row: (low(row) and high(row)) is not negated
        case ex.In(_, _, negated):
            tests = [
                _comparison("=", [first, part], [types[0], type_])
                for part, type_ in zip(parts[1:], types[1:], strict=True)
            ]
            return lambda row: any(test(row) for test in tests) is not negated
        case ex.Like(_, _, escape, negated):
            return like(parts, escape, negated)
        case ex.Cast():
            cast = caster(types[0], typed.type)
            return lambda row: cast(first(row))


def _logical(first: Computation, second: Computation, *, decided_by: bool) -> Computation:
    """Return AND or OR: one side may decide, else a null makes it null."""

    def both(row: Row) -> Any:
        one = first(row)
        if one is decided_by:
            return decided_by
        other = second(row)
        if other is decided_by:
            return decided_by
        return None if one is None or other is None else not decided_by

    return both


def _not(part: Computation) -> Computation:
    def negate(row: Row) -> Any:
        value = part(row)
        return None if value is None else not value

    return negate


def _field(value: Any, name: str) -> Any:
    return None if value is None else value.get(name)


def _negated(part: Computation, type_: SqlType) -> Computation:
    def negate(row: Row) -> Any:
        value = part(row)
        if value is None:
            return None
        return wrapped(-value, type_) if type_ in (INTEGER, BIGINT) else -value

    return negate


def _subscript(parts: Sequence[Computation], base: SqlType) -> Computation:
    of, index = parts

    def element(row: Row) -> Any:
        values, at = of(row), index(row)
        if values is None or at is None:
            return None
        if not isinstance(base, Array):
            return values.get(at)
        if at == 0 or abs(at) > len(values):
            return None
        return values[at - 1 if at > 0 else at]

    return element


_ON_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def _arithmetic(
    sign: str, parts: Sequence[Computation], types: Sequence[SqlType], result: SqlType
) -> Computation:
    left, right = parts
    calculate = _calculation(sign, types, result)

    def compute(row: Row) -> Any:
        one, other = left(row), right(row)
        return None if one is None or other is None else calculate(one, other)

    return compute


def _calculation(sign: str, types: Sequence[SqlType], result: SqlType) -> Callable[[Any, Any], Any]:
    if result == STRING:
        return operator.add
    if result in (INTEGER, BIGINT):
        whole = {**_ON_NUMBERS, "/": _whole_division, "%": _whole_remainder}[sign]

        def counted(one: Any, other: Any) -> Any:
            found = whole(one, other)
            return None if found is None else wrapped(found, result)

        return counted
    if result == DOUBLE:
        of_doubles = {**_ON_NUMBERS, "/": _double_division, "%": _double_remainder}[sign]
        return lambda one, other: of_doubles(float(one), float(other))
    if isinstance(result, Decimal):
        exact = {
            "+": EXACT.add,
            "-": EXACT.subtract,
            "*": EXACT.multiply,
            "/": EXACT.divide,
            "%": EXACT.remainder,
        }[sign]

        def precise(one: Any, other: Any) -> Any:
            try:
                return quantized(exact(decimal.Decimal(one), decimal.Decimal(other)), result)
            except (decimal.InvalidOperation, ZeroDivisionError):
                return None

        return precise
    raise SqlError(f"{types[0]} {sign} {types[1]} needs a query that is stored")


def _whole_division(one: int, other: int) -> int | None:
    if other == 0:
        return None
    found = abs(one) // abs(other)
    return found if (one < 0) == (other < 0) else -found


def _whole_remainder(one: int, other: int) -> int | None:
    if other == 0:
        return None
    found = abs(one) % abs(other)
    return -found if one < 0 else found


def _double_remainder(one: float, other: float) -> float:
    try:
        return math.fmod(one, other)
    except ValueError:
        return math.nan


def _double_division(one: float, other: float) -> float:
    if other != 0:
        return one / other
    return math.nan if one == 0 or math.isnan(one) else math.copysign(math.inf, one)


_ON_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _comparison(sign: str, parts: Sequence[Computation], types: Sequence[SqlType]) -> Computation:
    left = _beside(parts[0], types[0], types[1])
    right = _beside(parts[1], types[1], types[0])
    if sign == "IS DISTINCT FROM":
        return lambda row: not equal(left(row), right(row))
    if sign == "IS NOT DISTINCT FROM":
        return lambda row: equal(left(row), right(row))
    test = _ON_ORDER[sign]

    def compare(row: Row) -> bool:
        one, other = left(row), right(row)
        return one is not None and other is not None and test(one, other)

    return compare


def _beside(part: Computation, type_: SqlType, other: SqlType) -> Computation:
    """Return a side of a comparison; a text beside a time, or a row's time, is read as one."""
    if type_ == STRING and other in TIMES:
        cast = caster(STRING, other)
        return lambda row: cast(part(row))
    if type_ == STRING and other == BIGINT:
        return lambda row: milliseconds_of(timestamp_of(part(row)))
    if type_ == DOUBLE and isinstance(other, Decimal):
        return part
    if isinstance(type_, Decimal) and other == DOUBLE:
        cast = caster(type_, DOUBLE)
        return lambda row: cast(part(row))
    return part


def _case(case: ex.Case, typed: Typed) -> Computation:
    parts = list(typed.parts)
    subject = parts.pop(0) if case.operand is not None else None
    whens: list[tuple[Computation, Computation]] = []
    while len(parts) > 1:
        condition, result = parts.pop(0), parts.pop(0)
        test = computation(condition)
        if subject is not None:
            sides = [computation(subject), test]
            test = _comparison("=", sides, [subject.type, condition.type])
        whens.append((test, _as_type(result, typed.type)))
    otherwise = _as_type(parts[0], typed.type) if parts else lambda row: None

    def choose(row: Row) -> Any:
        for test, result in whens:
            if test(row):
                return result(row)
        return otherwise(row)

    return choose


def _as_type(typed: Typed, wanted: SqlType) -> Computation:
    inner, cast = computation(typed), caster(typed.type, wanted)
    return lambda row: cast(inner(row))


def _maker(typed: Typed) -> Computation:
    match typed.type:
        case Array(element):
            items = [_as_type(part, element) for part in typed.parts]
            return lambda row: [item(row) for item in items]
        case Map(key, value):
            keys = [_as_type(part, key) for part in typed.parts[::2]]
            values = [_as_type(part, value) for part in typed.parts[1::2]]
            return lambda row: {k(row): v(row) for k, v in zip(keys, values, strict=True)}
        case Struct():
            parts = [computation(part) for part in typed.parts]
            named = list(zip(typed.type.names, parts, strict=True))
            return lambda row: {name: part(row) for name, part in named}
        case _:
            raise AssertionError(f"{typed.expression} makes {typed.type}")
