"""Statements read into the tree."""

from __future__ import annotations

import pytest

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.location import Location
from headwater.sql.parser.parser import parse, parse_expression, parse_statement, parse_type
from headwater.sql.tree.expressions import (
    Arithmetic,
    Call,
    Column,
    Comparison,
    Dereference,
    IntegerLiteral,
    IsNull,
    Lambda,
    Logical,
    Subscript,
)
from headwater.sql.tree.queries import (
    Duration,
    Emit,
    HoppingWindow,
    Join,
    JoinKind,
    Query,
    SelectAll,
    SelectExpression,
    SelectFields,
    Source,
    TimeUnit,
    Within,
)
from headwater.sql.tree.statements.assertions import AssertSchema, AssertTopic
from headwater.sql.tree.statements.changes import InsertSelect, InsertValues
from headwater.sql.tree.statements.control import ControlQuery, QueryAction
from headwater.sql.tree.statements.creation import (
    ColumnDefinition,
    ColumnRole,
    CreateAsSelect,
    CreateConnector,
    CreateSource,
    SourceKind,
)
from headwater.sql.tree.statements.inspection import (
    Describe,
    DescribeAll,
    Described,
    DescribeFunction,
    ExplainQuery,
    ExplainStatement,
    Listing,
    PrintTopic,
    Show,
)
from headwater.sql.tree.types import ArrayType, MapType, NamedType, StructType
from headwater.sql.words import NOT_RESERVED, RESERVED


def query(text: str) -> Query:
    statement = parse_statement(text)
    assert isinstance(statement, Query)
    return statement


def test_a_stream_over_avro_with_a_nested_struct() -> None:
    statement = parse_statement(
        "CREATE OR REPLACE SOURCE STREAM IF NOT EXISTS readings (id VARCHAR KEY, "
        "`value` STRUCT<`long` BIGINT, parts ARRAY<MAP<STRING, DECIMAL(10, 2)>>>, "
        "trace BYTES HEADER('trace-id'), all_of_them ARRAY<STRUCT<key STRING, value BYTES>> "
        "HEADERS) WITH (kafka_topic='readings', VALUE_FORMAT='AVRO', partitions=3)"
    )
    assert isinstance(statement, CreateSource)
    assert (statement.kind, statement.name) == (SourceKind.STREAM, "READINGS")
    assert statement.or_replace
    assert statement.is_source
    assert statement.if_not_exists
    number = NamedType("DECIMAL", (10, 2))
    parts = ArrayType(MapType(NamedType("STRING"), number))
    assert statement.columns[0] == ColumnDefinition("ID", NamedType("VARCHAR"), ColumnRole.KEY)
    assert statement.columns[1].type == StructType(
        (("long", NamedType("BIGINT")), ("PARTS", parts))
    )
    assert (statement.columns[2].role, statement.columns[2].header) == (
        ColumnRole.HEADER,
        "trace-id",
    )
    assert [given.name for given in statement.properties] == [
        "KAFKA_TOPIC",
        "VALUE_FORMAT",
        "PARTITIONS",
    ]


def test_columns_may_come_from_the_registry() -> None:
    statement = parse_statement("CREATE TABLE t (id INT PRIMARY KEY) WITH (format='avro')")
    assert isinstance(statement, CreateSource)
    assert statement.columns[0].role is ColumnRole.PRIMARY_KEY
    inferred = parse_statement("CREATE STREAM s WITH (kafka_topic='s', value_format='avro')")
    assert isinstance(inferred, CreateSource)
    assert inferred.columns == ()


def test_joins_windows_and_emit() -> None:
    found = query(
        "SELECT a.*, b->*, `x` y FROM left_s AS a INNER JOIN b WITHIN (1 MINUTE, 2 HOURS) GRACE "
        "PERIOD 1 DAY ON a.id = b.id LEFT OUTER JOIN c ON a.id = c.id WINDOW HOPPING (SIZE 30 "
        "SECONDS, ADVANCE BY 10 SECONDS, RETENTION 7 DAYS) GROUP BY (a, b) EMIT FINAL LIMIT 10"
    )
    assert found.select == (
        SelectAll("A"),
        SelectFields(Column("B")),
        SelectExpression(Column("x"), "Y"),
    )
    first = Join(
        Source("LEFT_S", "A"),
        JoinKind.INNER,
        Source("B"),
        Comparison("=", Column("ID", "A"), Column("ID", "B")),
        Within(
            Duration(1, TimeUnit.MINUTES), Duration(2, TimeUnit.HOURS), Duration(1, TimeUnit.DAYS)
        ),
    )
    assert found.source == Join(
        first, JoinKind.LEFT, Source("C"), Comparison("=", Column("ID", "A"), Column("ID", "C"))
    )
    assert found.window == HoppingWindow(
        Duration(30, TimeUnit.SECONDS),
        Duration(10, TimeUnit.SECONDS),
        Duration(7, TimeUnit.DAYS),
    )
    assert found.group_by == (Column("A"), Column("B"))
    assert (found.emit, found.limit) == (Emit.FINAL, 10)


def test_operators_bind_as_in_sql() -> None:
    assert parse_expression("a or b and not c is null") == parse_expression(
        "(a or (b and (not (c is null))))"
    )
    assert parse_expression("1 + 2 * 3 - 4") == parse_expression("((1 + (2 * 3)) - 4)")
    assert parse_expression("a = b || 'x'") == Comparison(
        "=", Column("A"), Call("CONCAT", (Column("B"), parse_expression("'x'")))
    )
    assert parse_expression("a between 1 and 2 and b") == Logical(
        "AND", parse_expression("a between 1 and 2"), Column("B")
    )
    assert parse_expression("a <> 1") == parse_expression("a != 1")
    assert parse_expression("x is not null") == IsNull(Column("X"), negated=True)


