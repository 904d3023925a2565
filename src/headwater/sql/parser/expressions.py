"""Expressions of the tree, out of the grammar's rules."""

from __future__ import annotations

import decimal
import math
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.parser.tokens import name_of, place, text_of
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
    When,
)

if TYPE_CHECKING:
    from lark import Token

    from headwater.sql.tree.types import TypeNode

_LARGEST = 2**63 - 1


class LiteralRules:
    """A method for each rule of a literal."""

    def text(self, token: Token) -> Literal:
        """`'text'`."""
        return StringLiteral(text_of(token), location=place(token))

    def true(self, token: Token) -> Literal:
        """`TRUE`."""
        return BooleanLiteral(True, location=place(token))

    def false(self, token: Token) -> Literal:
        """`FALSE`."""
        return BooleanLiteral(False, location=place(token))

    def null(self, token: Token) -> Literal:
        """`NULL`."""
        return NullLiteral(location=place(token))

    def integer(self, token: Token) -> Literal:
        """Digits."""
        value = int(token)
        if value > _LARGEST:
            raise SqlSyntaxError(
                f"{value} is more than a BIGINT holds: write it with a point, as a DECIMAL",
                place(token),
            )
        return IntegerLiteral(value, location=place(token))

    def decimal(self, token: Token) -> Literal:
        """Digits with a point."""
        return DecimalLiteral(decimal.Decimal(token), location=place(token))

    def double(self, token: Token) -> Literal:
        """Digits with an exponent."""
        value = float(token)
        if math.isinf(value):
            raise SqlSyntaxError(f"{token} is more than a DOUBLE holds", place(token))
        return DoubleLiteral(value, location=place(token))


