"""SQL run by Spark without a broker: statements become one plan, records go in and come out.

All queries share one driver, so that Spark starts and compiles once.
"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark_session import spark

from headwater.sql.analysis.outcomes import StoreQuery
from headwater.sql.analysis.statements import StatementAnalyser
from headwater.sql.parser.parser import parse
from headwater.sql.planning.plans import plan_queries
from headwater.sql.server.config import ProcessingLogConfig, SqlConfig
from headwater.sql.server.queries.plans import query_plan
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.plan.plan import Plan

__all__ = ["spark"]

_START = datetime(2026, 1, 1, tzinfo=UTC)

_EXPRESSIONS: list[tuple[str, Any]] = [
    ("n + 2147483647", -2147483642),
    ("n / 0", None),
    ("n % 4", 3),
    ("x / 0", "Infinity"),
    ("d * 2", 3.0),
    ("nothing = 1", False),
    ("NOT (nothing = 1)", True),
    ("nothing IS DISTINCT FROM 1", True),
    ("nothing + 1", None),
    ("n BETWEEN 1 AND 7", True),
    ("n IN (1, 7)", True),
    ("s LIKE 'a\\%'", False),
    ("s LIKE 'a%'", True),
    ("s LIKE 'a!_c' ESCAPE '!'", False),
    ("CASE WHEN n > 3 THEN 'many' ELSE 'few' END", "many"),
    ("CASE s WHEN 'abc' THEN 1 END", 1),
    ("CAST('12' AS INT) + CAST('x' AS INT)", None),
    ("CAST(x AS INT)", 2),
    ("CAST(5000000000 AS INT)", 705032704),
    ("CAST('yes' AS BOOLEAN)", True),
    ("CAST(tags AS STRING)", "[b, a]"),
    ("CAST(m AS STRING)", "{k=1}"),
    ("CAST(ARRAY[m] AS STRING)", "[{k=1}]"),
    ("CAST(p AS STRING)", "Struct{CITY=Ulm,ZIP=89073}"),
    ("tags[1]", "b"),
    ("tags[-1]", "a"),
    ("tags[9]", None),
    ("m['k']", 1),
    ("p->city", "Ulm"),
    ("STRUCT(a := n, b := s)", {"A": 7, "B": "abc"}),
    ("ARRAY[n, 8]", [7, 8]),
    ("MAP('a' := n)", {"a": 7}),
    ("MAP('a' := n) = MAP('a' := 7)", True),
    ("UCASE(s) + LCASE('X')", "ABCx"),
    ("CONCAT(s, CAST(nothing AS STRING), '!')", "abc!"),
    ("SUBSTRING(s, 2)", "bc"),
    ("SUBSTRING(s, -2, 1)", "b"),
    ("SUBSTRING(s, 0, 2)", "ab"),
    ("SUBSTRING(s, nothing)", None),
    ("SUBSTRING(s, 1, nothing)", None),
    ("LPAD(s, 5, '-')", "--abc"),
    ("INITCAP('the plant')", "The Plant"),
    ("LEN(s)", 3),
    ("ROUND(2.5e0)", 3),
    ("FLOOR(-1.5e0)", -2.0),
    ("GREATEST(n, 9, CAST(NULL AS INT))", 9),
    ("COALESCE(nothing, n)", 7),
    ("ARRAY_SORT(tags, 'ASC')", ["a", "b"]),
    ("ARRAY_CONTAINS(tags, 'a')", True),
    ("TRANSFORM(tags, t => UCASE(t))", ["B", "A"]),
    ("FILTER(m, (k, v) => v > 1)", {}),
    ("TRANSFORM(m, (k, v) => k + '!', (k, v) => v + 1)", {"k!": 2}),
    ("REDUCE(ARRAY[1, 2], 10, (s, e) => s + e)", 13),
    ("ELT(2, 'a', 'b')", "b"),
    ("FIELD('b', 'a', 'b')", 2),
    ("EXTRACTJSONFIELD('{\"a\": {\"b\": 1}}', '$.a.b')", "1"),
    ("ARRAY_REMOVE(ARRAY[m, MAP('z' := 2)], m)", [{"z": 2}]),
    ("m IN (MAP('k' := 1))", True),
    ("INSTR('corporate floor', 'or', -4, 2)", 2),
    ("CHR('\\u004b') + CHR(75)", "KK"),
    ("ENCODE('0x4a', 'hex', 'utf8')", "J"),
    ("FROM_BYTES(TO_BYTES('J', 'ascii'), 'hex')", "4A"),
    ("INT_FROM_BYTES(TO_BYTES('000007e5', 'hex'))", 2021),
    ("BIGINT_FROM_BYTES(TO_BYTES('0100000000000000', 'hex'), 'LITTLE_ENDIAN')", 1),
    ("LEN(UUID(TO_BYTES('00000000000000000000000000000001', 'hex')))", 36),
    ("TRUNC(-12.78e0, 1)", -12.7),
    ("TRUNC(12.78, -1)", 10.0),
    ("ROUND(GEO_DISTANCE(37.4439, -122.1663, 51.5257, -0.1122, 'MI'))", 5366),
    ("IS_JSON_STRING('[1')", False),
    ('JSON_ITEMS(\'[{"a": 1}, "b"]\')', ['{"a":1}', '"b"']),
    ("JSON_CONCAT('[1]', '{\"a\": 2}')", '[1,{"a":2}]'),
    ("JSON_ARRAY_CONTAINS('[1, \"x\"]', 'x')", True),
    ("JSON_RECORDS('{\"a\": 1}')", {"a": "1"}),
    ("TO_JSON_STRING(tags)", '["b","a"]'),
    ("MASK('Ab1-')", "Xxn-"),
    ("MASK_KEEP_LEFT('Ab1-', 2)", "Abn-"),
    ("MASK_RIGHT('Ab12', 1, 'X', 'x', '#', '-')", "Ab1#"),
    ("REGEXP_EXTRACT('(\\d+)-(\\d+)', 'a 12-34', 2)", "34"),
    ("REGEXP_EXTRACT('z', 'abc')", None),
    ("REGEXP_EXTRACT_ALL('[ab]', 'abc')", ["a", "b"]),
    ("REGEXP_REPLACE(s, '[ab]', 'x')", "xxc"),
    ("REGEXP_SPLIT_TO_ARRAY('a1b22c', '\\d+')", ["a", "b", "c"]),
    ("SPLIT('a.b.', '.')", ["a", "b", ""]),
    ("SPLIT_TO_MAP('a=1;b=2;a=3', ';', '=')", {"b": "2", "a": "3"}),
    ("URL_EXTRACT_PARAMETER('http://h:8/p?q=a%20b#f', 'q')", "a b"),
    ("URL_EXTRACT_PORT('http://h:8/p')", 8),
    ("URL_EXTRACT_HOST('http://h:8/p')", "h"),
    ("URL_DECODE_PARAM(URL_ENCODE_PARAM('a b&c'))", "a b&c"),
    ("DATETOSTRING(17662, 'dd-MMM-yyyy')", "11-May-2018"),
    ("STRINGTODATE('11/05/2018', 'dd/MM/yyyy')", 17662),
    ("STRINGTOTIMESTAMP('2018-05-11 00', 'yyyy-MM-dd HH', '+0100')", 1525993200000),
    ("FORMAT_TIMESTAMP(FROM_UNIXTIME(0), 'yyyy HH:mm', '+0100')", "1970 01:00"),
    ("PARSE_TIMESTAMP('1970', 'yyyy')", 0),
    ("PARSE_DATE('1970-01-02', 'yyyy-MM-dd')", 1),
    ("PARSE_TIME('00:01', 'HH:mm')", 60_000),
    ("FORMAT_TIME(TIMEADD(HOURS, 25, PARSE_TIME('00:01', 'HH:mm')), 'HH:mm')", "01:01"),
    ("DATESUB(DAYS, 3, FROM_DAYS(10))", 7),
    ("CONVERT_TZ(FROM_UNIXTIME(100), '+0200', '+0500')", 10_800_100),
    ("ENTRIES(m, true)", [{"K": "k", "V": 1}]),
]

_STATEMENTS = """
CREATE STREAM orders (id STRING KEY, item INT, amount INT)
  WITH (kafka_topic = 'orders', value_format = 'JSON');
