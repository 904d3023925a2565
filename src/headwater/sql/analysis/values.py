"""What can be said of values without knowing any name: literals, subscripts, parts of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from headwater.sql.tree import expressions as ex
from headwater.sql.types.casting import can_coerce
from headwater.sql.types.coercion import Operand, decimal_type
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    NULL,
    STRING,
    Array,
    Map,
    SqlType,
)

if TYPE_CHECKING:
    from headwater.sql.analysis.typed import Typed

_LITERALS = (
    ex.BooleanLiteral,
    ex.IntegerLiteral,
    ex.DecimalLiteral,
    ex.DoubleLiteral,
    ex.StringLiteral,
)


def literal_type(literal: ex.Literal) -> SqlType:
    """Return the type of a constant."""
    match literal:
        case ex.NullLiteral():
            return NULL
        case ex.BooleanLiteral():
            return BOOLEAN
        case ex.IntegerLiteral(value):
            return INTEGER if value < 2**31 else BIGINT
        case ex.DecimalLiteral(digits):
            return decimal_type(digits)
        case ex.DoubleLiteral():
            return DOUBLE
        case ex.StringLiteral():
            return STRING
        case _:
            assert_never(literal)


def check_subscript(base: SqlType, index: SqlType) -> SqlType:
    """Return the type of `base[index]`."""
    match base:
        case Array(element):
            if not can_coerce(index, BIGINT):
                raise TypeMismatchError(
                    f"an array's elements are counted, and {index} is no number"
                )
            return element
        case Map(key, value):
            if not can_coerce(index, key):
                raise TypeMismatchError(f"the map's keys are {key}, not {index}")
            return value
        case _:
            raise TypeMismatchError(f"[] needs an ARRAY or a MAP before it, not {base}")


def operand(typed: Typed) -> Operand:
    """Return an expression as one of several that have to have a type in common."""
    expression = typed.expression
    match expression:
        case ex.StringLiteral(text):
            return Operand(typed.type, text, is_literal=True)
        case ex.MakeArray() | ex.MakeStruct():
            return Operand(typed.type, parts=tuple(operand(part) for part in typed.parts))
        case ex.MakeMap():
            return Operand(typed.type, parts=tuple(operand(part) for part in typed.parts[1::2]))
        case ex.Sign(_, ex.IntegerLiteral() | ex.DecimalLiteral() | ex.DoubleLiteral()):
            return Operand(typed.type, is_literal=True)
        case _:
            return Operand(typed.type, is_literal=isinstance(expression, _LITERALS))
