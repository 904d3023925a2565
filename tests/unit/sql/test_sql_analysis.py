"""What names stand for, and the type of every expression."""

from __future__ import annotations

import pytest

from headwater.sql.analysis.creation import declared_columns, declared_source
from headwater.sql.analysis.expressions import analyse, analyse_condition
from headwater.sql.analysis.scope import ColumnMeaning, ParameterMeaning, Scope
from headwater.sql.analysis.typed import CallMeaning
from headwater.sql.errors import SqlError
from headwater.sql.location import Location
from headwater.sql.metastore.source import DataSource
from headwater.sql.parser.parser import parse_expression, parse_statement, parse_type
from headwater.sql.tree.expressions import Column
from headwater.sql.tree.statements.creation import CreateSource
from headwater.sql.types.named import resolve_type
from headwater.sql.types.sql_type import BIGINT, BOOLEAN, DOUBLE, INTEGER, SqlType, Struct


def source(text: str, custom: dict[str, SqlType] | None = None) -> DataSource:
    statement = parse_statement(text)
    assert isinstance(statement, CreateSource)
    if statement.properties:
        return declared_source(statement, custom or {}, {})
    return DataSource(
        statement.name, statement.kind, declared_columns(statement, custom or {}), statement.name
    )


ORDERS = source(
    "CREATE STREAM orders (id STRING KEY, amount INT, price DECIMAL(10, 2), total DOUBLE, "
    "big BIGINT, ok BOOLEAN, raw BYTES, day DATE, at TIMESTAMP, clock TIME, tags ARRAY<STRING>, "
    "scores MAP<STRING, INT>, address STRUCT<city STRING, `zip Code` INT>, note STRING)"
)
USERS = source("CREATE TABLE users (id STRING PRIMARY KEY, name STRING)")
SCOPE = Scope({"O": ORDERS})
JOINED = Scope({"O": ORDERS, "U": USERS})


