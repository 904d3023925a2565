"""Expressions over a record, as plain data: columns, literals, operators and functions.

`col("value") > 800_000` builds a tree; nothing is computed in Python. `sql(scope)` writes the tree
as Spark SQL over the columns of a scope, `type_in(scope)` works out its type and refuses names and
types that do not fit.
"""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from headwater.plan.errors import ExpressionError
from headwater.plan.expressions import signatures
from headwater.plan.expressions.operators import ExpressionLike, Operators
from headwater.plan.schemas.coercion import SignatureError, common_type
from headwater.plan.schemas.ddl import parse_ddl
from headwater.plan.schemas.literals import literal_sql, literal_type
from headwater.plan.schemas.types import (
    BOOLEAN,
    INTEGERS,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    backticked,
    quoted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.plan.expressions.scope import Scope


class Expression(Operators):
    """A value computed from a record."""

    @abstractmethod
    def sql(self, scope: Scope) -> str:
        """Return Spark SQL text over the scope's columns."""

    @abstractmethod
    def type_in(self, scope: Scope) -> DataType:
        """Return the type; refuse what does not fit with an `ExpressionError`."""

    @abstractmethod
    def __str__(self) -> str: ...

    @property
    def name(self) -> str | None:
        """The name that the value has by itself: a column's own, or an alias."""
        return None

    def cast(self, to: str | DataType) -> Expression:
        """Turn the value into another type, given as DDL text."""
        return Cast(self, parse_ddl(to) if isinstance(to, str) else to)

    def alias(self, name: str) -> Expression:
        """Give the value a name, for a struct it becomes part of."""
        return Alias(self, name)

    def getField(self, name: str) -> Expression:  # noqa: N802 - Spark's name
        """Return a field of a struct."""
        return FieldOf(self, name)

    def getItem(self, key: ExpressionLike) -> Expression:  # noqa: N802 - Spark's name
        """Return an element of an array, counted from 0, or a value of a map."""
        return ItemOf(self, as_operand(key))

    def _call(self, function: str, *others: ExpressionLike) -> Expression:
        return Call(function, (self, *(as_operand(other) for other in others)))

    def _called_by(self, function: str, other: ExpressionLike) -> Expression:
        return Call(function, (as_operand(other), self))

    def __getitem__(self, key: ExpressionLike) -> Expression:
        return self.getItem(key)

    def __iter__(self) -> Iterator[NoReturn]:
        raise TypeError(f"{self} is one value: iterating over it has no end")

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self} has no truth value before a record is there: use & for and, | for or, ~ for "
            "not, and put comparisons in parentheses"
        )


def as_operand(given: ExpressionLike) -> Expression:
    """Return an expression as it is and anything else as a literal."""
    return given if isinstance(given, Expression) else Literal(given)


@dataclass(frozen=True, eq=False)
class Column(Expression):
    """A name: a field of the value, or the record's key, value, timestamp, ..."""

    path: tuple[str, ...]

    def sql(self, scope: Scope) -> str:
        """Return the column that the name stands for."""
        return scope.resolve(self.path).sql

    def type_in(self, scope: Scope) -> DataType:
        """Return the type of the column."""
        return scope.resolve(self.path).type

    @property
    def name(self) -> str | None:
        """The last part of the name."""
        return self.path[-1]

    def __str__(self) -> str:
        return ".".join(quoted(part) for part in self.path)


@dataclass(frozen=True, eq=False)
class Literal(Expression):
    """A constant."""

    value: Any

    def sql(self, scope: Scope) -> str:
        """Return the constant as Spark reads it."""
        return literal_sql(self.value)

    def type_in(self, scope: Scope) -> DataType:
        """Return the constant's type."""
        return literal_type(self.value)

    def __str__(self) -> str:
        return literal_sql(self.value)


@dataclass(frozen=True, eq=False)
class Call(Expression):
    """An operator or a function of Spark's, by its name in SQL."""

    function: str
    arguments: tuple[Expression, ...]

    def sql(self, scope: Scope) -> str:
        """Return the call over the scope's columns."""
        return _call_text(self.function, [argument.sql(scope) for argument in self.arguments])

    def type_in(self, scope: Scope) -> DataType:
        """Return the type that the function's signature gives."""
        types = self._argument_types(scope)
        try:
            return signatures.result_type(self.function, types)
        except signatures.UnknownFunctionError as error:
            raise UnknownTypeError(f"{self}: {error}") from error
        except SignatureError as error:
            raise ExpressionError(f"{self}: {error}") from error

    def _argument_types(self, scope: Scope) -> list[DataType]:
        types = [argument.type_in(scope) for argument in self.arguments]
        if self.function in _INFIX and any(isinstance(type_, Decimal) for type_ in types):
            # Beside a decimal, Spark counts the digits of a whole number that is written out.
            return [
                Decimal(len(str(abs(argument.value))))
                if isinstance(argument, Literal) and type_ in INTEGERS
                else type_
                for argument, type_ in zip(self.arguments, types, strict=True)
            ]
        return types

    def __str__(self) -> str:
        return _call_text(self.function, [str(argument) for argument in self.arguments])


@dataclass(frozen=True, eq=False)
class Cast(Expression):
    """A value turned into another type."""

    value: Expression
    to: DataType

    def sql(self, scope: Scope) -> str:
        """Return the cast over the scope's columns."""
        return f"CAST({self.value.sql(scope)} AS {self.to.ddl()})"

    def type_in(self, scope: Scope) -> DataType:
        """Return the type that was asked for, when the names inside exist."""
        # A cast is what the error about an unknown type asks for.
        with contextlib.suppress(UnknownTypeError):
            self.value.type_in(scope)
        return self.to

    @property
    def name(self) -> str | None:
        """The name of what is cast."""
        return self.value.name

    def __str__(self) -> str:
        return f"cast({self.value} as {self.to.ddl()})"


