"""Expressions: literals, columns, operators, calls, lambdas, and the makers of nested values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from headwater.sql.tree.node import Node

if TYPE_CHECKING:
    import decimal

    from headwater.sql.tree.types import TypeNode


@dataclass(frozen=True)
class NullLiteral(Node):
    """`NULL`."""


@dataclass(frozen=True)
class BooleanLiteral(Node):
    """`TRUE` or `FALSE`."""

    value: bool


@dataclass(frozen=True)
class IntegerLiteral(Node):
    """A whole number: an INTEGER, or a BIGINT where it needs to be."""

    value: int


@dataclass(frozen=True)
class DecimalLiteral(Node):
    """A number with a point and no exponent, such as `1.50`; its digits say its type."""

    value: decimal.Decimal


@dataclass(frozen=True)
class DoubleLiteral(Node):
    """A number with an exponent, such as `1.5E3`."""

    value: float


@dataclass(frozen=True)
class StringLiteral(Node):
    """A text in single quotes."""

    value: str


Literal: TypeAlias = (
    NullLiteral | BooleanLiteral | IntegerLiteral | DecimalLiteral | DoubleLiteral | StringLiteral
)


@dataclass(frozen=True)
class Column(Node):
    """A column, a lambda's parameter or a unit of time, by its name; `source` is before the dot."""

    name: str
    source: str | None = None


@dataclass(frozen=True)
class Dereference(Node):
    """A field of a struct: `base->field`."""

    base: Expression
    field: str


@dataclass(frozen=True)
class Subscript(Node):
    """An element of an array or a value of a map: `base[index]`."""

    base: Expression
    index: Expression


@dataclass(frozen=True)
class Sign(Node):
    """A sign before a value: `-x` or `+x`."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Arithmetic(Node):
    """`+`, `-`, `*`, `/` or `%`; `+` also joins texts."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Comparison(Node):
    """`=`, `<>`, `<`, `<=`, `>`, `>=`, `IS DISTINCT FROM` or `IS NOT DISTINCT FROM`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Logical(Node):
    """`AND` or `OR`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Not(Node):
    """`NOT operand`."""

    operand: Expression


@dataclass(frozen=True)
class IsNull(Node):
    """`operand IS NULL`, or with `negated` `IS NOT NULL`."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True)
class Between(Node):
    """`operand [NOT] BETWEEN low AND high`."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False


@dataclass(frozen=True)
class In(Node):
    """`operand [NOT] IN (items)`."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True)
class Like(Node):
    """`operand [NOT] LIKE pattern [ESCAPE 'x']`."""

    operand: Expression
    pattern: Expression
    escape: str | None = None
    negated: bool = False


@dataclass(frozen=True)
class When(Node):
    """`WHEN condition THEN result`."""

    condition: Expression
    result: Expression


@dataclass(frozen=True)
class Case(Node):
    """`CASE [operand] WHEN ... [ELSE otherwise] END`."""

    operand: Expression | None
    whens: tuple[When, ...]
    otherwise: Expression | None = None


@dataclass(frozen=True)
class Cast(Node):
    """`CAST(operand AS type)`."""

    operand: Expression
    type: TypeNode


@dataclass(frozen=True)
class Lambda(Node):
    """`(parameters) => body`, an argument of a function."""

    parameters: tuple[str, ...]
    body: Expression


@dataclass(frozen=True)
class Call(Node):
    """A function with its arguments; `COUNT(*)` has `star`."""

    name: str
    arguments: tuple[Expression, ...] = ()
    star: bool = False


@dataclass(frozen=True)
class MakeArray(Node):
    """`ARRAY[items]`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class MakeMap(Node):
    """`MAP(key := value, ...)`."""

    entries: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class MakeStruct(Node):
    """`STRUCT(name := value, ...)`."""

    fields: tuple[tuple[str, Expression], ...]


Expression: TypeAlias = (
    Literal
    | Column
    | Dereference
    | Subscript
    | Sign
    | Arithmetic
    | Comparison
    | Logical
    | Not
    | IsNull
    | Between
    | In
    | Like
    | Case
    | Cast
    | Lambda
    | Call
    | MakeArray
    | MakeMap
    | MakeStruct
)
