"""Which way to call a function fits its arguments, and what it then returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, assert_never

from headwater.sql.functions.signature import (
    AnyDecimal,
    AnyType,
    ArrayOf,
    Computed,
    Exactly,
    LambdaOf,
    MapOf,
    Shape,
    Signature,
    StructOf,
    UnitOfTime,
    Variable,
)
from headwater.sql.types.arithmetic import wider_number
from headwater.sql.types.casting import can_coerce
from headwater.sql.types.coercion import says_time
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.sql_type import (
    BIGINT,
    INTEGER,
    NULL,
    STRING,
    TIMES,
    Array,
    Decimal,
    Map,
    Primitive,
    SqlType,
    Struct,
    as_decimal,
    is_number,
    kind,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.sql.functions.function import Function


@dataclass(frozen=True)
class UnitArgument:
    """A unit of time as an argument."""

    def __str__(self) -> str:
        return "INTERVALUNIT"


@dataclass(frozen=True)
class TextArgument:
    """A text in the statement as an argument, which can also say a date or a time."""

    text: str

    def __str__(self) -> str:
        return "STRING"


@dataclass(frozen=True)
class LambdaArgument:
    """A lambda as an argument: how many parameters it has, and its result's type by theirs."""

    parameters: int
    result: Callable[[Sequence[SqlType]], SqlType]

    def __str__(self) -> str:
        return f"LAMBDA with {self.parameters} parameters"


Argument: TypeAlias = SqlType | TextArgument | UnitArgument | LambdaArgument


@dataclass(frozen=True)
class ResolvedCall:
    """The signature that fits, what its parameters then are, and the type of the result.

    The type of a lambda's parameter is that of its result, and a unit of time's is None.
    """

    signature: Signature
    parameters: tuple[SqlType | None, ...]
    result: SqlType


def resolve(function: Function, arguments: Sequence[Argument]) -> ResolvedCall:
    """Return the way of calling that fits best: with the fewest conversions, and not variadic."""
    fitting = []
    for order, signature in enumerate(function.signatures):
        attempt = _Attempt()
        if attempt.fits(signature, arguments):
            cost = (attempt.conversions, signature.is_variadic, attempt.variables, order)
            fitting.append((cost, signature, attempt))
    if not fitting:
        raise TypeMismatchError(_no_way(function, arguments))
    # The error of a lambda's body is worth more than that no signature fits.
    _, signature, attempt = min(fitting, key=lambda each: each[0])
    return attempt.call(signature, arguments)


def _no_way(function: Function, arguments: Sequence[Argument]) -> str:
    given = ", ".join(str(argument) for argument in arguments)
    ways = "\n".join(f"  {function.name}{signature}" for signature in function.signatures)
    return f"{function.name} does not take ({given}), but\n{ways}"


