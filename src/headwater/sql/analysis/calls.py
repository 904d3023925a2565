"""Calls of functions: their arguments, lambdas and units of time among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.analysis.typed import CallMeaning, Typed
from headwater.sql.errors import SqlError
from headwater.sql.functions.catalogue.all_functions import find_function
from headwater.sql.functions.function import Function, FunctionKind
from headwater.sql.functions.resolution import (
    Argument,
    LambdaArgument,
    TextArgument,
    UnitArgument,
    resolve,
)
from headwater.sql.functions.signature import UnitOfTime
from headwater.sql.tree.expressions import Call, Column, Expression, Lambda, StringLiteral
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.words import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.sql.analysis.scope import Scope
    from headwater.sql.types.sql_type import SqlType

    Analyse = Callable[[Expression, Scope], Typed]


def analyse_call(call: Call, scope: Scope, analyse: Analyse) -> Typed:
    """Return a call with the types of its arguments and its own."""
    try:
        function = find_function(call.name)
    except TypeMismatchError as error:
        raise SqlError(str(error), call.location) from None
    if call.star and function.name != "COUNT":
        raise SqlError(f"{call.name} does not take *; only COUNT does", call.location)
    arguments = [
        _Argument(given, index, function, scope, analyse)
        for index, given in enumerate(call.arguments)
    ]
    try:
        resolved = resolve(function, [argument.given for argument in arguments])
    except TypeMismatchError as error:
        raise SqlError(str(error), call.location) from None
    parts = tuple(argument.typed for argument in arguments if argument.typed is not None)
    _refuse_nested(call, function, parts)
    return Typed(call, resolved.result, parts, CallMeaning(function, resolved))


class _Argument:
    """An argument as the function's signatures see it; a lambda is typed when one was chosen."""

    def __init__(
        self, expression: Expression, index: int, function: Function, scope: Scope, analyse: Analyse
    ) -> None:
        self._scope, self._analyse = scope, analyse
        self.typed: Typed | None = None
        self.given: Argument
        if isinstance(expression, Lambda):
            self._lambda = expression
            self.given = LambdaArgument(len(expression.parameters), self._result)
        elif _is_unit(expression, index, function):
            self.given = UnitArgument()
        else:
            self.typed = analyse(expression, scope)
            self.given = (
                TextArgument(expression.value)
                if isinstance(expression, StringLiteral)
                else self.typed.type
            )

    def _result(self, types: Sequence[SqlType]) -> SqlType:
        inner = self._scope.with_parameters(self._lambda.parameters, types)
        body = self._analyse(self._lambda.body, inner)
        self.typed = Typed(self._lambda, body.type, (body,))
        return body.type


def _is_unit(expression: Expression, index: int, function: Function) -> bool:
    return (
        isinstance(expression, Column)
        and expression.source is None
        and expression.name in TIME_UNITS
        and any(
            index < len(signature.parameters)
            and isinstance(signature.parameters[index].shape, UnitOfTime)
            for signature in function.signatures
        )
    )


def _refuse_nested(call: Call, function: Function, parts: Sequence[Typed]) -> None:
    if function.kind is FunctionKind.SCALAR:
        return
    for part in parts:
        for inner in part.walk():
            if isinstance(inner.meaning, CallMeaning) and (
                inner.meaning.function.kind is function.kind
            ):
                kind = function.kind.value.lower()
                raise SqlError(
                    f"{call.name} cannot have {inner.meaning.function.name} in it: "
                    f"both are {kind} functions",
                    inner.expression.location,
                )
