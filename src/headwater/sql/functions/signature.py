"""What a function takes and returns: types with places left open, to be filled by arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from headwater.sql.types.sql_type import SqlType


@dataclass(frozen=True)
class Exactly:
    """One type."""

    type: SqlType

    def __str__(self) -> str:
        return str(self.type)


@dataclass(frozen=True)
class Variable:
    """Any type, the same one wherever the variable stands in a signature."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class AnyDecimal:
    """A decimal of any digits; those of the result are those of the argument."""

    def __str__(self) -> str:
        return "DECIMAL"


@dataclass(frozen=True)
class AnyType:
    """Any type, a different one at each argument."""

    def __str__(self) -> str:
        return "ANY"


@dataclass(frozen=True)
class UnitOfTime:
    """A word such as DAYS."""

    def __str__(self) -> str:
        return "INTERVALUNIT"


@dataclass(frozen=True)
class ArrayOf:
    """An array."""

    element: Shape

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True)
class MapOf:
    """A map."""

    key: Shape
    value: Shape

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True)
class StructOf:
    """A struct with these fields."""

    fields: tuple[tuple[str, Shape], ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(f'{name} {shape}' for name, shape in self.fields)}>"


@dataclass(frozen=True)
class LambdaOf:
    """A lambda with these parameters and this result."""

    parameters: tuple[Shape, ...]
    result: Shape

    def __str__(self) -> str:
        return f"LAMBDA ({', '.join(str(part) for part in self.parameters)}) => {self.result}"


@dataclass(frozen=True)
class Computed:
    """A result whose type a rule of this name finds from those of the arguments."""

    rule: str

    def __str__(self) -> str:
        return self.rule


Shape: TypeAlias = (
    Exactly
    | Variable
    | AnyDecimal
    | AnyType
    | UnitOfTime
    | ArrayOf
    | MapOf
    | StructOf
    | LambdaOf
    | Computed
)


@dataclass(frozen=True)
class Parameter:
    """A named place for an argument, or with `is_variadic` for any number of them."""

    name: str
    shape: Shape
    is_variadic: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.shape}{'[]' if self.is_variadic else ''}"


@dataclass(frozen=True)
class Signature:
    """One way to call a function."""

    parameters: tuple[Parameter, ...]
    result: Shape

    @property
    def is_variadic(self) -> bool:
        """Whether it takes any number of arguments."""
        return any(parameter.is_variadic for parameter in self.parameters)

    def spread(self, count: int) -> tuple[Parameter, ...] | None:
        """Return the parameter of each of so many arguments, or None if they do not fit."""
        given: list[Parameter] = []
        repeats = count - len(self.parameters) + 1
        for parameter in self.parameters:
            given += [parameter] * (max(0, repeats) if parameter.is_variadic else 1)
        return tuple(given) if len(given) == count else None

    def __str__(self) -> str:
        return f"({', '.join(str(parameter) for parameter in self.parameters)}) {self.result}"
