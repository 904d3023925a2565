"""Rows in Python: expressions as ksqlDB computes them, records in every plain format."""

from __future__ import annotations

import datetime as dt
import decimal
import struct
from typing import TYPE_CHECKING, Any

import pytest

from headwater.sql.analysis.outcomes import MakeSource, PushQuery
from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse_statement
from headwater.sql.server.engine import Engine
from headwater.sql.server.queries.key_lookup import wanted_keys
from headwater.sql.server.queries.projection import Projection
from headwater.sql.server.rows.casting import caster
from headwater.sql.server.rows.formats import MalformedError
from headwater.sql.server.rows.functions import java_regexps
from headwater.sql.server.rows.json_values import from_json
from headwater.sql.server.rows.protobuf import message_json
from headwater.sql.server.rows.records import Record, RecordReader, RecordWriter
from headwater.sql.server.rows.shown import encoded, shown
from headwater.sql.types.sql_type import DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, Decimal

if TYPE_CHECKING:
    from headwater.sql.metastore.source import DataSource

_ROW: dict[str, Any] = {
    "N": 7,
    "X": 2.9,
    "D": decimal.Decimal("1.50"),
    "S": "abc",
    "NOTHING": None,
    "TAGS": ["b", "a"],
    "M": {"k": 1},
    "P": {"CITY": "Ulm", "ZIP": 89073},
}
_STREAM = (
    "CREATE STREAM t (n INT, x DOUBLE, d DECIMAL(4, 2), s STRING, nothing INT, "
    "tags ARRAY<STRING>, m MAP<STRING, INT>, p STRUCT<city STRING, zip INT>) "
    "WITH (kafka_topic='t', value_format='JSON')"
)


def engine_with(*statements: str) -> Engine:
    engine = Engine()
    for text in statements:
        engine.change(parse_statement(text), text, {}, 0)
    return engine


