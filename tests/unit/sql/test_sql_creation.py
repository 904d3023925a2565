"""CREATE STREAM and CREATE TABLE over topics: what is made, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.sql.sql_sessions import run, session

from headwater.sql.analysis.outcomes import MakeSource, Nothing
from headwater.sql.analysis.statements import StatementAnalyser
from headwater.sql.errors import SqlError
from headwater.sql.metastore.source import DataSource, KeyWindow, WindowKind
from headwater.sql.types.sql_type import BIGINT, INTEGER, SqlType, Struct

if TYPE_CHECKING:
    from headwater.sql.metastore.formats import ChosenFormat

_ALL = "ARRAY<STRUCT<key STRING, value BYTES>>"


def made(text: str, **settings: str) -> DataSource:
    (outcome,) = run(session(**settings), text)
    assert isinstance(outcome, MakeSource)
    return outcome.source


def test_a_source_has_its_topic_formats_and_keys_first() -> None:
    source = made(
        "CREATE STREAM s (x INT, k STRING KEY, h BYTES HEADER('trace')) WITH (kafka_topic = 'T', "
        "key_format = 'json', value_format = 'delimited', value_delimiter = 'TAB', partitions = 3);"
    )
    assert [str(column) for column in source.columns] == [
        "K STRING KEY",
        "X INTEGER",
        "H BYTES HEADER('trace')",
    ]
    assert (source.topic, source.partitions) == ("T", 3)
    assert (source.key_format.name, source.value_format.name) == ("JSON", "DELIMITED")
    assert source.value_format.properties == (("DELIMITER", "\t"),)
    assert [column.name for column in source.key] == ["K"]
    assert [column.name for column in source.value] == ["X"]


def test_formats_are_those_of_the_session_where_a_statement_has_none() -> None:
    source = made(
        "CREATE STREAM s (x INT) WITH (kafka_topic = 't');",
        **{"ksql.persistence.default.format.value": "AVRO"},
    )
    assert (source.key_format.name, source.value_format.name) == ("KAFKA", "AVRO")


def test_windows_and_times_are_read_from_the_with_clause() -> None:
    source = made(
        "CREATE STREAM s (k INT KEY, at STRING) WITH (kafka_topic = 't', value_format = 'JSON', "
        "window_type = 'hopping', window_size = '2 MINUTES', timestamp = 'at', "
        "timestamp_format = 'yyyy-MM-dd');"
    )
    assert source.window == KeyWindow(WindowKind.HOPPING, 120_000)
    assert source.timestamp is not None
    assert (source.timestamp.name, source.timestamp.pattern) == ("AT", "yyyy-MM-dd")


class _Schemas:
    """A registry with one schema, of every topic's keys and values."""

    def __init__(self, found: SqlType) -> None:
        self._found = found

    def find(self, topic: str, chosen: ChosenFormat, *, is_key: bool) -> SqlType | None:
        return INTEGER if is_key else self._found


@pytest.mark.parametrize(
    ("properties", "found", "columns"),
    [
        ("value_format = 'AVRO'", Struct((("a", BIGINT),)), ["A BIGINT"]),
        ("value_format = 'AVRO', value_schema_id = 7", Struct((("a", BIGINT),)), ["`a` BIGINT"]),
        ("value_format = 'AVRO', wrap_single_value = false", BIGINT, ["ROWVAL BIGINT"]),
        ("format = 'AVRO'", Struct((("a", BIGINT),)), ["ROWKEY INTEGER KEY", "A BIGINT"]),
    ],
)
def test_columns_come_from_the_registry_where_none_are_declared(
    properties: str, found: SqlType, columns: list[str]
) -> None:
    analyser = StatementAnalyser(schemas=_Schemas(found))
    (outcome,) = run(analyser, f"CREATE STREAM s WITH (kafka_topic = 't', {properties});")
    assert isinstance(outcome, MakeSource)
    assert [str(column) for column in outcome.source.columns] == columns


def test_if_not_exists_leaves_what_is_there_and_or_replace_does_not() -> None:
    text = "STREAM {} orders (x INT) WITH (kafka_topic = 't', value_format = 'JSON');"
    analyser = session()
    before = analyser.metastore.find("ORDERS")
    (outcome,) = run(analyser, "CREATE " + text.format("IF NOT EXISTS"))
    assert isinstance(outcome, Nothing)
    assert analyser.metastore.find("ORDERS") == before
    added = "TABLE stock (item INT PRIMARY KEY, pieces BIGINT, x INT)"
    run(analyser, f"CREATE OR REPLACE {added} WITH (kafka_topic='stock', value_format='JSON');")
    replaced = analyser.metastore.find("STOCK")
    assert replaced is not None
    assert [column.name for column in replaced.columns] == ["ITEM", "PIECES", "X"]