@dataclass
class _Attempt:
    bound: dict[str, SqlType] = field(default_factory=dict)
    others: list[SqlType] = field(default_factory=list)
    conversions: int = 0
    variables: int = 0

    def fits(self, signature: Signature, arguments: Sequence[Argument]) -> bool:
        parameters = signature.spread(len(arguments))
        return parameters is not None and all(
            self._takes(parameter.shape, argument)
            for parameter, argument in zip(parameters, arguments, strict=True)
        )

    def call(self, signature: Signature, arguments: Sequence[Argument]) -> ResolvedCall:
        parameters = signature.spread(len(arguments))
        assert parameters is not None
        for parameter, argument in zip(parameters, arguments, strict=True):
            if isinstance(parameter.shape, LambdaOf) and isinstance(argument, LambdaArgument):
                self._bind_result(parameter.shape, argument)
        types = tuple(
            None if isinstance(argument, UnitArgument) else self._type(parameter.shape, argument)
            for parameter, argument in zip(parameters, arguments, strict=True)
        )
        return ResolvedCall(signature, types, self._filled(signature.result))

    def _takes(self, shape: Shape, argument: Argument) -> bool:
        match shape, argument:
            case LambdaOf(parameters, _), LambdaArgument(count, _):
                return len(parameters) == count
            case UnitOfTime(), UnitArgument():
                return True
            case (LambdaOf() | UnitOfTime(), _) | (_, LambdaArgument() | UnitArgument()):
                return False
            case Exactly(type_), TextArgument(text) if type_ in TIMES:
                self.conversions += _distance(STRING, kind(type_))
                return says_time(text)
            case _, TextArgument():
                return self._takes_type(shape, STRING)
            case _:
                return self._takes_type(shape, argument)

    def _takes_type(self, shape: Shape, given: SqlType) -> bool:
        if isinstance(shape, AnyType):
            self.others.append(given)
            return True
        if isinstance(shape, Variable):
            self.variables += 1
            return self._binds(shape.name, given)
        if given == NULL:
            return True
        match shape, given:
            case Exactly(type_), _:
                self.conversions += _distance(given, kind(type_))
                return can_coerce(given, type_)
            case AnyDecimal(), _:
                return self._takes_decimal(given)
            case ArrayOf(element), Array(inner):
                return self._takes_type(element, inner)
            case MapOf(key, value), Map(inner_key, inner_value):
                return self._takes_type(key, inner_key) and self._takes_type(value, inner_value)
            case _:
                return False

    def _takes_decimal(self, given: SqlType) -> bool:
        if not isinstance(given, Decimal) and given not in (INTEGER, BIGINT):
            return False
        self.conversions += _distance(given, "DECIMAL")
        known = self.bound.get("DECIMAL")
        self.bound["DECIMAL"] = (
            as_decimal(given) if known is None else wider_number(known, as_decimal(given))
        )
        return True

    def _binds(self, name: str, given: SqlType) -> bool:
        known = self.bound.get(name, NULL)
        if known == NULL or can_coerce(known, given):
            self.bound[name] = given if given != NULL else known
            return True
        if can_coerce(given, known):
            return True
        if is_number(known) and is_number(given):
            self.bound[name] = wider_number(known, given)
            return True
        return False

    def _bind_result(self, shape: LambdaOf, argument: LambdaArgument) -> None:
        result = argument.result([self._filled(part) for part in shape.parameters])
        if not self._takes_type(shape.result, result):
            expected = self._filled(shape.result)
            raise TypeMismatchError(f"the lambda returns {result}, where {expected} is needed")

    def _type(self, shape: Shape, argument: Argument) -> SqlType:
        match shape, argument:
            case LambdaOf(_, result), _:
                return self._filled(result)
            case AnyType(), TextArgument():
                return STRING
            case AnyType(), Primitive() | Decimal() | Array() | Map() | Struct():
                return argument
            case _:
                return self._filled(shape)

    def _filled(self, shape: Shape) -> SqlType:
        match shape:
            case Exactly(type_):
                return type_
            case Variable(name):
                return self.bound.get(name, NULL)
            case AnyDecimal():
                return self.bound.get("DECIMAL", NULL)
            case ArrayOf(element):
                return Array(self._filled(element))
            case MapOf(key, value):
                return Map(self._filled(key), self._filled(value))
            case StructOf(fields):
                return Struct(tuple((name, self._filled(part)) for name, part in fields))
            case Computed(rule):
                return _RULES[rule](self)
            case AnyType() | UnitOfTime() | LambdaOf():
                raise AssertionError(f"{shape} is no type of a value")
            case _:
                assert_never(shape)


_WIDTHS = ("INTEGER", "BIGINT", "DECIMAL", "DOUBLE")


def _distance(given: SqlType, wanted: str) -> int:
    """Return by how many types a number is widened, so that the nearest one is taken."""
    if kind(given) in _WIDTHS and wanted in _WIDTHS:
        return _WIDTHS.index(wanted) - _WIDTHS.index(kind(given))
    return 0 if kind(given) == wanted else len(_WIDTHS)


def _whole_decimal(attempt: _Attempt) -> SqlType:
    given = attempt.bound.get("DECIMAL", NULL)
    if not isinstance(given, Decimal):
        return NULL
    return Decimal(max(1, given.precision - given.scale), 0)


def _top_rows(attempt: _Attempt) -> SqlType:
    others = tuple((f"COL{index}", type_) for index, type_ in enumerate(attempt.others))
    return Array(Struct((("SORT_COL", attempt.bound.get("T", NULL)), *others)))


_RULES: dict[str, Callable[[_Attempt], SqlType]] = {
    "whole_decimal": _whole_decimal,
    "top_rows": _top_rows,
}
