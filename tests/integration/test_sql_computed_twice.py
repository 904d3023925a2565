"""Expressions of SQL have the same values in Python, for pull queries and rows, as on Spark."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark_session import spark
from tests.sql_expressions import EXPRESSIONS, ROWS, STREAM

from headwater.sql.analysis.outcomes import MakeSource, PushQuery
from headwater.sql.parser.parser import parse_statement
from headwater.sql.planning.expressions import Translator
from headwater.sql.planning.formulas import field, formula
from headwater.sql.planning.wire_types import kept
from headwater.sql.server.engine import Engine
from headwater.sql.server.rows.casting import milliseconds_of
from headwater.sql.server.rows.computation import computation
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import TIMESTAMP, Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from headwater.sql.analysis.scope import ColumnMeaning
    from headwater.sql.analysis.typed import Typed

__all__ = ["spark"]

# Last digits of these differ between Java's library, Spark's and C's.
_ABOUT = 1e-13
# Of one SELECT: a plan with all of them takes longer than some with a part each.
_COLUMNS = 100


def _engine() -> tuple[Engine, Struct]:
    engine = Engine()
    outcome = engine.analyse(parse_statement(STREAM), {})
    assert isinstance(outcome, MakeSource)
    engine.change(parse_statement(STREAM), STREAM, {}, 0)
    columns = tuple((column.name, column.type) for column in outcome.source.columns)
    return engine, Struct(columns)


def _typed(engine: Engine, texts: tuple[str, ...]) -> list[Typed]:
    selected = ", ".join(f"{text} AS v{index}" for index, text in enumerate(texts))
    outcome = engine.analyse(parse_statement(f"SELECT {selected} FROM t EMIT CHANGES"), {})
    assert isinstance(outcome, PushQuery)
    return [column.value for column in outcome.query.selected]


def _translated(typed: Typed) -> str:
    def column(meaning: ColumnMeaning) -> Any:
        # As rows of a plan have it: a time of the day is a number there.
        return kept(formula(field(meaning.name), meaning.type), meaning.type)

    text = str(Translator(column).translate(typed))
    return f"unix_millis({text})" if typed.type == TIMESTAMP else text


def _plain(value: Any) -> Any:
    """Return a value in a form that can be compared, whoever computed it."""
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case list():
            return [_plain(part) for part in value]
        case bytearray():
            return bytes(value)
        case dt.datetime():
            return milliseconds_of(value)
        case _:
            return value


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=_ABOUT)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def _rows(spark: SparkSession, columns: Struct) -> None:
    ddl = ", ".join(f"{name} {to_plan(type_).ddl()}" for name, type_ in columns.fields)
    rows = [tuple(row.get(name) for name, _ in columns.fields) for row in ROWS]
    spark.createDataFrame(rows, ddl).createOrReplaceTempView("edges")


def _differences(texts: tuple[str, ...], typed: list[Typed], found: list[Any]) -> Iterator[str]:
    for row, values in zip(ROWS, found, strict=True):
        given = {("T", name): value for name, value in row.items()}
        for text, each, on_spark in zip(texts, typed, values, strict=True):
            in_python = _plain(computation(each)(given))
            other = _plain(on_spark)
            if not _is_same(in_python, other):
                yield f"{text} of {row['S']!r}: {in_python!r} in Python, {other!r} on Spark"


@pytest.mark.timeout(600)
def test_expressions_have_the_same_values_in_python_and_on_spark(spark: SparkSession) -> None:
    engine, columns = _engine()
    typed = _typed(engine, EXPRESSIONS)
    _rows(spark, columns)
    found: list[list[Any]] = [[] for _ in ROWS]
    for start in range(0, len(typed), _COLUMNS):
        part = typed[start : start + _COLUMNS]
        selected = ", ".join(f"{_translated(each)} AS v{i}" for i, each in enumerate(part))
        frame = spark.sql(f"SELECT {selected} FROM edges")
        for values, row in zip(found, frame.collect(), strict=True):
            values += row.asDict(recursive=True).values()
    assert list(_differences(EXPRESSIONS, typed, found)) == []