def type_of(text: str, scope: Scope = SCOPE) -> str:
    return str(analyse(parse_expression(text), scope).type)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amount", "INTEGER"),
        ("o.amount", "INTEGER"),
        ("ROWTIME", "BIGINT"),
        ("rowpartition", "INTEGER"),
        ("rowoffset", "BIGINT"),
        ("1", "INTEGER"),
        ("2147483648", "BIGINT"),
        ("-1.50", "DECIMAL(3, 2)"),
        ("1e3", "DOUBLE"),
        ("NULL", "NULL"),
        ("amount + big", "BIGINT"),
        ("amount * price", "DECIMAL(21, 2)"),
        ("price / 2", "DECIMAL(21, 13)"),
        ("id + '!'", "STRING"),
        ("id || '!'", "STRING"),
        ("amount > 1.5 AND NOT ok OR day IS NULL", "BOOLEAN"),
        ("amount IS DISTINCT FROM NULL", "BOOLEAN"),
        ("day >= '2024-01-01'", "BOOLEAN"),
        ("rowtime < '2024-01-01T10:00:00'", "BOOLEAN"),
        ("amount BETWEEN 1 AND 2.5", "BOOLEAN"),
        ("amount IN (1, '2', 3.5, NULL)", "BOOLEAN"),
        ("id LIKE 'a%'", "BOOLEAN"),
        ("tags[1]", "STRING"),
        ("scores['x']", "INTEGER"),
        ("address->city", "STRING"),
        ("address->`zip Code`", "INTEGER"),
        ("CASE WHEN ok THEN amount ELSE big END", "BIGINT"),
        ("CASE amount WHEN 1 THEN 'a' WHEN 2 THEN NULL END", "STRING"),
        ("CAST(id AS DECIMAL(5, 1))", "DECIMAL(5, 1)"),
        ("ARRAY[1, big]", "ARRAY<BIGINT>"),
        ("MAP('a' := 1, id := '2.5')", "MAP<STRING, DECIMAL(11, 1)>"),
        ("STRUCT(a := 1, b := tags)", "STRUCT<`A` INTEGER, `B` ARRAY<STRING>>"),
        ("STRUCT()", "STRUCT<>"),
        ("LEN(id) + 1", "INTEGER"),
        ("COUNT(*)", "BIGINT"),
        ("SUM(price) / COUNT(*)", "DECIMAL(30, 22)"),
        ("DATEADD(DAYS, 3, day)", "DATE"),
        ("GREATEST(day, '2024-01-01')", "DATE"),
        ("EXPLODE(tags)", "STRING"),
        ("TRANSFORM(tags, t => LEN(t))", "ARRAY<INTEGER>"),
        ("TRANSFORM(scores, (k, v) => v, (k, v) => k)", "MAP<INTEGER, STRING>"),
        ("REDUCE(scores, 0, (s, k, v) => s + v)", "INTEGER"),
        ("FILTER(tags, t => t <> id)", "ARRAY<STRING>"),
        ("TRANSFORM(ARRAY[tags], ts => TRANSFORM(ts, t => LEN(t) + ARRAY_LENGTH(ts)))",
         "ARRAY<ARRAY<INTEGER>>"),
    ],
)  # fmt: skip
def test_types(text: str, expected: str) -> None:
    assert type_of(text) == expected


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("amont + 1", "there is no column AMONT; did you mean AMOUNT?", 1),
        ("1 + `amount`", "did you mean `AMOUNT`, in backticks", 5),
        ("x.amount", "X is no source of this statement", 1),
        ("windowstart", "since nothing here has windows", 1),
        ("1 + address->town", "the struct has no field TOWN", 5),
        ("amount->x", "-> needs a STRUCT before it, not INTEGER", 1),
        ("tags['a']", "an array's elements are counted", 1),
        ("scores[1]", "the map's keys are STRING, not INTEGER", 1),
        ("ok[1]", "needs an ARRAY or a MAP", 1),
        ("1 + ok", "INTEGER + BOOLEAN cannot be calculated", 1),
        ("-id", "a STRING has no sign", 1),
        ("amount = 'x'", "cannot be compared", 1),
        ("amount = NULL", "IS NULL", 1),
        ("ok AND amount", "AND needs a BOOLEAN, not INTEGER", 8),
        ("NOT id", "NOT needs a BOOLEAN", 5),
        ("amount LIKE 'a'", "LIKE needs texts", 1),
        ("amount IN (1, 'x')", "'x' is no INTEGER", 1),
        ("amount IN (1, id)", "STRING is not INTEGER", 1),
        ("CASE WHEN amount THEN 1 END", "WHEN needs a BOOLEAN", 11),
        ("CASE WHEN ok THEN NULL END", "every result of the CASE is NULL", 1),
        ("CASE WHEN ok THEN 1 ELSE day END", "DATE is not INTEGER", 1),
        ("CAST(raw AS STRING)", "a BYTES cannot be cast to STRING", 1),
        ("CAST(id AS TXT)", "there is no type TXT", 12),
        ("ARRAY[]", "at least one element", 1),
        ("ARRAY[NULL]", "every element is NULL", 1),
        ("MAP(NULL := 1)", "every key is NULL", 1),
        ("STRUCT(a := 1, A := 2)", "two fields A", 1),
        ("1 + LENN(id)", "there is no function LENN; did you mean LEN?", 5),
        ("LEN(amount)", "LEN does not take (INTEGER)", 1),
        ("SUM(*)", "only COUNT does", 1),
        ("SUM(1 + MAX(amount))", "SUM cannot have MAX in it", 9),
        ("TRANSFORM(tags, t => t + 1)", "STRING + INTEGER cannot be calculated", 22),
        ("TRANSFORM(tags, t => x)", "there is no column X", 22),
        ("TRANSFORM(tags, (a, b) => a)", "TRANSFORM does not take", 1),
        ("FILTER(tags, t => t)", "returns STRING, where BOOLEAN is needed", 1),
        ("DATEADD(id, 3, day)", "DATEADD does not take", 1),
    ],
)
def test_errors_have_their_place(text: str, reason: str, column: int) -> None:
    with pytest.raises(SqlError) as raised:
        type_of(text)
    assert reason in raised.value.reason
    assert raised.value.location == Location(1, column)