CREATE TABLE items (item INT PRIMARY KEY, name STRING)
  WITH (kafka_topic = 'items', value_format = 'JSON');
CREATE STREAM big AS SELECT id, amount * 2 AS twice FROM orders WHERE amount > 3;
CREATE STREAM by_item AS SELECT item, id, amount FROM orders PARTITION BY item;
CREATE STREAM named AS SELECT o.item, amount, name FROM orders o
  LEFT JOIN items i ON o.item = i.item;
CREATE TABLE per_minute AS SELECT id, COUNT(*) AS n, SUM(amount) AS total FROM orders
  WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY id HAVING COUNT(*) > 1;
CREATE TABLE visits AS SELECT id, COLLECT_LIST(item) AS items FROM orders
  WINDOW SESSION (10 SECONDS) GROUP BY id;
CREATE TABLE cheap AS SELECT item, name FROM items WHERE name <> 'gold';
CREATE STREAM each_digit WITH (value_format = 'DELIMITED', value_delimiter = '|') AS
  SELECT id, EXPLODE(ARRAY[amount, item]) AS digit, 'a|b' AS text FROM orders;
CREATE STREAM read_again (id STRING KEY, digit INT, text STRING)
  WITH (kafka_topic = 'EACH_DIGIT', value_format = 'DELIMITED', value_delimiter = '|');
