"""Expressions of the language as expressions of plans, which are Spark SQL.

What ksqlDB does with nulls and with what cannot be computed is written out: a comparison with null
is false, and a number that cannot be is null where Spark would fail.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from headwater.sql.analysis.scope import ColumnMeaning, ParameterMeaning
from headwater.sql.analysis.typed import CallMeaning, Typed
from headwater.sql.analysis.values import operand
from headwater.sql.errors import SqlError
from headwater.sql.planning.casts import cast
from headwater.sql.planning.comparing import comparable
from headwater.sql.planning.formulas import constant, formula, literal
from headwater.sql.planning.formulas import field as field_name
from headwater.sql.planning.functions.all_functions import FORMULAS
from headwater.sql.planning.functions.function_call import FunctionCall
from headwater.sql.planning.operators import arithmetic, comparison, like, negated, subscript
from headwater.sql.planning.wire_types import typed as in_language
from headwater.sql.tree import expressions as ex
from headwater.sql.types.coercion import common_type
from headwater.sql.types.sql_type import BOOLEAN, NULL, Array, Map, SqlType, Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.plan.expressions.expressions import Expression


@dataclass(frozen=True)
class Translator:
    """Translates expressions; `column` says what stands for a column of a source.

    `known` has expressions that an operator before has computed: groups and aggregates.
    """

    column: Callable[[ColumnMeaning], Expression]
    known: Mapping[ex.Expression, Expression] = field(default_factory=dict)

    def translate(self, typed: Typed) -> Expression:
        """Return the expression of the plan."""
        expression = typed.expression
        if expression in self.known:
            return self.known[expression]
        match expression:
            case ex.Column():
                return self._name(typed)
            case (
                ex.NullLiteral()
                | ex.BooleanLiteral()
                | ex.IntegerLiteral()
                | ex.DecimalLiteral()
                | ex.DoubleLiteral()
                | ex.StringLiteral()
            ):
                return _literal(expression, typed.type)
            case ex.Call():
                return self._call(expression, typed)
            case ex.Lambda():
                return self.translate(typed.parts[0])
            case ex.Case():
                return self._case(expression, typed)
            case ex.MakeArray() | ex.MakeMap() | ex.MakeStruct():
                return self._maker(expression, typed)
            case _:
                return self._operator(expression, typed)

    def as_type(self, typed: Typed, wanted: SqlType) -> Expression:
        """Return the expression as a type that it becomes by itself."""
        return cast(self.translate(typed), typed.type, wanted)

    def _name(self, typed: Typed) -> Expression:
        match typed.meaning:
            case ParameterMeaning(name, type_):
                return formula(field_name(name), type_)
            case ColumnMeaning():
                return in_language(self.column(typed.meaning), typed.type)
            case _:
                raise AssertionError(f"{typed.expression} stands for nothing")

    def _operator(
        self,
        expression: ex.Dereference | ex.Subscript | ex.Sign | ex.Arithmetic | ex.Comparison
        | ex.Logical | ex.Not | ex.IsNull | ex.Between | ex.In | ex.Like | ex.Cast,
        typed: Typed,
    ) -> Expression:  # fmt: skip
        parts = [self.translate(part) for part in typed.parts]
        types = [part.type for part in typed.parts]
        match expression:
            case ex.Dereference(_, name):
                return formula(f"({{0}}).{field_name(name)}", typed.type, *parts)
            case ex.Subscript():
                return subscript(parts, types, typed.type)
            case ex.Sign(sign):
                if isinstance(expression.operand, ex.IntegerLiteral):
                    # Nothing to guard, and some of Spark's functions ask for constants.
                    return formula(f"({sign}{{0}})", typed.type, *parts)
                return parts[0] if sign == "+" else negated(parts[0], typed.type)
            case ex.Arithmetic(sign):
                return arithmetic(sign, parts, types, typed.type)
            case ex.Comparison(sign):
                return comparison(sign, parts, types)
            case ex.Logical(sign):
                return formula(f"({{0}} {sign} {{1}})", BOOLEAN, *parts)
            case ex.Not():
                return formula("(NOT {0})", BOOLEAN, *parts)
            case ex.IsNull():
                word = "IS NOT NULL" if expression.negated else "IS NULL"
                return formula(f"({{0}} {word})", BOOLEAN, *parts)
            case ex.Between():
                low = comparison(">=", [parts[0], parts[1]], [types[0], types[1]])
                high = comparison("<=", [parts[0], parts[2]], [types[0], types[2]])
                word = "NOT " if expression.negated else ""
                return formula(f"({word}({{0}} AND {{1}}))", BOOLEAN, low, high)
            case ex.In():
                return self._in(expression, typed)
            case ex.Like(_, _, escape):
                return like(parts, escape, expression.negated)
            case ex.Cast():
                return cast(parts[0], types[0], typed.type)
            case _:
                assert_never(expression)

    def _in(self, expression: ex.In, typed: Typed) -> Expression:
        wanted = common_type([operand(part) for part in typed.parts])
        parts = [comparable(self.as_type(part, wanted), wanted) for part in typed.parts]
        listed = ", ".join(f"{{{index}}}" for index in range(1, len(parts)))
        word = "NOT " if expression.negated else ""
        return formula(f"({word}coalesce({{0}} IN ({listed}), false))", BOOLEAN, *parts)

    def _case(self, case: ex.Case, typed: Typed) -> Expression:
        parts = list(typed.parts)
        subject = parts.pop(0) if case.operand is not None else None
        arguments: list[Expression] = []
        text = "CASE"
        while len(parts) > 1:
            condition, result = parts.pop(0), parts.pop(0)
            tested = self.translate(condition)
            if subject is not None:
                sides = [self.translate(subject), tested]
                tested = comparison("=", sides, [subject.type, condition.type])
            text += f" WHEN {{{len(arguments)}}} THEN {{{len(arguments) + 1}}}"
            arguments += [tested, self.as_type(result, typed.type)]
        if parts:
            text += f" ELSE {{{len(arguments)}}}"
            arguments.append(self.as_type(parts[0], typed.type))
        return formula(f"{text} END", typed.type, *arguments)

    def _maker(self, maker: ex.MakeArray | ex.MakeMap | ex.MakeStruct, typed: Typed) -> Expression:
        parts: Sequence[Typed] = typed.parts
        match typed.type:
            case Array(element):
                items = [self.as_type(part, element) for part in parts]
                return formula(f"array({_places(items)})", typed.type, *items)
            case Map(key, value):
                entries = [
                    self.as_type(part, value if index % 2 else key)
                    for index, part in enumerate(parts)
                ]
                return formula(f"map({_places(entries)})", typed.type, *entries)
            case Struct():
                values = [self.translate(part) for part in parts]
                named = (
                    f"{literal(name)}, {{{index}}}" for index, name in enumerate(typed.type.names)
                )
                return formula(f"named_struct({', '.join(named)})", typed.type, *values)
        raise AssertionError(f"{maker} makes {typed.type}")

    def _call(self, call: ex.Call, typed: Typed) -> Expression:
        meaning = typed.meaning
        assert isinstance(meaning, CallMeaning)
        name = meaning.function.name
        made = FORMULAS.get(name)
        if made is None:
            raise SqlError(f"{name} cannot be computed yet", call.location)
        units = [
            argument.name
            for argument, wanted in zip(call.arguments, meaning.call.parameters, strict=True)
            if wanted is None and isinstance(argument, ex.Column)
        ]
        wanted = [type_ for type_ in meaning.call.parameters if type_ is not None]
        arguments = tuple(
            self.translate(part)
            if isinstance(part.expression, ex.Lambda)
            else self.as_type(part, type_)
            for part, type_ in zip(typed.parts, wanted, strict=True)
        )
        return made(
            FunctionCall(
                arguments,
                tuple(wanted),
                typed.type,
                tuple(
                    part.expression.parameters if isinstance(part.expression, ex.Lambda) else ()
                    for part in typed.parts
                ),
                tuple(units),
                tuple(
                    part.expression.value if isinstance(part.expression, ex.StringLiteral) else None
                    for part in typed.parts
                ),
            )
        )


def _literal(literal: ex.Literal, type_: SqlType) -> Expression:
    if isinstance(literal, ex.NullLiteral) or type_ == NULL:
        return formula("NULL", NULL)
    return constant(literal.value, type_)


def _places(items: Sequence[object]) -> str:
    return ", ".join(f"{{{index}}}" for index in range(len(items)))