@dataclass(frozen=True, eq=False)
class Alias(Expression):
    """A value with a name of its own."""

    value: Expression
    alias_name: str

    def sql(self, scope: Scope) -> str:
        """Return the value; whoever uses it takes the name."""
        return self.value.sql(scope)

    def type_in(self, scope: Scope) -> DataType:
        """Return the value's type."""
        return self.value.type_in(scope)

    @property
    def name(self) -> str | None:
        """The name."""
        return self.alias_name

    def __str__(self) -> str:
        return f"{self.value} as {quoted(self.alias_name)}"


@dataclass(frozen=True, eq=False)
class FieldOf(Expression):
    """A field of a struct that an expression gives."""

    value: Expression
    field: str

    def sql(self, scope: Scope) -> str:
        """Return the field's text."""
        return f"({self.value.sql(scope)}).{backticked(self.field)}"

    def type_in(self, scope: Scope) -> DataType:
        """Return the field's type."""
        type_ = self.value.type_in(scope)
        if not isinstance(type_, Struct):
            raise ExpressionError(f"{self}: {type_.ddl()} is no struct and has no fields")
        found = type_.field(self.field)
        if found is None:
            names = ", ".join(type_.names)
            raise ExpressionError(f"{self}: there is no field {self.field!r} (there are {names})")
        return found.type

    @property
    def name(self) -> str | None:
        """The field's name."""
        return self.field

    def __str__(self) -> str:
        return f"{self.value}.{quoted(self.field)}"


@dataclass(frozen=True, eq=False)
class ItemOf(Expression):
    """An element of an array or a value of a map."""

    value: Expression
    key: Expression

    def sql(self, scope: Scope) -> str:
        """Return null for what is not there, as Python's users of Spark know it."""
        container = self.value.sql(scope)
        key = self.key.sql(scope)
        if isinstance(self.value.type_in(scope), Map):
            return f"try_element_at({container}, {key})"
        return f"get({container}, {key})"

    def type_in(self, scope: Scope) -> DataType:
        """Return the type of the elements."""
        type_ = self.value.type_in(scope)
        key_type = self.key.type_in(scope)
        if isinstance(type_, Array) and key_type in INTEGERS:
            return type_.element
        if isinstance(type_, Map):
            return type_.value
        raise ExpressionError(
            f"{self}: {type_.ddl()} cannot be indexed with {key_type.ddl()} (an array is indexed "
            "with a whole number, a map with its key)"
        )

    def __str__(self) -> str:
        return f"{self.value}[{self.key}]"


@dataclass(frozen=True, eq=False)
class Case(Expression):
    """The value of the first branch whose condition holds."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None = None

    def when(self, condition: Expression, value: ExpressionLike) -> Case:
        """Add a branch."""
        return Case((*self.branches, (condition, as_operand(value))), self.default)

    def otherwise(self, value: ExpressionLike) -> Case:
        """Say the value where no condition holds; without it that is null."""
        return Case(self.branches, as_operand(value))

    def sql(self, scope: Scope) -> str:
        """Return the branches over the scope's columns."""
        return self._text([(c.sql(scope), v.sql(scope)) for c, v in self.branches], scope)

    def type_in(self, scope: Scope) -> DataType:
        """Return the type that all branches share."""
        for condition, _ in self.branches:
            given = condition.type_in(scope)
            if given != BOOLEAN:
                raise ExpressionError(f"{condition}: a condition is boolean, this is {given.ddl()}")
        values = [value for _, value in self.branches]
        types = [value.type_in(scope) for value in values]
        if self.default is not None:
            types.append(self.default.type_in(scope))
        try:
            return common_type(types)
        except SignatureError as error:
            raise ExpressionError(f"{self}: {error}") from error

    def _text(self, branches: list[tuple[str, str]], scope: Scope | None) -> str:
        text = "".join(f" WHEN {condition} THEN {value}" for condition, value in branches)
        if self.default is not None:
            default = self.default.sql(scope) if scope is not None else str(self.default)
            text += f" ELSE {default}"
        return f"CASE{text} END"

    def __str__(self) -> str:
        return self._text([(str(c), str(v)) for c, v in self.branches], None)


@dataclass(frozen=True, eq=False)
class StructOf(Expression):
    """A struct with named fields, which is what a projection makes."""

    fields: tuple[tuple[str, Expression], ...]

    def sql(self, scope: Scope) -> str:
        """Return Spark's named_struct."""
        parts = (f"{literal_sql(name)}, {value.sql(scope)}" for name, value in self.fields)
        return f"named_struct({', '.join(parts)})"

    def type_in(self, scope: Scope) -> DataType:
        """Return a struct of the fields' types."""
        return Struct(tuple(Field(name, value.type_in(scope)) for name, value in self.fields))

    def __str__(self) -> str:
        return "{" + ", ".join(f"{name}: {value}" for name, value in self.fields) + "}"


class UnknownTypeError(ExpressionError):
    """A function whose result type is not known here; a cast or `returns=` says it."""


_INFIX = ("+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "<=>", "and", "or", "like",
          "rlike", "||", "div", "&", "|", "^")  # fmt: skip


def _call_text(function: str, arguments: list[str]) -> str:
    if function in _INFIX:
        return f"({arguments[0]} {function.upper()} {arguments[1]})"
    if function == "not":
        return f"(NOT {arguments[0]})"
    if function == "in":
        return f"({arguments[0]} IN ({', '.join(arguments[1:])}))"
    return f"{function}({', '.join(arguments)})"