def source(text: str) -> DataSource:
    outcome = Engine().analyse(parse_statement(text), {})
    assert isinstance(outcome, MakeSource)
    return outcome.source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n + 2147483647", -2147483642),
        ("n / 0", None),
        ("-n / 2", -3),
        ("-n % 4", -3),
        ("x / 0", "Infinity"),
        ("d * 2", decimal.Decimal("3.00")),
        ("nothing = 1", False),
        ("NOT (nothing = 1)", True),
        ("nothing IS DISTINCT FROM 1", True),
        ("nothing + 1", None),
        ("n BETWEEN 1 AND 7", True),
        ("n IN (1, 7)", True),
        ("n NOT IN (1, 7)", False),
        ("s LIKE 'a%'", True),
        ("s LIKE 'a!_c' ESCAPE '!'", False),
        ("CASE WHEN n > 3 THEN 'many' ELSE 'few' END", "many"),
        ("CASE s WHEN 'abc' THEN 1 END", 1),
        ("CAST('x' AS INT)", None),
        ("CAST(x AS INT)", 2),
        ("CAST('yes' AS BOOLEAN)", True),
        ("CAST(tags AS STRING)", "[b, a]"),
        ("CAST(p AS STRING)", "Struct{CITY=Ulm,ZIP=89073}"),
        ("tags[1]", "b"),
        ("tags[-1]", "a"),
        ("tags[9]", None),
        ("m['k']", 1),
        ("p->city", "Ulm"),
        ("STRUCT(a := n, b := s)", {"A": 7, "B": "abc"}),
        ("ARRAY[n, 8]", [7, 8]),
        ("MAP('a' := n)", {"a": 7}),
        ("UCASE(s) + LCASE('X')", "ABCx"),
        ("CONCAT(s, CAST(nothing AS STRING), '!')", "abc!"),
        ("COALESCE(nothing, n)", 7),
        ("SUBSTRING(s, 2)", "bc"),
        ("SUBSTRING(s, -2, 1)", "b"),
        ("SUBSTRING(s, -9)", "abc"),
        ("LPAD(s, 5, '-')", "--abc"),
        ("LPAD(s, 2, '-')", "ab"),
        ("RPAD(s, 6, 'xy')", "abcxyx"),
        ("RPAD(s, 5, '')", None),
        ("REPLACE(s, 'b', 'B')", "aBc"),
        ("REPLACE(s, '', 'B')", "abc"),
        ("SPLIT('a,b', ',')", ["a", "b"]),
        ("INITCAP('the PLANT')", "The Plant"),
        ("FLOOR(-1.5e0)", -2.0),
        ("CEIL(d)", decimal.Decimal("2.00")),
        ("SQRT(4)", 2.0),
        ("SIGN(x - 5)", -1),
        ("ARRAY_LENGTH(tags)", 2),
        ("ARRAY_CONTAINS(tags, 'a')", True),
        ("ARRAY_CONTAINS(ARRAY[1, CAST(NULL AS INT)], nothing)", True),
        ("ARRAY_CONTAINS(CAST(NULL AS ARRAY<STRING>), 'a')", False),
        ("ARRAY_DISTINCT(ARRAY[2, 1, 2])", [2, 1]),
        ("ARRAY_MAX(ARRAY[nothing, n, 9])", 9),
        ("ARRAY_MIN(ARRAY[nothing])", None),
        ("MAP_KEYS(m)", ["k"]),
        ("MAP_VALUES(m)", [1]),
        ("MD5(s)", "900150983cd24fb0d6963f7d28e17f72"),
        ("SUBSTRING(s, 0, 2)", "ab"),
        ("GREATEST(n, 9, CAST(NULL AS INT))", 9),
        ("LEAST('b', s)", "abc"),
        ("NULLIF(n, 7)", None),
        ("NULLIF(n, nothing)", 7),
        ("CONCAT_WS('-', s, CAST(nothing AS STRING), 'z')", "abc-z"),
        ("SUBSTRING(s, nothing)", None),
        ("LEN(s)", 3),
        ("TRIM(CHR(9) + ' a' + CHR(160) + CHR(10))", "a\xa0"),
        ("REGEXP_EXTRACT('(\\p{L}+)$', 'aä' + CHR(10))", "aä"),
        ("REGEXP_REPLACE('ab' + CHR(10), 'x*$', '-')", "ab-\n-"),
        ("REGEXP_REPLACE('ab' + CHR(13) + CHR(10), 'x*$', '-')", "ab-\r\n-"),
        ("REGEXP_EXTRACT('(', s)", None),
        ("REGEXP_REPLACE('a].b', '[].]', '-')", "a--b"),
        ("REGEXP_REPLACE('a b' + CHR(10), '( |$)', '-')", "a-b-\n-"),
        ("'a%b' LIKE 'a!%_' ESCAPE '!'", True),
        ("n > 3 AND s = 'abc' OR x < 0", True),
        ("nothing IS NULL", True),
    ],
)
def test_expressions_have_ksqldb_s_values(text: str, expected: Any) -> None:
    engine = engine_with(_STREAM)
    outcome = engine.analyse(parse_statement(f"SELECT {text} AS v FROM t EMIT CHANGES"), {})
    assert isinstance(outcome, PushQuery)
    row = {("T", name): value for name, value in _ROW.items()}
    assert Projection(outcome.query).shown(row) == [expected]


@pytest.mark.parametrize("pattern", ["((a+)+)+x", "(a|aa)*x", "(.*a){30}x"])
def test_patterns_that_backtrack_elsewhere_end(pattern: str) -> None:
    text = "a" * 5000
    assert not list(java_regexps.pattern(pattern).find_all(text))
    engine = engine_with(_STREAM)
    wanted = "%a" * 30 + "%x"
    statement = f"SELECT '{text}' LIKE '{wanted}' AS v FROM t EMIT CHANGES"
    outcome = engine.analyse(parse_statement(statement), {})
    assert isinstance(outcome, PushQuery)
    assert Projection(outcome.query).shown({}) == [False]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT s, COUNT(*) FROM t GROUP BY s EMIT CHANGES",
        "SELECT REGEXP_EXTRACT('[a-z&&[^b]]', s) FROM t EMIT CHANGES",
        "SELECT REGEXP_EXTRACT('a(?=b)', s) FROM t EMIT CHANGES",
        "SELECT REGEXP_EXTRACT('(a)\\1', s) FROM t EMIT CHANGES",
        "SELECT REGEXP_EXTRACT('a++', s) FROM t EMIT CHANGES",
        "SELECT REGEXP_EXTRACT('a{1001}', s) FROM t EMIT CHANGES",
        "SELECT REGEXP_EXTRACT('(?i)ä', s) FROM t EMIT CHANGES",
        "SELECT PARSE_TIMESTAMP(s, 'YYYY-ww') FROM t EMIT CHANGES",
        "SELECT TIMESTAMPTOSTRING(0, 'zzzz') FROM t EMIT CHANGES",
    ],
)
def test_what_python_does_not_compute_is_refused_before_a_row_is_read(text: str) -> None:
    outcome = engine_with(_STREAM).analyse(parse_statement(text), {})
    assert isinstance(outcome, PushQuery)
    with pytest.raises(SqlError):
        Projection(outcome.query)


