"""SQL run by Spark without a broker: statements become one plan, records go in and come out.

All queries share one driver, so that Spark starts and compiles once.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark_session import spark

from headwater.sql.analysis.outcomes import StoreQuery
from headwater.sql.analysis.statements import StatementAnalyser
from headwater.sql.parser.parser import parse
from headwater.sql.planning.plans import plan_queries
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
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
CREATE STREAM again AS SELECT id, twice + 1 AS more FROM big;
"""


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
        start = struct.pack(">q", int(_START.timestamp() * 1000))
        kept = [(key, value) for key, value in _shown(driver, "PER_MINUTE") if value is not None]
        assert kept == [(b"a" + start, {"N": 2, "TOTAL": 7})]


def _shown(driver: TopologyDriver, topic: str) -> list[tuple[Any, Any]]:
    return [(record.key, record.value) for record in driver.read(topic)]
