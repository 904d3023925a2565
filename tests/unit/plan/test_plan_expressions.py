"""Expressions: the types Spark gives, the columns names stand for, and what is refused."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.plan.expression_cases import ROW, TYPES

from headwater.plan.errors import ExpressionError
from headwater.plan.expressions import functions as fn
from headwater.plan.expressions.expressions import Expression, UnknownTypeError
from headwater.plan.expressions.functions import call, col, expr, lit, struct, when
from headwater.plan.expressions.scope import Scope
from headwater.plan.rows import RowType
from headwater.plan.schemas.ddl import parse_ddl
from headwater.plan.schemas.literals import literal_sql, literal_type
from headwater.plan.schemas.types import BOOLEAN, DOUBLE, INT, STRING, Struct

SCOPE = Scope.of_record(ROW)
_NUMBERS = ("t", "s", "i", "l", "f", "d", "m", "n")


@pytest.mark.parametrize("text", sorted(TYPES))
def test_sql_has_the_type_that_spark_gives_it(text: str) -> None:
    assert expr(text).type_in(SCOPE).ddl() == TYPES[text]


@pytest.mark.parametrize(
    ("expression", "sql", "type_"),
    [
        (col("d") > 800_000, "(value.`d` > 800000)", "boolean"),
        (1 - col("i"), "(1 - value.`i`)", "int"),
        (~(col("b") & (col("i") == 1)), "(NOT (value.`b` AND (value.`i` = 1)))", "boolean"),
        (col("text").isin("a", "b"), "(value.`text` IN ('a', 'b'))", "boolean"),
        (col("i").between(1, 2), "((value.`i` >= 1) AND (value.`i` <= 2))", "boolean"),
        (col("words")[0], "get(value.`words`, 0)", "string"),
        (col("counts")["a"], "try_element_at(value.`counts`, 'a')", "bigint"),
        (col("nested.deep").getField("x"), "(value.`nested`.`deep`).`x`", "string"),
        (col("`a b`").isNull(), "isnull(value.`a b`)", "boolean"),
        (col("i").cast("string"), "CAST(value.`i` AS string)", "string"),
        (fn.upper("text"), "upper(value.`text`)", "string"),
        (fn.concat_ws("-", "text", "key"), "concat_ws('-', value.`text`, key)", "string"),
        (when(col("b"), 1).otherwise(2.5), "CASE WHEN value.`b` THEN 1 ELSE 2.5D END", "double"),
        (
            struct("text", twice=col("i") * 2),
            "named_struct('text', value.`text`, 'twice', (value.`i` * 2))",
            "struct<text:string,twice:int>",
        ),
        (col("record.value"), "value", ROW.value.ddl()),
        (col("VALUE.I"), "value.`i`", "int"),
        (lit([1, 2]), "array(1, 2)", "array<int>"),
    ],
)
def test_python_writes_sql(expression: Expression, sql: str, type_: str) -> None:
    assert expression.sql(SCOPE) == sql
    assert expression.type_in(SCOPE).ddl() == type_


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("d > 1 and text = 'd'", "(value.`d` > 1 and value.`text` = 'd')"),
        ("nested.deep.x", "(value.`nested`.`deep`.`x`)"),
        ("record.key || `a b`", "(key || value.`a b`)"),
        ("d as `d`", "(value.`d`)"),
        ("cast(i as string)", "(cast(value.`i` as string))"),
        ("transform(words, w -> concat(w, text))", None),
        ("i /* d */ + 1 -- l\n", None),
    ],
)
def test_only_names_of_sql_text_are_replaced(text: str, sql: str | None) -> None:
    written = expr(text).sql(SCOPE)
    if sql is None:
        assert "value.`" in written
        assert "value.`w`" not in written
        assert "/* d */" in written or "/*" not in text
    else:
        assert written == sql


def test_a_field_wins_over_the_record_and_record_is_always_the_records_own() -> None:
    scope = Scope.of_record(RowType(STRING, Struct.of(key=INT, value=DOUBLE)))
    assert col("key").sql(scope) == "value.`key`"
    assert col("value").sql(scope) == "value.`value`"
    assert col("record.key").sql(scope) == "key"
    assert col("record.value").type_in(scope) == Struct.of(key=INT, value=DOUBLE)
    plain = Scope.of_record(RowType(STRING, DOUBLE))
    assert col("value").sql(plain) == "value"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (col("tex"), "there is no 'tex' here (there are b, t, s, "),
        (col("tex"), "did you mean 'text'?"),
        (expr("d + nothing"), "there is no 'nothing' here"),
        (expr("cast(foo(nothing) as int)"), "there is no 'nothing' here"),
        (col("nested.deep.y"), "there is no 'nested.deep.y' here (there are x)"),
        (col("i.x"), "a int has no field 'x'"),
        (col("record"), "'record' needs a name after it"),
        (col("text") + 1, "(text + 1): needs numbers, not string"),
        (expr("text > 1"), "string and int have no type in common"),
        (col("i") & col("b"), "needs conditions (boolean), not int"),
        (expr("upper(i)"), "needs text, not int"),
        (expr("length(text, 1)"), "takes 1 arguments, not 2"),
        (when(col("i"), 1), "a condition is boolean, this is int"),
        (when(col("b"), 1).otherwise("x"), "int and string have no type in common"),
        (col("text")[0], "string cannot be indexed with int"),
        (expr("i +"), "cannot read 'i +' as Spark SQL"),
        (expr("select 1"), "is no expression over one record"),
        (expr("sum(i) over ()"), "is no expression over one record"),
        (expr("inner.x"), "needs backticks"),
        (lit(2**80), "does not fit into 64 bits"),
        (lit(object()), "cannot stand in an expression"),
    ],
)
def test_what_does_not_fit_is_refused(expression: Expression, reason: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        expression.type_in(SCOPE)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "expression",
    [call("frobnicate", col("i")), expr("frobnicate(i)"), expr("transform(words, w -> w)")],
)
def test_an_unknown_function_needs_a_cast(expression: Expression) -> None:
    with pytest.raises(UnknownTypeError, match="returns="):
        expression.type_in(SCOPE)
    assert expression.cast("int").type_in(SCOPE) == INT


def test_an_expression_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="use & for and"):
        bool(col("i") > 1)
    with pytest.raises(TypeError, match="use & for and"):
        _ = 0 < col("i") < 3
    with pytest.raises(TypeError, match="one value"):
        list(col("words"))


@given(st.sampled_from(_NUMBERS), st.sampled_from(_NUMBERS))
def test_the_type_of_two_numbers_does_not_depend_on_their_order(left: str, right: str) -> None:
    for operator in ("+", "*", "<", "=", "<=>"):
        forward = expr(f"{left} {operator} {right}").type_in(SCOPE)
        assert forward == expr(f"{right} {operator} {left}").type_in(SCOPE)
    together = expr(f"coalesce({left}, {right})").type_in(SCOPE)
    assert together == expr(f"greatest({right}, {left})").type_in(SCOPE)


def test_names_where_two_records_meet() -> None:
    left = RowType(STRING, parse_ddl("id string, a int"))
    right = RowType(STRING, parse_ddl("id string, b int"))
    scope = Scope.of_join(left, right)
    assert expr("a + b").sql(scope) == "(left_value.`a` + right_value.`b`)"
    assert expr("left.id = right.id").type_in(scope) == BOOLEAN
    with pytest.raises(ExpressionError, match=r"write left\.id or right\.id"):
        col("id").type_in(scope)


def test_names_of_a_reduction() -> None:
    scope = Scope.of_reduce(parse_ddl("n int"))
    assert expr("old.n + new.n").sql(scope) == "(old.`n` + new.`n`)"
    with pytest.raises(ExpressionError, match="there are old, new"):
        col("n").type_in(scope)


literals = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000),
    st.dates(),
    st.datetimes(timezones=st.just(datetime.UTC)),
    st.datetimes(),
    st.timedeltas(),
)


@given(literals)
def test_every_constant_has_sql_and_a_type(value: Any) -> None:
    assert literal_type(value).ddl()
    assert literal_sql(value)


@given(st.text())
def test_text_constants_never_end_early(text: str) -> None:
    written = literal_sql(text)
    assert written.startswith("'")
    inside = written[1:-1].replace("\\\\", "").replace("\\'", "")
    assert "'" not in inside
    assert not inside.endswith("\\")
    assert "${" not in inside


@given(st.timedeltas())
def test_time_spans_keep_every_microsecond(span: datetime.timedelta) -> None:
    seconds = literal_sql(span).removeprefix("make_dt_interval(0, 0, 0, ").removesuffix("BD)")
    micros = decimal.Decimal(seconds).scaleb(6)
    assert datetime.timedelta(microseconds=int(micros)) == span