@pytest.mark.parametrize(
    ("declaration", "properties", "reason"),
    [
        ("STREAM s (x INT)", "value_format = 'JSON'", "KAFKA_TOPIC"),
        ("STREAM s (x INT)", "kafka_topic = 't'", "VALUE_FORMAT"),
        ("STREAM s", "kafka_topic = 't', value_format = 'JSON'", "no columns"),
        ("STREAM s", "kafka_topic = 't', value_format = 'AVRO'", "no columns"),
        ("TABLE s (x INT)", "kafka_topic = 't', value_format = 'JSON'", "PRIMARY KEY"),
        ("STREAM s (x INT)", "kafka_topic = 't', value_format = 'JSN'", "did you mean JSON"),
        ("STREAM s (x INT)", "kafka_topic = 't', frmat = 'JSON'", "did you mean FORMAT"),
        ("STREAM s (x INT)", "kafka_topic = 't', format = 'JSON', value_format = 'JSON'", "both"),
        ("STREAM orders (x INT)", "kafka_topic = 't', value_format = 'JSON'", "already"),
        ("STREAM s (x INT, y INT)", "kafka_topic = 't', value_format = 'KAFKA'", "single column"),
        ("STREAM s (x BOOLEAN)", "kafka_topic = 't', value_format = 'KAFKA'", "no BOOLEAN"),
        ("STREAM s (x ARRAY<INT>)", "kafka_topic = 't', value_format = 'DELIMITED'", "no ARRAY"),
        ("STREAM s (x MAP<INT, INT>)", "kafka_topic = 't', value_format = 'AVRO'", "STRING keys"),
        ("STREAM s (`1x` INT)", "kafka_topic = 't', value_format = 'AVRO'", "no name for Avro"),
        (
            "STREAM s (k ARRAY<MAP<STRING, INT>> KEY)",
            "kafka_topic = 't', format = 'JSON'",
            "no MAP in it",
        ),
        (
            "STREAM s (x INT)",
            "kafka_topic = 't', value_format = 'JSON', value_delimiter = ','",
            "has no VALUE_DELIMITER",
        ),
        (
            "STREAM s (x INT)",
            "kafka_topic = 't', value_format = 'DELIMITED', value_delimiter = '<>'",
            "one letter",
        ),
        (
            "STREAM s (x INT)",
            "kafka_topic = 't', value_format = 'KAFKA', wrap_single_value = true",
            "WRAP_SINGLE_VALUE = true",
        ),
        (
            "STREAM s (x INT, y INT)",
            "kafka_topic = 't', value_format = 'JSON', wrap_single_value = false",
            "single column",
        ),
        (
            "STREAM s (x INT)",
            "kafka_topic = 't', value_format = 'JSON', window_type = 'SESSION'",
            "needs a KEY",
        ),
        (
            "STREAM s (k INT KEY)",
            "kafka_topic = 't', value_format = 'JSON', window_type = 'TUMBLING'",
            "WINDOW_SIZE",
        ),
        (
            "STREAM s (k INT KEY)",
            "kafka_topic = 't', value_format = 'JSON', window_type = 'HOPPING', "
            "window_size = '3 bananas'",
            "30 SECONDS",
        ),
        (
            "STREAM s (x INT)",
            "kafka_topic = 't', value_format = 'JSON', timestamp = 'x'",
            "BIGINT, TIMESTAMP or STRING",
        ),
        (
            "STREAM s (x STRING)",
            "kafka_topic = 't', value_format = 'JSON', timestamp = 'x'",
            "TIMESTAMP_FORMAT",
        ),
        (
            "STREAM s (x INT)",
            "kafka_topic = 't', value_format = 'AVRO', value_schema_id = 1",
            "leave out one",
        ),
        (
            "STREAM s (x INT)",
            "kafka_topic = 't', value_format = 'JSON', value_schema_id = 1",
            "schemas in the registry",
        ),
        ("STREAM s (x INT)", "kafka_topic = 't', value_format = 'JSON', partitions = 'x'", "whole"),
        *(
            (f"STREAM s ({columns})", "kafka_topic = 't', value_format = 'JSON'", reason)
            for columns, reason in (
                (f"a {_ALL} HEADERS, b {_ALL} HEADERS", "contains a HEADERS column"),
                (f"a {_ALL} HEADERS, b BYTES HEADER('x')", "contains a HEADERS column"),
                ("a BYTES HEADER('x'), b BYTES HEADER('x')", r"contains a HEADER\('x'\) column"),
            )
        ),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    declaration: str, properties: str, reason: str
) -> None:
    with pytest.raises(SqlError, match=reason):
        run(session(), f"CREATE {declaration} WITH ({properties});")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("DROP STREAM nothing;", "no stream or table NOTHING"),
        ("DROP STREAM `orders`;", "did you mean `ORDERS`"),
        ("DROP STREAM items;", "DROP TABLE"),
        ("ALTER STREAM orders ADD COLUMN amount INT;", "already"),
        ("CREATE TYPE a AS INT; CREATE TYPE a AS INT;", "already"),
        ("DROP TYPE a;", "no type A"),
        ("INSERT INTO orders (id, item) VALUES ('a');", "1 values for 2 columns"),
        ("INSERT INTO orders (id, colour) VALUES ('a', 'b');", "no column COLOUR"),
        (
            "INSERT INTO orders (id, item) VALUES ('a', true);",
            r"INTEGER for field `ITEM` but got BOOLEAN\(true",
        ),
        ("INSERT INTO items (name) VALUES ('a');", "primary key: ITEM"),
    ],
)
def test_changes_of_what_is_not_there_are_refused(text: str, reason: str) -> None:
    with pytest.raises(SqlError, match=reason):
        run(session(), text)


def test_dropped_altered_and_named_things_are_known_to_the_next_statement() -> None:
    analyser = session()
    run(
        analyser,
        "CREATE TYPE place AS STRUCT<city STRING>; ALTER STREAM keyless ADD COLUMN at place;"
        "DROP STREAM orders; DROP TABLE IF EXISTS nothing; DROP TYPE place;",
    )
    assert analyser.metastore.find("ORDERS") is None
    changed = analyser.metastore.find("KEYLESS")
    assert changed is not None
    assert str(changed.columns[-1]) == "AT STRUCT<`CITY` STRING>"
    assert analyser.metastore.types == {}
