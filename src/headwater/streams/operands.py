"""What users give to an operator, made into an operand: an expression, SQL text or a function."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.plan.errors import ExpressionError, PlanError
from headwater.plan.expressions.expressions import Cast, Column, Expression, StructOf
from headwater.plan.expressions.python_function import PythonFunction, Shape, name_of, takes_key
from headwater.plan.expressions.sql_text import SqlText
from headwater.plan.schemas.types import BOOLEAN, Array, Struct, as_nullable
from headwater.streams.types import TypeLike, as_class, as_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.plan.expressions.scope import Scope
    from headwater.plan.nodes import Operand
    from headwater.plan.schemas.types import DataType

OperandLike: TypeAlias = "Expression | str | Callable[..., Any]"
FieldLike: TypeAlias = "Expression | str"
ALL = "*"


@dataclass(frozen=True)
class Classes:
    """The dataclasses that keys and values are instances of, where they were declared by one."""

    key: type | None = None
    value: type | None = None


UNDECLARED = Classes()


@dataclass(frozen=True)
class Typed:
    """An operand with its type, and the dataclass of that type if there is one."""

    operand: Operand
    type: DataType
    class_: Any = None

    def expression(self, why: str) -> Expression:
        """Return the operand where only an expression will do."""
        if isinstance(self.operand, PythonFunction):
            raise PlanError(
                f"{self.operand.name} is a Python function: {why} takes an expression or SQL text"
            )
        return self.operand


def as_expression(given: FieldLike) -> Expression:
    """Return an expression, or SQL text as one."""
    if isinstance(given, Expression):
        return given
    if isinstance(given, str):
        return SqlText(given)
    raise _not_an_operand(given)


def typed(
    given: OperandLike,
    scope: Scope,
    *,
    returns: TypeLike | None = None,
    classes: Classes = UNDECLARED,
    shape: Shape = "value",
) -> Typed:
    """Return an operand and its type over the names of a scope."""
    if isinstance(given, Expression | str):
        expression = as_expression(given)
        if returns is not None:
            expression = Cast(expression, as_type(returns))
        return Typed(expression, expression.type_in(scope), as_class(returns))
    if not callable(given):
        raise _not_an_operand(given)
    declared, class_ = _declared(given, returns, shape)
    function = PythonFunction(
        given, declared, takes_key(given), shape, classes.key, classes.value
    )  # fmt: skip
    return Typed(function, declared, class_)


def predicate(given: OperandLike, scope: Scope, classes: Classes) -> Operand:
    """Return an operand that is true or false."""
    returns = bool if callable(given) and not isinstance(given, Expression) else None
    found = typed(given, scope, returns=returns, classes=classes)
    if found.type != BOOLEAN:
        raise ExpressionError(f"{given}: a condition is boolean, this is {found.type.ddl()}")
    return found.operand


def projection(
    keeps_all: bool, fields: Mapping[str, FieldLike], scope: Scope, value: DataType
) -> Typed:
    """Return a struct of named expressions, after the fields there are if they are kept."""
    parts: dict[str, Expression] = {}
    if keeps_all:
        if not isinstance(value, Struct):
            raise ExpressionError(f"'*' stands for fields, and a {value.ddl()} has none")
        parts = {name: Column(("record", "value", name)) for name in value.names}
    parts |= {name: as_expression(given) for name, given in fields.items()}
    struct = StructOf(tuple(parts.items()))
    return Typed(struct, struct.type_in(scope))


def key_of_columns(columns: Sequence[OperandLike]) -> StructOf:
    """Return a key of several columns, each under its own name."""
    fields: dict[str, Expression] = {}
    for given in columns:
        if not isinstance(given, Expression | str):
            raise PlanError(f"{given!r}: the columns of a key are expressions, not functions")
        column = as_expression(given)
        if column.name is None:
            raise ExpressionError(f"{column}: a column of a key has a name; write {column} AS ...")
        if column.name in fields:
            raise ExpressionError(f"{column}: the key has a column {column.name!r} already")
        fields[column.name] = column
    return StructOf(tuple(fields.items()))


def check_same(given: DataType, wanted: DataType, what: str) -> None:
    """Refuse a type that differs in more than what may be null."""
    if as_nullable(given) != as_nullable(wanted):
        raise ExpressionError(f"{what}: {given.ddl()} is not {wanted.ddl()}; cast one of them")


def _not_an_operand(given: object) -> ExpressionError:
    return ExpressionError(
        f"{given!r} is neither an expression nor SQL text: write a constant as lit({given!r})"
    )


def _declared(
    function: Callable[..., Any], returns: TypeLike | None, shape: Shape
) -> tuple[DataType, type | None]:
    if returns is None:
        returns = _annotation(function)
        if returns is None:
            raise PlanError(
                f"{name_of(function)} does not say what it returns: annotate it, "
                f"or give {_EXAMPLES[shape]}"
            )
        if shape in ("values", "pairs"):
            (returns, *_) = typing.get_args(returns) or (returns,)
    if shape in ("value", "values"):
        type_ = as_type(returns)
        return (Array(type_) if shape == "values" else type_), as_class(returns)
    pair = returns if isinstance(returns, tuple) else typing.get_args(returns)
    if len(pair) != 2:
        raise PlanError(
            f"{name_of(function)} must return a key and a value: give {_EXAMPLES[shape]}"
        )
    struct = Struct.of(key=as_type(pair[0]), value=as_type(pair[1]))
    return (Array(struct) if shape == "pairs" else struct), as_class(pair[1])


_EXAMPLES: dict[Shape, str] = {
    "value": 'returns="double", returns="id string, value double" or a dataclass',
    "values": 'returns="string", the type of one value',
    "pair": 'returns=("string", "id string, value double")',
    "pairs": 'returns=("string", "id string, value double"), the types of one pair',
}


def _annotation(function: Callable[..., Any]) -> Any:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        hints = typing.get_type_hints(target)
    except (NameError, TypeError) as error:
        raise PlanError(
            f"the annotations of {name_of(function)} cannot be read: {error}"
        ) from error
    return hints.get("return")