def test_values_are_made_of_others() -> None:
    assert caster(STRING, TIMESTAMP)("2026-01-02T03:04:05") == dt.datetime(
        2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC
    )
    assert caster(STRING, DATE)("2026-01-02") == dt.date(2026, 1, 2)
    assert caster(DOUBLE, Decimal(4, 1))(2.25) == decimal.Decimal("2.3")
    assert caster(DOUBLE, Decimal(3, 1))(1234.5) is None
    assert caster(INTEGER, STRING)(7) == "7"
    with pytest.raises(SqlError):
        caster(TIMESTAMP, INTEGER)


def test_clients_see_json() -> None:
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=dt.UTC)
    assert shown(moment, TIMESTAMP) == "2026-01-02T03:04:05.006"
    assert encoded([decimal.Decimal("1.50"), shown(b"\x00", STRING)]) == b'[1.50,"AA=="]'


@pytest.mark.parametrize("digits", ["123456789012345678901234567890123456.78", "-0.01"])
def test_decimals_keep_all_digits_in_protobuf(digits: str) -> None:
    type_ = Decimal(38, 2)
    written = message_json(decimal.Decimal(digits), type_, None)
    assert from_json(written, type_) == decimal.Decimal(digits)


@pytest.mark.parametrize("format_", ["JSON", "DELIMITED"])
def test_records_are_read_as_they_are_written(format_: str) -> None:
    orders = source(
        "CREATE STREAM o (id BIGINT KEY, name STRING, price DECIMAL(6, 2), at TIMESTAMP, n INT) "
        f"WITH (kafka_topic='o', value_format='{format_}')"
    )
    row = {
        "ID": -3,
        "NAME": "a, b",
        "PRICE": decimal.Decimal("1.50"),
        "AT": dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
        "N": None,
    }
    key, value = RecordWriter(orders, None).record(row)
    assert key == struct.pack(">q", -3)
    found = RecordReader(orders, "O", None).row(Record(key, value, 17, 2, 5))
    assert {name: found["O", name] for name in row} == row
    assert (found["O", "ROWTIME"], found["O", "ROWPARTITION"], found["O", "ROWOFFSET"]) == (
        17, 2, 5,
    )  # fmt: skip
    with pytest.raises(MalformedError):
        RecordReader(orders, "O", None).row(Record(key, b"\xff\xfe"))


def test_names_in_json_are_found_in_any_capitals() -> None:
    orders = source("CREATE STREAM o (a INT, b STRUCT<c INT>) WITH (kafka_topic='o', "
                    "value_format='JSON')")  # fmt: skip
    found = RecordReader(orders, "O", None).row(Record(None, b'{"a": 1, "B": {"c": 2}}'))
    assert found["O", "A"] == 1
    assert found["O", "B"] == {"C": 2}


def test_windows_are_part_of_the_key() -> None:
    hourly = source(
        "CREATE TABLE h (id STRING PRIMARY KEY, n INT) WITH (kafka_topic='h', value_format='JSON', "
        "window_type='TUMBLING', window_size='1 HOUR')"
    )
    key = b"a" + struct.pack(">q", 3_600_000)
    row = RecordReader(hourly, "H", None).row(Record(key, b'{"N": 1}'))
    assert (row["H", "ID"], row["H", "WINDOWSTART"], row["H", "WINDOWEND"]) == (
        "a", 3_600_000, 7_200_000,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("a = 1 AND b = 'x'", [{"A": 1, "B": "x"}]),
        ("b IN ('x', 'y') AND 1 = a AND n > 3", [{"A": 1, "B": "x"}, {"A": 1, "B": "y"}]),
        ("a = 1", None),
        ("a = 1 OR b = 'x'", None),
        ("a > 1 AND b = 'x'", None),
        ("a = n AND b = 'x'", None),
        ("a NOT IN (1) AND b = 'x'", None),
    ],
)
def test_conditions_that_name_keys(where: str, expected: Any) -> None:
    engine = engine_with(
        "CREATE TABLE t (a INT PRIMARY KEY, b STRING PRIMARY KEY, n INT) "
        "WITH (kafka_topic='t', format='JSON')"
    )
    outcome = engine.analyse(parse_statement(f"SELECT * FROM t WHERE {where}"), {})
    assert isinstance(outcome, PushQuery)
    assert wanted_keys(outcome.query.where, engine.metastore.source("T")) == expected