def test_nested_values_and_lambdas() -> None:
    assert parse_expression("s.a->b[1]->c") == Dereference(
        Subscript(Dereference(Column("A", "S"), "B"), IntegerLiteral(1)), "C"
    )
    assert parse_expression("reduce(m, 0, (k, v) => k + v)") == Call(
        "REDUCE",
        (
            Column("M"),
            IntegerLiteral(0),
            Lambda(("K", "V"), Arithmetic("+", Column("K"), Column("V"))),
        ),
    )
    assert parse_expression("f(x => x)") == parse_expression("f((x) => x)")
    for text in ("STRUCT(a := 1, b := MAP('k' := ARRAY[1, 2]))", "CASE a WHEN 1 THEN 2 END"):
        parse_expression(text)


@pytest.mark.parametrize("word", sorted(NOT_RESERVED))
def test_words_that_are_not_reserved_are_columns(word: str) -> None:
    assert query(f"SELECT {word} FROM s").select == (SelectExpression(Column(word)),)
    assert query(f"SELECT s.{word} AS {word} FROM s").select == (
        SelectExpression(Column(word, "S"), word),
    )
    created = parse_statement(f"CREATE STREAM s ({word} INT KEY, b STRUCT<{word} INT>)")
    assert isinstance(created, CreateSource)
    assert created.columns[0].name == word


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_need_quotes(word: str) -> None:
    with pytest.raises(SqlSyntaxError):
        parse_statement(f"SELECT a AS {word} FROM s")
    assert query(f"SELECT a AS `{word}` FROM s").select == (SelectExpression(Column("A"), word),)


def test_inserts() -> None:
    values = parse_statement("INSERT INTO s (a, b) VALUES ('x', -1.5)")
    assert isinstance(values, InsertValues)
    assert values.columns == ("A", "B")
    select = parse_statement("INSERT INTO s WITH (query_id='q') SELECT * FROM t PARTITION BY a")
    assert isinstance(select, InsertSelect)
    assert select.query.partition_by == (Column("A"),)


def test_what_looks_and_controls() -> None:
    assert parse_statement("LIST ALL TOPICS EXTENDED") == Show(Listing.ALL_TOPICS, True)
    assert parse_statement("SHOW SOURCE CONNECTORS") == Show(Listing.SOURCE_CONNECTORS)
    assert parse_statement("DESCRIBE EXTENDED s") == parse_statement("DESCRIBE s EXTENDED")
    assert parse_statement("DESCRIBE tables") == DescribeAll(Described.TABLES)
    assert parse_statement("DESCRIBE `FUNCTION`") == Describe("FUNCTION")
    assert parse_statement("DESCRIBE FUNCTION 'abs'") == DescribeFunction("abs")
    assert parse_statement("EXPLAIN CSAS_X_1") == ExplainQuery("CSAS_X_1")
    assert isinstance(parse_statement("EXPLAIN SELECT * FROM s"), ExplainStatement)
    assert parse_statement("PRINT my_Topic FROM BEGINNING INTERVAL 2 LIMIT 3") == PrintTopic(
        "my_Topic", True, 2, 3
    )
    assert parse_statement("TERMINATE ALL") == ControlQuery(QueryAction.TERMINATE)
    assert parse_statement("PAUSE q_1") == ControlQuery(QueryAction.PAUSE, "Q_1")
    assert isinstance(
        parse_statement("CREATE SINK CONNECTOR IF NOT EXISTS c WITH ('tasks.max'='1')"),
        CreateConnector,
    )


def test_assertions() -> None:
    assert parse_statement("ASSERT NOT EXISTS TOPIC 'x' TIMEOUT 5 SECONDS") == AssertTopic(
        "x", timeout=Duration(5, TimeUnit.SECONDS), exists=False
    )
    assert parse_statement("ASSERT SCHEMA SUBJECT x ID 3") == AssertSchema("x", 3)
    with pytest.raises(SqlSyntaxError, match="needs a SUBJECT"):
        parse_statement("ASSERT SCHEMA")


def test_types() -> None:
    assert parse_type("STRUCT<>") == parse_type("STRUCT< >") == StructType(())
    assert parse_type("array<array<int>>") == ArrayType(ArrayType(NamedType("INT")))


def test_several_statements_with_comments_and_their_places() -> None:
    text = "-- one; two\nSHOW /* ; */ STREAMS;\n  ;\n  SELECT ';' AS \"a;b\" FROM s\n;"
    first, second = parse(text)
    assert first.statement == Show(Listing.STREAMS)
    assert first.location == Location(2, 1)
    assert second.text == "SELECT ';' AS \"a;b\" FROM s"
    assert second.location == Location(4, 3)


def test_every_part_knows_where_it_stands() -> None:
    statement = parse_statement(
        "CREATE STREAM a AS\n  SELECT x +\n y FROM b WHERE CAST(z AS INT) = 1"
    )
    assert isinstance(statement, CreateAsSelect)
    assert statement.query.location == Location(2, 3)
    item = statement.query.select[0]
    assert isinstance(item, SelectExpression)
    assert isinstance(item.expression, Arithmetic)
    assert item.expression.right.location == Location(3, 2)
    assert statement.query.where is not None
    assert statement.query.where.location == Location(3, 17)