class ExpressionRules(LiteralRules):
    """A method for each rule of an expression."""

    def column(self, name: Token) -> Expression:
        """`name`."""
        return Column(name_of(name), location=place(name))

    def qualified_column(self, source: Token, name: Token) -> Expression:
        """`source.name`."""
        return Column(name_of(name), name_of(source), location=place(source))

    def dereference(self, base: Expression, field: Token) -> Expression:
        """`base->field`."""
        return Dereference(base, name_of(field), location=base.location)

    def subscript(self, base: Expression, index: Expression) -> Expression:
        """`base[index]`."""
        return Subscript(base, index, location=base.location)

    def sign(self, operator: Token, operand: Expression) -> Expression:
        """`-operand`."""
        return Sign(str(operator), operand, location=place(operator))

    def arithmetic(self, left: Expression, operator: Token, right: Expression) -> Expression:
        """`left + right`."""
        return Arithmetic(str(operator), left, right, location=left.location)

    def concatenation(self, left: Expression, right: Expression) -> Expression:
        """`left || right`, which is the function CONCAT."""
        return Call("CONCAT", (left, right), location=left.location)

    def comparison_operator(self, operator: Token) -> str:
        """One of the signs that compare."""
        return "<>" if operator == "!=" else str(operator)

    def comparison(self, left: Expression, operator: str, right: Expression) -> Expression:
        """`left = right`."""
        return Comparison(operator, left, right, location=left.location)

    def distinct(
        self, left: Expression, is_: Token, distinct: Token, from_: Token, right: Expression
    ) -> Expression:
        """`left IS DISTINCT FROM right`."""
        return Comparison("IS DISTINCT FROM", left, right, location=left.location)

    def not_distinct(self, left: Expression, *rest: Expression) -> Expression:
        """`left IS NOT DISTINCT FROM right`."""
        return Comparison("IS NOT DISTINCT FROM", left, rest[-1], location=left.location)

    def logical(self, left: Expression, operator: Token, right: Expression) -> Expression:
        """`left AND right`."""
        return Logical(operator.upper(), left, right, location=left.location)

    def negation(self, start: Token, operand: Expression) -> Expression:
        """`NOT operand`."""
        return Not(operand, location=place(start))

    def is_null(self, operand: Expression, *_: Token) -> Expression:
        """`operand IS NULL`."""
        return IsNull(operand, location=operand.location)

    def is_not_null(self, operand: Expression, *_: Token) -> Expression:
        """`operand IS NOT NULL`."""
        return IsNull(operand, negated=True, location=operand.location)

    def between(
        self,
        operand: Expression,
        negated: Token | None,
        between: Token,
        low: Expression,
        and_: Token,
        high: Expression,
    ) -> Expression:
        """`operand [NOT] BETWEEN low AND high`."""
        return Between(operand, low, high, negated is not None, location=operand.location)

    def in_list(
        self,
        operand: Expression,
        negated: Token | None,
        in_: Token,
        items: tuple[Expression, ...],
    ) -> Expression:
        """`operand [NOT] IN (items)`."""
        return In(operand, items, negated is not None, location=operand.location)

    def like(
        self,
        operand: Expression,
        negated: Token | None,
        like: Token,
        pattern: Expression,
        escape: str | None,
    ) -> Expression:
        """`operand [NOT] LIKE pattern [ESCAPE 'x']`."""
        return Like(operand, pattern, escape, negated is not None, location=operand.location)

    def escape(self, start: Token, text: Token) -> str:
        """`ESCAPE 'x'`."""
        if len(text_of(text)) != 1:
            raise SqlSyntaxError("ESCAPE takes one letter, such as '!'", place(text))
        return text_of(text)

    def case(
        self,
        start: Token,
        operand: Expression | None,
        whens: tuple[When, ...],
        otherwise: Expression | None,
        end: Token,
    ) -> Expression:
        """`CASE [operand] WHEN ... [ELSE ...] END`."""
        return Case(operand, whens, otherwise, location=place(start))

    def whens(self, *whens: When) -> tuple[When, ...]:
        """`WHEN condition THEN result` at least once."""
        return whens

    def when(self, start: Token, condition: Expression, then: Token, result: Expression) -> When:
        """`WHEN condition THEN result`."""
        return When(condition, result, location=place(start))

    def otherwise(self, start: Token, result: Expression) -> Expression:
        """`ELSE result`."""
        return result

    def cast(self, start: Token, operand: Expression, as_: Token, type_: TypeNode) -> Expression:
        """`CAST(operand AS type)`."""
        return Cast(operand, type_, location=place(start))

    def call(self, name: Token, arguments: tuple[Expression, ...] | None) -> Expression:
        """`name(arguments)`."""
        return Call(name_of(name), arguments or (), location=place(name))

    def call_star(self, name: Token) -> Expression:
        """`name(*)`."""
        return Call(name_of(name), star=True, location=place(name))

    def arguments(self, *arguments: Expression) -> tuple[Expression, ...]:
        """What stands between a call's parentheses."""
        return arguments

    def lambda_of_one(self, parameter: Expression, body: Expression) -> Expression:
        """`x => body`."""
        return self.lambda_of_several((parameter,), body)

    def lambda_of_several(self, parameters: tuple[Expression, ...], body: Expression) -> Expression:
        """`(x, y) => body`."""
        names = []
        for parameter in parameters:
            if not isinstance(parameter, Column) or parameter.source is not None:
                raise SqlSyntaxError(
                    "a lambda's parameters are names, as in (x, y) => x + y", parameter.location
                )
            names.append(parameter.name)
        start = parameters[0] if parameters else body
        return Lambda(tuple(names), body, location=start.location)

    def make_array(self, start: Token, *items: Expression | None) -> Expression:
        """`ARRAY[items]`."""
        return MakeArray(_given(items), location=place(start))

    def make_map(self, start: Token, *entries: tuple[Expression, Expression] | None) -> Expression:
        """`MAP(key := value)`."""
        return MakeMap(tuple(entry for entry in entries if entry), location=place(start))

    def make_struct(self, start: Token, *fields: tuple[str, Expression] | None) -> Expression:
        """`STRUCT(name := value)`."""
        return MakeStruct(tuple(field for field in fields if field), location=place(start))

    def map_entry(self, key: Expression, value: Expression) -> tuple[Expression, Expression]:
        """`key := value`."""
        return key, value

    def struct_entry(self, name: Token, value: Expression) -> tuple[str, Expression]:
        """`name := value`."""
        return name_of(name), value

    def expressions_in_parentheses(self, *items: Expression) -> tuple[Expression, ...]:
        """`(a, b)`."""
        return items

    def several_in_parentheses(self, *items: Expression) -> tuple[Expression, ...]:
        """`(a, b)` or `()`."""
        return items


def _given(items: tuple[Expression | None, ...]) -> tuple[Expression, ...]:
    return tuple(item for item in items if item is not None)
