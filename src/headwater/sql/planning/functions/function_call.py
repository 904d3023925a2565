"""A call of a function with translated arguments, and the ways to write its formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from headwater.sql.planning.formulas import field, formula

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.expressions.formulas import Formula
    from headwater.sql.types.sql_type import SqlType


@dataclass(frozen=True)
class FunctionCall:
    """Arguments in the types that the function takes, and the type of the result.

    `parameters` has for each argument the names of its lambda's parameters, `units` the units of
    time among the arguments, `texts` the arguments that are written out as texts.
    """

    arguments: tuple[Expression, ...]
    types: tuple[SqlType, ...]
    result: SqlType
    parameters: tuple[tuple[str, ...], ...] = ()
    units: tuple[str, ...] = ()
    texts: tuple[str | None, ...] = ()

    def formula(self, template: str) -> Formula:
        """Return a text of Spark SQL over the arguments."""
        return formula(template, self.result, *self.arguments)

    def lambda_(self, index: int) -> str:
        """Return the names of a lambda's parameters as Spark writes them before the arrow."""
        names = ", ".join(field(name) for name in self.parameters[index])
        return f"({names})" if len(self.parameters[index]) > 1 else names


FormulaMaker: TypeAlias = Callable[[FunctionCall], "Expression"]


def text(template: str) -> FormulaMaker:
    """Return a function that is a text over its arguments."""
    return lambda call: call.formula(template)


def named(name: str) -> FormulaMaker:
    """Return a function that Spark has under a name, with the same arguments."""

    def make(call: FunctionCall) -> Expression:
        places = ", ".join(f"{{{index}}}" for index in range(len(call.arguments)))
        return call.formula(f"{name}({places})")

    return make


def by_count(*templates: str) -> FormulaMaker:
    """Return a function with a text for each number of arguments, from the smallest number on."""

    def make(call: FunctionCall) -> Expression:
        first = max(_places(templates[0]))
        return call.formula(templates[len(call.arguments) - first - 1])

    return make


def _places(template: str) -> list[int]:
    return [index for index in range(10) if f"{{{index}}}" in template]
