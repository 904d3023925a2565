"""Statements run one after the other against one metastore, for tests of analysis and plans."""

from __future__ import annotations

from headwater.sql.analysis.outcomes import Outcome, StoreQuery
from headwater.sql.analysis.statements import StatementAnalyser
from headwater.sql.parser.parser import parse

SOURCES = """
CREATE STREAM orders (id STRING KEY, item INT, amount INT, price DECIMAL(6, 2),
  address STRUCT<city STRING, zip INT>, tags ARRAY<STRING>, item_name STRING)
  WITH (kafka_topic = 'orders', value_format = 'JSON');
CREATE STREAM payments (id STRING KEY, amount INT, paid BOOLEAN)
  WITH (kafka_topic = 'payments', value_format = 'JSON');
CREATE STREAM keyless (a INT, b STRING) WITH (kafka_topic = 'keyless', value_format = 'JSON');
CREATE TABLE items (item INT PRIMARY KEY, name STRING, maker INT)
  WITH (kafka_topic = 'items', value_format = 'JSON');
CREATE TABLE makers (maker INT PRIMARY KEY, name STRING)
  WITH (kafka_topic = 'makers', value_format = 'JSON');
CREATE TABLE stock (item INT PRIMARY KEY, pieces BIGINT)
  WITH (kafka_topic = 'stock', value_format = 'JSON');
CREATE TABLE shelves (aisle INT PRIMARY KEY, side STRING PRIMARY KEY, item INT)
  WITH (kafka_topic = 'shelves', format = 'JSON');
CREATE STREAM hourly (id STRING KEY, n INT)
  WITH (kafka_topic = 'h', value_format = 'JSON', window_type = 'TUMBLING', window_size = '1 HOUR');
"""


def session(text: str = "", **settings: str) -> StatementAnalyser:
    """Return an analyser that knows the sources above and what `text` makes."""
    analyser = StatementAnalyser(settings=settings)
    for statement in SOURCES, text:
        run(analyser, statement)
    return analyser


def run(analyser: StatementAnalyser, text: str) -> list[Outcome]:
    """Run statements; return what each asks for."""
    return [analyser.run(parsed.statement) for parsed in parse(text)]


def stored(text: str, before: str = "") -> StoreQuery:
    """Return the query of a statement that stores its result."""
    (outcome,) = run(session(before), text)
    assert isinstance(outcome, StoreQuery)
    return outcome


def schema(text: str, before: str = "") -> str:
    """Return the columns of the source that a statement makes, as DESCRIBE would write them."""
    return ", ".join(str(column) for column in stored(text, before).sink.columns)
