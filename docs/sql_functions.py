"""Writes docs/sql-functions.md from the catalogue of functions: `python docs/sql_functions.py`."""

from __future__ import annotations

import sys
from pathlib import Path

from headwater.plan.expressions.aggregations import NATIVE, UNDOABLE
from headwater.sql.functions.catalogue.all_functions import FUNCTIONS
from headwater.sql.functions.function import Function, FunctionKind
from headwater.sql.functions.signature import (
    AnyDecimal,
    ArrayOf,
    Exactly,
    LambdaOf,
    MapOf,
    Shape,
    Signature,
    UnitOfTime,
)
from headwater.sql.planning.formulas import formula
from headwater.sql.planning.functions.all_functions import FORMULAS
from headwater.sql.planning.functions.function_call import FunctionCall
from headwater.sql.types.sql_type import STRING, Array, Decimal, Map, SqlType

PAGE = Path(__file__).with_name("sql-functions.md")
IN_JAVA = "hw_"

_INTRODUCTION = """\
# Functions of SQL

<!-- Written by docs/sql_functions.py from the catalogue in the code. -->

All functions that ksqlDB documents, under its names. "Run by" says who computes them: Spark's own
expressions, or methods of ours in Java (`jvm/.../functions`), which Spark's code calls as it does
its own. None needs Python, so that every query can run in real-time mode.
"""

_SCALAR = """
## Of one row
"""

_AGGREGATES = """
## Of a group of rows

Each is a fold: Spark SQL over the state and the row, which our operators run row by row, for
windows of all kinds and in real-time mode. "Tables" says whether the row of a table can be taken
back. The Python DSL has them under the same names, in small letters.
"""

_TABLES = """
## Several rows out of one
"""


def page() -> str:
    """Return the whole page."""
    scalars = [each for each in FUNCTIONS.values() if each.kind is FunctionKind.SCALAR]
    aggregates = [each for each in FUNCTIONS.values() if each.kind is FunctionKind.AGGREGATE]
    tables = [each for each in FUNCTIONS.values() if each.kind is FunctionKind.TABLE]
    lines = [
        _INTRODUCTION,
        _SCALAR,
        "| Function | Category | Run by | |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{each.name}` | {each.category.lower()} | {_run_by(each)} | {each.description} |"
        for each in sorted(scalars, key=lambda each: each.name)
    ]
    lines += [
        _AGGREGATES,
        "| Function | Tables | Spark has it too | |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{each.name}` | {_is(each, UNDOABLE)} | {_is(each, NATIVE)} | {each.description} |"
        for each in sorted(aggregates, key=lambda each: each.name)
    ]
    lines += [_TABLES, "| Function | |", "| --- | --- |"]
    lines += [f"| `{each.name}` | {each.description} |" for each in tables]
    return "\n".join(line.rstrip("\n") for line in lines) + "\n"


def _is(function: Function, names: tuple[str, ...]) -> str:
    return "yes" if function.name.lower() in names else "no"


def _run_by(function: Function) -> str:
    texts = [_text(function, signature) for signature in function.signatures]
    return "Java" if any(IN_JAVA in text for text in texts) else "Spark"


def _text(function: Function, signature: Signature) -> str:
    """Return the Spark SQL of a call with arguments of the types that a signature has."""
    shapes = [each.shape for each in signature.parameters]
    given = [shape for shape in shapes if not isinstance(shape, UnitOfTime)]
    types = tuple(_type(shape) for shape in given)
    arguments = tuple(formula(f"x{index}", type_) for index, type_ in enumerate(types))
    lambdas = tuple(
        tuple(f"p{index}" for index in range(len(shape.parameters)))
        if isinstance(shape, LambdaOf)
        else ()
        for shape in given
    )
    units = tuple("DAYS" for shape in shapes if isinstance(shape, UnitOfTime))
    texts = tuple(None for _ in given)
    call = FunctionCall(arguments, types, _type(signature.result), lambdas, units, texts)
    return str(FORMULAS[function.name](call))


def _type(shape: Shape) -> SqlType:
    match shape:
        case Exactly(type_):
            return type_
        case AnyDecimal():
            return Decimal(4, 2)
        case ArrayOf(element):
            return Array(_type(element))
        case MapOf(key, value):
            return Map(_type(key), _type(value))
        case _:
            return STRING


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"wrote {PAGE}\n")
