"""Reads Spark SQL expressions with sqlglot, into this package's own expressions.

sqlglot is imported here alone, and this module only when a program has SQL text in it.
"""

from __future__ import annotations

import decimal
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser

from headwater.plan.errors import ExpressionError
from headwater.plan.expressions import signatures
from headwater.plan.expressions.expressions import (
    Alias,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    FieldOf,
    ItemOf,
    Literal,
    UnknownTypeError,
)
from headwater.plan.schemas.ddl import parse_ddl
from headwater.plan.schemas.types import INTERVAL, TypeTextError

if TYPE_CHECKING:
    from headwater.plan.expressions.scope import Scope
    from headwater.plan.schemas.types import DataType


class _Parser(SparkParser):
    """Keeps every function under the name that the user wrote."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parser
        for name, parser in SparkParser.FUNCTION_PARSERS.items()
        if name in ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "POSITION")
    }


class _Dialect(Spark):
    Parser = _Parser


@dataclass(frozen=True)
class Parsed:
    """SQL text that was read: where its names are, and the same as an expression."""

    text: str
    names: tuple[tuple[int, int, tuple[str, ...]], ...]
    expression: Expression

    def sql(self, scope: Scope) -> str:
        """Return the text with columns in the place of names."""
        text = self.text
        for start, end, path in sorted(self.names, reverse=True):
            text = f"{text[:start]}{scope.resolve(path).sql}{text[end:]}"
        return text

    def type_in(self, scope: Scope) -> DataType:
        """Return the type; a wrong name is refused also where the type is not known."""
        for _, _, path in self.names:
            scope.resolve(path)
        return self.expression.type_in(scope)

    @property
    def name(self) -> str | None:
        """The name that the expression has by itself."""
        return self.expression.name


@functools.lru_cache(maxsize=1_000)
def parse(text: str) -> Parsed:
    """Read an expression; refuse what is none."""
    try:
        tree = sqlglot.parse_one(text, dialect=_Dialect)
    except SqlglotError as error:
        reason = str(error).partition("\n")[0].replace("\x1b[4m", "").replace("\x1b[0m", "")
        raise ExpressionError(
            f"cannot read {text!r} as Spark SQL: {reason} (a name that is also a word of SQL needs "
            "backticks)"
        ) from error
    forbidden = tree.find(exp.Query, exp.Command, exp.Window, exp.DDL, exp.DML, exp.Star)
    if forbidden is not None:
        raise ExpressionError(
            f"{text!r} is no expression over one record: {forbidden.sql(dialect='spark')!r} has no "
            "place in it"
        )
    if isinstance(tree, exp.Alias):
        text = _without_alias(text, tree)
    return Parsed(text, tuple(_names(tree)), _expression(tree))


def _without_alias(text: str, tree: exp.Alias) -> str:
    text = text[: int(tree.args["alias"].meta["start"])].rstrip()
    return text[:-2].rstrip() if text.lower().endswith((" as", ")as", "`as")) else text


def _names(tree: exp.Expr) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the outermost dotted names with their place in the text."""
    found = []
    for column in tree.find_all(exp.Column):
        parts = _path(column)
        last = column
        while isinstance(last.parent, exp.Dot) and last.parent.this is last:
            last = last.parent  # type: ignore[assignment]
            parts = (*parts, last.expression.name)
        places = [identifier.meta for identifier in last.find_all(exp.Identifier)]
        start = min(int(place["start"]) for place in places)
        end = max(int(place["end"]) for place in places) + 1
        found.append((start, end, parts))
    return found


def _path(column: exp.Column) -> tuple[str, ...]:
    return tuple(part.name for part in column.parts)


_BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div",
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.NullSafeEQ: "<=>", exp.And: "and", exp.Or: "or", exp.Like: "like", exp.ILike: "ilike",
    exp.RegexpLike: "rlike", exp.DPipe: "||", exp.BitwiseAnd: "&", exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}  # fmt: skip


