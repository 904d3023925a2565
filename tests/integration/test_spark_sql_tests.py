"""SQL in the tests of users: files of ksqlDB's runners, rows in pytest, foreign keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from tests.docs_page import ROOT, blocks, commands
from tests.spark_session import one_partition, spark

from headwater.cli.app import headwater
from headwater.cli.sql.testing import test_files as run_command
from headwater.sql.errors import SqlError
from headwater.testing import SqlDriver
from headwater.testing.sql.json_files import TestFileError, run_files
from headwater.testing.sql.sql_files import read_tests, run_test

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

__all__ = ["one_partition", "spark"]

PAGE = ROOT / "docs" / "sql-tests.md"
ALERTS = """
CREATE STREAM readings (id STRING KEY, value DOUBLE)
  WITH (kafka_topic='readings', value_format='AVRO', partitions=1);
CREATE STREAM alerts AS SELECT id, value * 2 AS twice FROM readings WHERE value > 800;
"""
SQL_FILE = """
CREATE STREAM nobody (id INT KEY) WITH (kafka_topic='n', value_format='JSON');
--@test: rows of tables meet by a foreign key
CREATE TABLE orders (id INT PRIMARY KEY, customer STRING, amount INT)
  WITH (kafka_topic='orders', value_format='JSON', partitions=1);
CREATE TABLE customers (name STRING PRIMARY KEY, city STRING)
  WITH (kafka_topic='customers', value_format='JSON', partitions=2);
CREATE TABLE shipped AS SELECT o.id, o.amount, c.city FROM orders o
  LEFT JOIN customers c ON UCASE(o.customer) = c.name;
ASSERT TABLE shipped (id INT PRIMARY KEY, amount INT, city STRING) WITH (kafka_topic='SHIPPED');
INSERT INTO orders (rowtime, id, customer, amount) VALUES (5, 1, 'ann', 10);
INSERT INTO customers (rowtime, name, city) VALUES (7, 'ANN', 'Ulm');
INSERT INTO customers (rowtime, name, city) VALUES (9, 'BOB', 'Bonn');
INSERT INTO orders (rowtime, id, customer, amount) VALUES (11, 1, 'bob', 12);
ASSERT VALUES shipped (rowtime, id, amount, city) VALUES (5, 1, 10, NULL);
ASSERT VALUES shipped (rowtime, id, amount, city) VALUES (7, 1, 10, 'Ulm');
ASSERT VALUES shipped (id, amount, city) VALUES (1, 12, 'Bonn');
--@test: this fails
CREATE STREAM a (id INT KEY, n INT) WITH (kafka_topic='a', value_format='JSON');
CREATE STREAM b AS SELECT id, n + 1 AS m FROM a;
INSERT INTO a VALUES (1, 1);
ASSERT VALUES b (id, m) VALUES (1, 3);
--@test: this is refused
--@expected.error: io.confluent.ksql.util.KsqlException
--@expected.message: no column
CREATE STREAM a (id INT KEY, n INT) WITH (kafka_topic='a', value_format='JSON');
CREATE STREAM b AS SELECT id, m FROM a;
--@test: other columns
CREATE STREAM a (id INT KEY, n INT) WITH (kafka_topic='a', value_format='JSON');
ASSERT STREAM a (id INT KEY, n BIGINT);
"""


def test_files_of_sql_are_tests(spark: SparkSession, one_partition: None) -> None:
    tests = read_tests(SQL_FILE)
    assert [test.name for test in tests] == [
        "rows of tables meet by a foreign key", "this fails", "this is refused", "other columns",
    ]  # fmt: skip
    joined, fails, refused, columns = (run_test(test, spark) for test in tests)
    assert joined is None
    assert fails is not None
    assert "M = 2" in fails
    assert refused is None
    assert columns == "A is ID INTEGER KEY, N INTEGER"


def test_the_files_of_ksqldb_s_test_runner(
    spark: SparkSession, one_partition: None, tmp_path: Path
) -> None:
    statements, inputs, outputs = (tmp_path / name for name in ("s.sql", "i.json", "o.json"))
    statements.write_text(ALERTS)
    given = [
        {"topic": "readings", "key": "boiler", "value": {"value": 900.5}, "timestamp": 3},
        {"topic": "readings", "key": "pump", "value": {"value": 1.0}, "timestamp": 4},
    ]
    expected = [{"topic": "ALERTS", "key": "boiler", "value": {"TWICE": 1801.0}, "timestamp": 3}]
    inputs.write_text(json.dumps({"inputs": given}))
    outputs.write_text(json.dumps({"outputs": expected}))
    assert run_files(statements, inputs, outputs) == []
    outputs.write_text(json.dumps({"outputs": [*expected, *expected]}))
    (difference,) = run_files(statements, inputs, outputs)
    assert difference.startswith("ALERTS 1: None")
    outputs.write_text('{"inputs": []}')
    with pytest.raises(TestFileError, match="has no records"):
        run_files(statements, inputs, outputs)
    inputs.write_text(json.dumps({"inputs": [{**given[0], "topic": "nowhere"}]}))
    outputs.write_text(json.dumps({"outputs": expected}))
    with pytest.raises(TestFileError, match="record 1: no stream or table"):
        run_files(statements, inputs, outputs)


def test_the_command_does_what_the_page_says(
    spark: SparkSession, one_partition: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    statements, alone = blocks(PAGE, "sql")
    given, expected = blocks(PAGE, "json")
    files = {"s.sql": statements, "i.json": given, "o.json": expected, "alerts.sql": alone}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for command in commands(PAGE):
        ran = CliRunner().invoke(headwater, command.line.removeprefix("headwater ").split())
        assert ran.output == command.expected
    (tmp_path / "o.json").write_text(expected.replace("900.0", "901.0"))
    failed = run_command(tmp_path / "s.sql", tmp_path / "i.json", tmp_path / "o.json")
    assert failed == 1


def test_rows_of_a_driver(spark: SparkSession, one_partition: None) -> None:
    (code,) = blocks(PAGE, "python")
    names: dict[str, Any] = {}
    exec(code, names)
    names["test_alerts_have_a_unit"]()
    with SqlDriver(ALERTS, spark) as driver:
        driver.insert("INSERT INTO readings VALUES ('boiler', 900); ")
        assert driver.rows("alerts") == [{"ID": "boiler", "TWICE": 1800.0}]
        assert driver.rows("readings") == [{"ID": "boiler", "VALUE": 900.0}]
        with pytest.raises(SqlError, match="only INSERT"):
            driver.insert("DROP STREAM alerts;")
        with pytest.raises(SqlError, match="no stream or table NOBODY"):
            driver.rows("NOBODY")
    with pytest.raises(SqlError, match="nothing to run"):
        SqlDriver("CREATE STREAM a (x INT) WITH (kafka_topic='a', value_format='JSON');")