def test_a_name_that_both_sources_have_needs_its_source() -> None:
    with pytest.raises(SqlError, match=r"ID is ambiguous: write O\.ID or U\.ID"):
        type_of("id", JOINED)
    with pytest.raises(SqlError, match="ROWTIME is ambiguous"):
        type_of("rowtime", JOINED)
    assert type_of("u.id || name", JOINED) == "STRING"


def test_the_key_of_an_outer_join_is_a_column_of_its_own() -> None:
    scope = Scope({"O": ORDERS, "U": USERS}, join_key=("ROWKEY", BIGINT))
    assert type_of("rowkey", scope) == "BIGINT"
    with pytest.raises(SqlError, match=r"O\.ROWKEY"):
        type_of("o.rowkey", scope)


def test_windows_have_bounds() -> None:
    assert type_of("windowend - windowstart", Scope({"O": ORDERS}, has_window=True)) == "BIGINT"
    windowed = source(
        "CREATE TABLE w (id INT PRIMARY KEY) WITH (kafka_topic = 't', "
        "value_format = 'JSON', window_type = 'TUMBLING', window_size = '1 HOUR')"
    )
    assert type_of("windowstart > '2024'", Scope({"W": windowed})) == "BOOLEAN"


def test_every_part_has_a_type_and_a_meaning() -> None:
    typed = analyse(parse_expression("TRANSFORM(tags, t => LEN(t) * amount)"), SCOPE)
    parts = list(typed.walk())
    assert isinstance(typed.meaning, CallMeaning)
    assert typed.meaning.function.name == "TRANSFORM"
    meanings = {
        part.expression.name: part.meaning for part in parts if isinstance(part.expression, Column)
    }
    assert meanings == {
        "TAGS": ColumnMeaning("O", "TAGS", resolve_type(parse_type("ARRAY<STRING>"), {})),
        "T": ParameterMeaning("T", resolve_type(parse_type("STRING"), {})),
        "AMOUNT": ColumnMeaning("O", "AMOUNT", INTEGER),
    }


def test_a_parameter_hides_a_column_of_its_name() -> None:
    typed = analyse(parse_expression("TRANSFORM(tags, amount => amount)"), SCOPE)
    assert str(typed.type) == "ARRAY<STRING>"


def test_conditions_are_boolean() -> None:
    assert analyse_condition(parse_expression("ok"), SCOPE, "WHERE").type == BOOLEAN
    with pytest.raises(SqlError, match="WHERE needs a BOOLEAN, not DOUBLE"):
        analyse_condition(parse_expression("total"), SCOPE, "WHERE")
    assert analyse(parse_expression("total"), SCOPE).type == DOUBLE


def test_types_of_create_type_are_known() -> None:
    point: dict[str, SqlType] = {"POINT": Struct((("X", DOUBLE), ("Y", DOUBLE)))}
    places = source("CREATE STREAM places (at POINT)", point)
    assert type_of("at->x", Scope({"P": places}, custom_types=point)) == "DOUBLE"
    text = "CAST(STRUCT(x := 1) AS point)->y"
    assert type_of(text, Scope({}, custom_types=point)) == "DOUBLE"


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("CREATE STREAM s (a INT, A STRING)", "two columns A", 25),
        ("CREATE STREAM s (rowtime INT)", "every row has by itself", 18),
        ("CREATE STREAM s (a INT PRIMARY KEY)", "is a KEY, not a PRIMARY KEY", 18),
        ("CREATE TABLE s (a INT KEY)", "is a PRIMARY KEY, not a KEY", 17),
        ("CREATE STREAM s (a STRING HEADER('x'))", "a header is BYTES, not STRING", 20),
        ("CREATE STREAM s (a BYTES HEADERS)", "all headers are ARRAY", 20),
        ("CREATE STREAM s (a ARRAY<TEXT>)", "there is no type TEXT", 26),
    ],
)
def test_columns_that_cannot_be_declared(text: str, reason: str, column: int) -> None:
    with pytest.raises(SqlError, match=reason) as raised:
        source(text)
    assert raised.value.location == Location(1, column)


def test_all_headers_are_a_column() -> None:
    declared = source("CREATE STREAM s (h ARRAY<STRUCT<key STRING, value BYTES>> HEADERS)")
    assert type_of("h[1]->key", Scope({"S": declared})) == "STRING"