def _expression(tree: exp.Expr) -> Expression:
    operator = _BINARY.get(type(tree))
    if operator is not None:
        return Call(operator, (_expression(tree.this), _expression(tree.expression)))
    match tree:
        case exp.Paren():
            return _expression(tree.this)
        case exp.Column():
            return Column(_path(tree))
        case exp.Dot():
            return FieldOf(_expression(tree.this), tree.expression.name)
        case exp.Boolean():
            return Literal(bool(tree.this))
        case exp.Null():
            return Literal(None)
        case exp.Literal():
            return _literal(tree)
        case exp.HexString():
            return Literal(bytes.fromhex(tree.name))
        case exp.Neg():
            return Call("negative", (_expression(tree.this),))
        case exp.Not():
            return Call("not", (_expression(tree.this),))
        case exp.Is():
            return Call("isnull", (_expression(tree.this),))
        case exp.Alias():
            return Alias(_expression(tree.this), tree.alias)
    return _compound(tree)


def _compound(tree: exp.Expr) -> Expression:
    match tree:
        case exp.Cast() | exp.TryCast():
            return Cast(_expression(tree.this), _type(tree.to))
        case exp.In():
            values = tuple(_expression(value) for value in tree.expressions)
            return Call("in", (_expression(tree.this), *values))
        case exp.Between():
            value = _expression(tree.this)
            return value.between(_expression(tree.args["low"]), _expression(tree.args["high"]))
        case exp.Case():
            return _case(tree)
        case exp.If():
            branch = (_expression(tree.this), _expression(tree.args["true"]))
            default = tree.args.get("false")
            return Case((branch,), None if default is None else _expression(default))
        case exp.Bracket():
            return ItemOf(_expression(tree.this), _expression(tree.expressions[0]))
        case exp.Interval():
            return Cast(Literal(None), INTERVAL)
        case exp.Extract():
            return Call(tree.name.lower(), (_expression(tree.expression),))
        case exp.Anonymous():
            return Call(tree.name.lower(), tuple(_expression(part) for part in tree.expressions))
        case exp.Func() if signatures.is_known(tree.sql_name()):
            parts = (tree.args.get(name) for name in tree.arg_types)
            arguments = (_expression(part) for part in parts if isinstance(part, exp.Expr))
            return Call(tree.sql_name().lower(), tuple(arguments))
    return _Untyped(tree.sql(dialect="spark"))


def _case(tree: exp.Case) -> Expression:
    subject = None if tree.this is None else _expression(tree.this)
    branches = []
    for branch in tree.args["ifs"]:
        condition = _expression(branch.this)
        if subject is not None:
            condition = subject == condition
        branches.append((condition, _expression(branch.args["true"])))
    default = tree.args.get("default")
    return Case(tuple(branches), None if default is None else _expression(default))


def _literal(tree: exp.Literal) -> Expression:
    if tree.is_string:
        return Literal(tree.name)
    if tree.name.isdecimal():
        return Literal(int(tree.name))
    if "e" in tree.name.lower():
        return Literal(float(tree.name))
    return Literal(decimal.Decimal(tree.name))


def _type(tree: exp.DataType) -> DataType:
    text = tree.sql(dialect="spark")
    try:
        return parse_ddl(text)
    except TypeTextError as error:
        raise ExpressionError(str(error)) from error


@dataclass(frozen=True, eq=False)
class _Untyped(Expression):
    """Something that Spark can compute but whose type is not known here."""

    text: str

    def sql(self, scope: Scope) -> str:
        """Return the text as it stands; what goes to Spark is what the user wrote around it."""
        return self.text

    def type_in(self, scope: Scope) -> DataType:
        """Refuse, and say what helps."""
        raise UnknownTypeError(
            f"the type of {self.text} is not known here: wrap it as cast(... as type), or give "
            'returns="type"'
        )

    def __str__(self) -> str:
        return self.text