CREATE STREAM digits WITH (timestamp = 'digit') AS SELECT id, digit + 0 AS n, text,
  CAST(digit AS BIGINT) * 1000 AS digit FROM read_again;
CREATE STREAM minutes (id STRING KEY, n BIGINT, total INT)
  WITH (kafka_topic = 'PER_MINUTE', value_format = 'JSON', window_type = 'TUMBLING',
  window_size = '1 MINUTE');
CREATE STREAM ends AS SELECT id, windowend - windowstart AS length, n FROM minutes;
CREATE STREAM again AS SELECT id, twice + 1 AS more FROM big;
"""


@pytest.mark.timeout(600)
def test_times_and_decimals_are_messages_of_protobuf(spark: SparkSession) -> None:
    columns = "d DATE, t TIME, at TIMESTAMP, n DECIMAL(4, 2), days ARRAY<DATE>"
    plan = _plan(
        f"CREATE STREAM s (k INT KEY, {columns}) WITH (kafka_topic='s', format='PROTOBUF_NOSR');"
        "CREATE STREAM o WITH (format='JSON') AS SELECT * FROM s;"
        "CREATE STREAM p AS SELECT * FROM s;"
    )
    day = {"year": 2026, "month": 2, "day": 28}
    given = {
        "D": day,
        "T": {"hours": 23, "minutes": 59, "seconds": 58, "nanos": 7_000_000},
        "AT": {"seconds": -5, "nanos": 7_000_000},
        "N": {"value": base64.b64encode(b"\xff\x38").decode(), "precision": 4, "scale": 2},
        "DAYS": [day, {"year": 2026, "month": 2, "day": 30}],
    }
    # A driver has JSON where Protobuf would be: the messages are seen as they are.
    with TopologyDriver(plan, spark) as driver:
        driver.pipe("s", {"K": 7}, given)
        driver.pipe("s", None, {})
        numbers = {"D": 20512, "T": 86398007, "AT": -4993, "N": -2.0, "DAYS": [20512, None]}
        assert _shown(driver, "O") == [(7, numbers), (None, {})]
        assert _shown(driver, "P") == [({"K": 7}, {**given, "DAYS": [day, None]}), (None, {})]


def _plan(text: str) -> Plan:
    analyser = StatementAnalyser()
    outcomes = [analyser.run(parsed.statement) for parsed in parse(text)]
    return plan_queries("test", [each for each in outcomes if isinstance(each, StoreQuery)])


@pytest.mark.timeout(600)
def test_expressions_have_ksqldb_s_values(spark: SparkSession) -> None:
    selected = ", ".join(f"{text} AS v{index}" for index, (text, _) in enumerate(_EXPRESSIONS))
    plan = _plan(
        "CREATE STREAM t (n INT, x DOUBLE, d DECIMAL(4, 2), s STRING, nothing INT, "
        "tags ARRAY<STRING>, m MAP<STRING, INT>, p STRUCT<city STRING, zip INT>) "
        "WITH (kafka_topic = 't', value_format = 'JSON');"
        f"CREATE STREAM o AS SELECT {selected} FROM t;"
    )
    with TopologyDriver(plan, spark) as driver:
        place = {"CITY": "Ulm", "ZIP": 89073}
        value = {"N": 7, "X": 2.9, "D": 1.5, "S": "abc", "TAGS": ["b", "a"], "M": {"k": 1}}
        driver.pipe("t", None, {**value, "P": place})
        (record,) = driver.read("O")
    found = {text: record.value.get(f"V{index}") for index, (text, _) in enumerate(_EXPRESSIONS)}
    assert found == dict(_EXPRESSIONS)


@pytest.mark.timeout(600)
def test_queries_run_as_the_programs_of_the_dsl_do(spark: SparkSession) -> None:
    with TopologyDriver(_plan(_STATEMENTS), spark) as driver:
        driver.pipe("items", -1, {"NAME": "bolt"}, timestamp=_START)
        driver.run()
        for second, (key, item, amount) in enumerate([("a", -1, 5), ("b", 2, 1), ("a", -1, 2)]):
            value = {"ITEM": item, "AMOUNT": amount}
            driver.pipe("orders", key, value, timestamp=_START + timedelta(seconds=second))
        driver.pipe("orders", "c", None)

        assert _shown(driver, "BIG") == [("a", {"TWICE": 10})]
        assert _shown(driver, "AGAIN") == [("a", {"MORE": 11})]
        assert _shown(driver, "BY_ITEM")[:2] == [
            (-1, {"ID": "a", "AMOUNT": 5}),
            (2, {"ID": "b", "AMOUNT": 1}),
        ]
        # Rows of different keys come in any order.
        pairs = sorted(_shown(driver, "NAMED"), key=lambda pair: pair[0] or 0)
        assert pairs[:2] == [
            (-1, {"AMOUNT": 5, "NAME": "bolt"}),
            (-1, {"AMOUNT": 2, "NAME": "bolt"}),
        ]
        assert (2, {"AMOUNT": 1}) in pairs
        start = int(_START.timestamp() * 1000)
        window = {"key": "a", "window_start": start}
        # Nothing is said of a group that HAVING never let in.
        assert _shown(driver, "PER_MINUTE") == [(window, {"N": 2, "TOTAL": 7})]
        assert _shown(driver, "ENDS") == [(window, {"LENGTH": 60_000, "N": 2})]
        visits = [pair for pair in _shown(driver, "VISITS") if pair[0]["key"] == "a"]
        one = {"key": "a", "window_start": start, "window_end": start}
        assert visits == [
            (one, {"ITEMS": [-1]}),
            (one, None),
            ({**one, "window_end": start + 2000}, {"ITEMS": [-1, -1]}),
        ]
        assert _shown(driver, "EACH_DIGIT")[:2] == [("a", '5|"a|b"'), ("a", '"-1"|"a|b"')]
        first, *_ = driver.read("DIGITS")
        assert first.value == '5|"a|b"|5000'
        assert first.timestamp == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
        _shown(driver, "CHEAP")
        for name in ("gold", "tin", "gold", "gold"):
            driver.pipe("items", 7, {"NAME": name}, timestamp=_START)
        assert _shown(driver, "CHEAP") == [(7, {"NAME": "tin"}), (7, None)]


@pytest.mark.timeout(600)
def test_joins_of_streams_are_joined_and_counted_in_windows(spark: SparkSession) -> None:
    streams = (
        f"CREATE STREAM s{n} (id STRING KEY, v{n} INT) "
        f"WITH (kafka_topic='t{n}', value_format='JSON');"
        for n in (1, 2, 3)
    )
    pair = "FROM s1 JOIN s2 WITHIN 1 MINUTE ON s1.id = s2.id"
    plan = _plan(
        f"{' '.join(streams)}"
        f"CREATE STREAM triples AS SELECT s1.id, v1, v2, v3 {pair} "
        "JOIN s3 WITHIN 1 MINUTE ON s1.id = s3.id;"
        f"CREATE TABLE pairs AS SELECT s1.id, COUNT(*) AS n {pair} "
        "WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY s1.id;"
    )
    with TopologyDriver(plan, spark) as driver:
        for number, value in ((1, 1), (1, 2), (2, 5), (3, 9)):
            driver.pipe(f"t{number}", "a", {f"V{number}": value}, timestamp=_START)
        triples = [value for _, value in _shown(driver, "TRIPLES")]
        assert sorted(triples, key=lambda value: value["V1"]) == [
            {"V1": 1, "V2": 5, "V3": 9},
            {"V1": 2, "V2": 5, "V3": 9},
        ]
        assert [value["N"] for _, value in _shown(driver, "PAIRS")] == [1, 2]


@pytest.mark.timeout(600)
def test_json_is_read_as_ksqldb_reads_it_and_the_log_tells_of_what_is_none(
    spark: SparkSession, tmp_path: Path
) -> None:
    analyser = StatementAnalyser()
    _, stored = [
        analyser.run(parsed.statement)
        for parsed in parse(
            "CREATE STREAM visits (id STRING KEY, n INT, `x` INT, place STRUCT<cityName STRING>, "
            "tags ARRAY<STRUCT<a INT>>, m MAP<STRING, STRUCT<a INT>>) "
            "WITH (kafka_topic='visits', value_format='JSON');"
            "CREATE STREAM seen AS SELECT * FROM visits;"
        )
    ]
    assert isinstance(stored, StoreQuery)
    config = SqlConfig(log=ProcessingLogConfig("log", includes_rows=True))
    name = "_confluent-ksql-default_query_CSAS_SEEN_1"
    plan = query_plan(name, stored, {"auto.offset.reset": "earliest"}, config, tmp_path)
    with TopologyDriver(plan, spark) as driver:
        for text in (
            b'{"n": "7", "X": 1, "Place": {"cityname": "Ulm"}, "tags": [{"a": 1}, null], '
            b'"M": {"a": {"a": 2}}}',
            b'{"N": 1, "n": 2}',
            b"{rubbish",
        ):
            driver.pipe("visits", "v", text, timestamp=_START)
        assert _shown(driver, "SEEN") == [
            (
                "v",
                {
                    "N": 7,
                    "PLACE": {"CITYNAME": "Ulm"},
                    "TAGS": [{"A": 1}, None],
                    "M": {"a": {"A": 2}},
                },
            ),
            ("v", {"N": 1}),
        ]
        (entry,) = (json.loads(record.raw[1] or b"") for record in driver.read("log"))
    error = entry["message"].pop("deserializationError")
    assert entry == {
        "level": "ERROR",
        "logger": "processing.CSAS_SEEN_1.KsqlTopic.Source.deserializer",
        "time": int(_START.timestamp() * 1000),
        "message": {"type": 0},
    }
    assert (error["target"], error["topic"]) == ("value", "visits")
    assert error["errorMessage"].startswith("visits [0] at offset 2, value: it is no JSON")
    assert base64.b64decode(error["recordB64"]) == b"{rubbish"


def _shown(driver: TopologyDriver, topic: str) -> list[tuple[Any, Any]]:
    return [(record.key, record.value) for record in driver.read(topic)]
