"""The type of every expression; what does not fit is refused at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from headwater.sql.analysis.calls import analyse_call
from headwater.sql.analysis.typed import Typed
from headwater.sql.analysis.values import check_subscript, literal_type, operand
from headwater.sql.errors import SqlError
from headwater.sql.tree import expressions as ex
from headwater.sql.types.arithmetic import arithmetic_type
from headwater.sql.types.casting import can_cast
from headwater.sql.types.coercion import common_type
from headwater.sql.types.comparison import check_comparable
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.named import resolve_type
from headwater.sql.types.sql_type import (
    BOOLEAN,
    NULL,
    STRING,
    Array,
    Map,
    SqlType,
    Struct,
    is_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.sql.analysis.scope import Scope


def analyse(expression: ex.Expression, scope: Scope) -> Typed:
    """Return the expression with the types of all its parts."""
    match expression:
        case ex.Column():
            meaning = scope.resolve(expression)
            return Typed(expression, meaning.type, meaning=meaning)
        case ex.Dereference() | ex.Subscript():
            return _inside(expression, scope)
        case ex.Sign() | ex.Arithmetic():
            return _calculation(expression, scope)
        case (
            ex.Comparison()
            | ex.Logical()
            | ex.Not()
            | ex.IsNull()
            | ex.Between()
            | ex.In()
            | ex.Like()
        ):
            return Typed(expression, BOOLEAN, _checked_predicate(expression, scope))
        case ex.Case():
            return _case(expression, scope)
        case ex.Cast(value, node):
            part = analyse(value, scope)
            target = resolve_type(node, scope.custom_types)
            if not can_cast(part.type, target):
                raise SqlError(f"a {part.type} cannot be cast to {target}", expression.location)
            return Typed(expression, target, (part,))
        case ex.Call():
            return analyse_call(expression, scope, analyse)
        case ex.Lambda():
            raise SqlError("a lambda can only be an argument of a function", expression.location)
        case ex.MakeArray() | ex.MakeMap() | ex.MakeStruct():
            return _maker(expression, scope)
        case _:
            return Typed(expression, literal_type(expression))


def analyse_condition(expression: ex.Expression, scope: Scope, clause: str) -> Typed:
    """Return the condition of a clause such as WHERE; refuse one that is no BOOLEAN."""
    typed = analyse(expression, scope)
    if typed.type != BOOLEAN:
        raise SqlError(f"{clause} needs a BOOLEAN, not {typed.type}", expression.location)
    return typed


def _at(expression: ex.Expression, find: Callable[[], SqlType]) -> SqlType:
    """Return a type that is found by rules that know no places."""
    try:
        return find()
    except TypeMismatchError as error:
        raise SqlError(str(error), expression.location) from None


def _inside(expression: ex.Dereference | ex.Subscript, scope: Scope) -> Typed:
    base = analyse(expression.base, scope)
    if isinstance(expression, ex.Subscript):
        index = analyse(expression.index, scope)
        type_ = _at(expression, lambda: check_subscript(base.type, index.type))
        return Typed(expression, type_, (base, index))
    if not isinstance(base.type, Struct):
        raise SqlError(f"-> needs a STRUCT before it, not {base.type}", expression.location)
    found = base.type.field(expression.field)
    if found is None:
        fields = ", ".join(base.type.names)
        raise SqlError(
            f"the struct has no field {expression.field} (it has {fields})", expression.location
        )
    return Typed(expression, found, (base,))


def _calculation(expression: ex.Sign | ex.Arithmetic, scope: Scope) -> Typed:
    if isinstance(expression, ex.Sign):
        part = analyse(expression.operand, scope)
        if not is_number(part.type):
            raise SqlError(f"a {part.type} has no sign", expression.location)
        return Typed(expression, part.type, (part,))
    left, right = analyse(expression.left, scope), analyse(expression.right, scope)
    type_ = _at(expression, lambda: arithmetic_type(expression.operator, left.type, right.type))
    return Typed(expression, type_, (left, right))


def _checked_predicate(
    predicate: ex.Comparison | ex.Logical | ex.Not | ex.IsNull | ex.Between | ex.In | ex.Like,
    scope: Scope,
) -> tuple[Typed, ...]:
    match predicate:
        case ex.Comparison(operator, left, right):
            parts = _all((left, right), scope)
            _compare(predicate, operator, *parts)
        case ex.Logical(operator, left, right):
            parts = tuple(analyse_condition(part, scope, operator) for part in (left, right))
        case ex.Not(value):
            parts = (analyse_condition(value, scope, "NOT"),)
        case ex.IsNull(value):
            parts = (analyse(value, scope),)
        case ex.Between(value, low, high):
            parts = _all((value, low, high), scope)
            _compare(predicate, ">=", parts[0], parts[1])
            _compare(predicate, "<=", parts[0], parts[2])
        case ex.In(value, items):
            parts = _all((value, *items), scope)
            _at(predicate, lambda: common_type([operand(part) for part in parts]))
        case ex.Like(value, pattern):
            parts = _all((value, pattern), scope)
            for part in parts:
                if part.type not in (STRING, NULL):
                    raise SqlError(f"LIKE needs texts, not {part.type}", part.expression.location)
        case _:
            assert_never(predicate)
    return parts


def _all(expressions: Sequence[ex.Expression], scope: Scope) -> tuple[Typed, ...]:
    return tuple(analyse(expression, scope) for expression in expressions)


def _compare(expression: ex.Expression, operator: str, left: Typed, right: Typed) -> None:
    if _is_time_as_text(left, right) or _is_time_as_text(right, left):
        return
    try:
        check_comparable(operator, left.type, right.type)
    except TypeMismatchError as error:
        raise SqlError(str(error), expression.location) from None


def _is_time_as_text(column: Typed, text: Typed) -> bool:
    """Tell whether a row's time, which is a number, is compared with a text that says a time."""
    names = ("ROWTIME", "WINDOWSTART", "WINDOWEND")
    return (
        isinstance(column.expression, ex.Column)
        and column.expression.name in names
        and isinstance(text.expression, ex.StringLiteral)
    )


