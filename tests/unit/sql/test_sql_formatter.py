"""What is written is read back as the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from tests.unit.sql import sql_trees

from headwater.sql.formatter.expressions import format_expression
from headwater.sql.formatter.statements import format_statement
from headwater.sql.formatter.types import format_type
from headwater.sql.parser.parser import parse_expression, parse_statement, parse_type
from headwater.sql.tree.statements.statement import Statement

if TYPE_CHECKING:
    from headwater.sql.tree.expressions import Expression
    from headwater.sql.tree.types import TypeNode

# The first statement of a process waits for the grammar.
_patient = settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@_patient
@given(sql_trees.statements)
def test_statements_are_read_back_as_they_were_written(statement: Statement) -> None:
    assert parse_statement(format_statement(statement)) == statement


@_patient
@given(sql_trees.expressions)
def test_expressions_are_read_back_as_they_were_written(expression: Expression) -> None:
    assert parse_expression(format_expression(expression)) == expression


@_patient
@given(sql_trees.types)
def test_types_are_read_back_as_they_were_written(type_: TypeNode) -> None:
    assert parse_type(format_type(type_)) == type_


def test_every_statement_is_drawn() -> None:
    assert set(sql_trees.by_kind) == set(get_args(Statement))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a+b*-c", "(A + (B * -C))"),
        ("- -a", "-(-A)"),
        ("not a and b or c", "(((NOT A) AND B) OR C)"),
        ('`a b`."C"->d[1]', "`a b`.C->D[1]"),
        ("a || 'x''y'", "CONCAT(A, 'x''y')"),
        ("1.50", "1.50"),
        ("1e3", "1000.0E0"),
        ("x between 1 and 2", "(X BETWEEN 1 AND 2)"),
        ("transform(a, x => x + 1)", "TRANSFORM(A, (X) => (X + 1))"),
    ],
)
def test_an_expression_has_one_way_to_be_written(text: str, written: str) -> None:
    assert format_expression(parse_expression(text)) == written


def test_a_query_has_a_line_for_each_clause() -> None:
    statement = parse_statement(
        "create table t with (partitions=2) as select k, count(*) as n from s s1 "
        "left join u on s1.k=u.k window tumbling (size 1 hour, grace period 1 minute) "
        "where v > 1 group by k having count(*) > 2 emit changes"
    )
    assert format_statement(statement) == (
        "CREATE TABLE T WITH (PARTITIONS=2) AS SELECT\n"
        "  K,\n"
        "  COUNT(*) AS N\n"
        "FROM S AS S1\n"
        "LEFT OUTER JOIN U ON (S1.K = U.K)\n"
        "WINDOW TUMBLING (SIZE 1 HOURS, GRACE PERIOD 1 MINUTES)\n"
        "WHERE (V > 1)\n"
        "GROUP BY K\n"
        "HAVING (COUNT(*) > 2)\n"
        "EMIT CHANGES"
    )
