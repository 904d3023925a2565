"""Expressions as text, with parentheses around every operator, so that none has to be guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from headwater.sql.formatter.types import format_type
from headwater.sql.tree.expressions import (
    Arithmetic,
    Between,
    BooleanLiteral,
    Call,
    Case,
    Cast,
    Column,
    Comparison,
    DecimalLiteral,
    Dereference,
    DoubleLiteral,
    Expression,
    In,
    IntegerLiteral,
    IsNull,
    Lambda,
    Like,
    Literal,
    Logical,
    MakeArray,
    MakeMap,
    MakeStruct,
    Not,
    NullLiteral,
    Sign,
    StringLiteral,
    Subscript,
)
from headwater.sql.words import quoted, text_literal

if TYPE_CHECKING:
    from collections.abc import Iterable


def format_expression(expression: Expression) -> str:
    """Return an expression as a statement writes it."""
    match expression:
        case Column(name, source):
            return quoted(name) if source is None else f"{quoted(source)}.{quoted(name)}"
        case Dereference(base, field):
            return f"{_operand(base)}->{quoted(field)}"
        case Subscript(base, index):
            return f"{_operand(base)}[{format_expression(index)}]"
        case Sign(operator, operand):
            return f"{operator}{_operand(operand)}"
        case (
            Arithmetic(operator, left, right)
            | Comparison(operator, left, right)
            | Logical(operator, left, right)
        ):
            return f"({format_expression(left)} {operator} {format_expression(right)})"
        case Not(operand):
            return f"(NOT {format_expression(operand)})"
        case IsNull() | Between() | In() | Like():
            return f"({_predicate(expression)})"
        case Case():
            return _case(expression)
        case Cast(operand, type_):
            return f"CAST({format_expression(operand)} AS {format_type(type_)})"
        case Lambda(parameters, body):
            names = ", ".join(quoted(name) for name in parameters)
            return f"({names}) => {format_expression(body)}"
        case Call(name, arguments, star):
            return f"{quoted(name)}({'*' if star else _list(arguments)})"
        case MakeArray() | MakeMap() | MakeStruct():
            return _maker(expression)
        case _:
            return format_literal(expression)


def format_literal(literal: Literal) -> str:
    """Return a constant as a statement writes it."""
    match literal:
        case NullLiteral():
            return "NULL"
        case BooleanLiteral(value):
            return "TRUE" if value else "FALSE"
        case IntegerLiteral(number):
            return str(number)
        case DecimalLiteral(digits):
            text = format(digits, "f")
            return text if "." in text else f"{text}."
        case DoubleLiteral(double):
            # Without an exponent it would be read as a decimal.
            text = repr(double).upper()
            return text if "E" in text else f"{text}E0"
        case StringLiteral(content):
            return text_literal(content)
        case _:
            assert_never(literal)


def _operand(expression: Expression) -> str:
    text = format_expression(expression)
    # Two signs in a row would begin a comment.
    return f"({text})" if isinstance(expression, Sign) else text


def _list(expressions: Iterable[Expression]) -> str:
    return ", ".join(format_expression(expression) for expression in expressions)


def _predicate(predicate: IsNull | Between | In | Like) -> str:
    operand = format_expression(predicate.operand)
    not_ = "NOT " if predicate.negated else ""
    match predicate:
        case IsNull():
            return f"{operand} IS {not_}NULL"
        case Between(_, low, high):
            limits = f"{format_expression(low)} AND {format_expression(high)}"
            return f"{operand} {not_}BETWEEN {limits}"
        case In(_, items):
            return f"{operand} {not_}IN ({_list(items)})"
        case Like(_, pattern, escape):
            ending = "" if escape is None else f" ESCAPE {text_literal(escape)}"
            return f"{operand} {not_}LIKE {format_expression(pattern)}{ending}"
        case _:
            assert_never(predicate)


def _case(case: Case) -> str:
    parts = ["CASE"]
    if case.operand is not None:
        parts.append(format_expression(case.operand))
    parts += [
        f"WHEN {format_expression(when.condition)} THEN {format_expression(when.result)}"
        for when in case.whens
    ]
    if case.otherwise is not None:
        parts.append(f"ELSE {format_expression(case.otherwise)}")
    return " ".join([*parts, "END"])


def _maker(maker: MakeArray | MakeMap | MakeStruct) -> str:
    match maker:
        case MakeArray(items):
            return f"ARRAY[{_list(items)}]"
        case MakeMap(entries):
            pairs = (
                f"{format_expression(key)} := {format_expression(value)}" for key, value in entries
            )
            return f"MAP({', '.join(pairs)})"
        case MakeStruct(fields):
            named = (f"{quoted(name)} := {format_expression(value)}" for name, value in fields)
            return f"STRUCT({', '.join(named)})"
        case _:
            assert_never(maker)