def _case(case: ex.Case, scope: Scope) -> Typed:
    parts: list[Typed] = []
    results: list[Typed] = []
    operand_ = None if case.operand is None else analyse(case.operand, scope)
    if operand_ is not None:
        parts.append(operand_)
    for when in case.whens:
        if operand_ is None:
            condition = analyse_condition(when.condition, scope, "WHEN")
        else:
            condition = analyse(when.condition, scope)
            _compare(when.condition, "=", operand_, condition)
        results.append(analyse(when.result, scope))
        parts += [condition, results[-1]]
    if case.otherwise is not None:
        results.append(analyse(case.otherwise, scope))
        parts.append(results[-1])
    type_ = _at(case, lambda: common_type([operand(result) for result in results]))
    if type_ == NULL:
        raise SqlError("every result of the CASE is NULL: cast one of them", case.location)
    return Typed(case, type_, tuple(parts))


def _maker(maker: ex.MakeArray | ex.MakeMap | ex.MakeStruct, scope: Scope) -> Typed:
    match maker:
        case ex.MakeArray(items):
            parts = _all(items, scope)
            return Typed(maker, Array(_common(maker, parts, "element")), parts)
        case ex.MakeMap(entries):
            keys = _all([key for key, _ in entries], scope)
            values = _all([value for _, value in entries], scope)
            type_: SqlType = Map(_common(maker, keys, "key"), _common(maker, values, "value"))
            pairs = zip(keys, values, strict=True)
            return Typed(maker, type_, tuple(part for pair in pairs for part in pair))
        case ex.MakeStruct(fields):
            names = [name for name, _ in fields]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise SqlError(f"the struct has two fields {twice}", maker.location)
            parts = _all([value for _, value in fields], scope)
            types = (part.type for part in parts)
            return Typed(maker, Struct(tuple(zip(names, types, strict=True))), parts)
        case _:
            assert_never(maker)


def _common(maker: ex.Expression, parts: Sequence[Typed], what: str) -> SqlType:
    if not parts:
        raise SqlError(f"there has to be at least one {what}", maker.location)
    type_ = _at(maker, lambda: common_type([operand(part) for part in parts]))
    if type_ == NULL:
        raise SqlError(
            f"every {what} is NULL: cast one of them, as in CAST(NULL AS STRING)", maker.location
        )
    return type_
