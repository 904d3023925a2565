"""Queries: the schema of what they make, and what is refused with its reason and place."""

from __future__ import annotations

import pytest
from tests.unit.sql.sql_sessions import run, schema, session, stored

from headwater.sql.analysis.outcomes import PushQuery
from headwater.sql.analysis.query.analysed import JoinShape, ReadJoin
from headwater.sql.errors import SqlError
from headwater.sql.location import Location
from headwater.sql.metastore.source import KeyWindow, WindowKind


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("STREAM o AS SELECT * FROM keyless", "A INTEGER, B STRING"),
        ("STREAM o AS SELECT amount, id FROM payments", "ID STRING KEY, AMOUNT INTEGER"),
        (
            "STREAM o AS SELECT id AS key, amount + 1, LEN(id), AS_VALUE(id) AS copy FROM payments",
            "`KEY` STRING KEY, KSQL_COL_0 INTEGER, KSQL_COL_1 INTEGER, COPY STRING",
        ),
        (
            "STREAM o AS SELECT id, address->city, address->* FROM orders",
            "ID STRING KEY, CITY STRING, CITY_1 STRING, ZIP INTEGER",
        ),
        (
            "STREAM o AS SELECT * FROM payments PARTITION BY amount * 2",
            "KSQL_COL_0 INTEGER KEY, AMOUNT INTEGER, PAID BOOLEAN, ID STRING",
        ),
        (
            "STREAM o WITH (key_format = 'JSON') AS SELECT id, amount a, paid FROM payments "
            "PARTITION BY amount, paid",
            "A INTEGER KEY, PAID BOOLEAN KEY, ID STRING",
        ),
        ("STREAM o AS SELECT * FROM keyless PARTITION BY NULL", "A INTEGER, B STRING"),
        (
            "TABLE o AS SELECT COUNT(*), item, SUM(amount) total FROM orders GROUP BY item",
            "ITEM INTEGER `PRIMARY KEY`, KSQL_COL_0 BIGINT, TOTAL INTEGER",
        ),
        (
            "STREAM o AS SELECT o.id, o.amount, paid, p.amount, o.rowtime AS at FROM orders o "
            "JOIN payments p WITHIN 1 HOUR ON o.id = p.id",
            "O_ID STRING KEY, O_AMOUNT INTEGER, PAID BOOLEAN, P_AMOUNT INTEGER, AT BIGINT",
        ),
        (
            "STREAM o AS SELECT i.*, amount FROM orders LEFT JOIN items i ON orders.item = i.item",
            "I_ITEM INTEGER KEY, I_NAME STRING, I_MAKER INTEGER, AMOUNT INTEGER",
        ),
        (
            "TABLE o AS SELECT * FROM items i FULL JOIN stock s ON i.item = s.item",
            "ROWKEY INTEGER `PRIMARY KEY`, I_ITEM INTEGER, I_NAME STRING, I_MAKER INTEGER, "
            "S_ITEM INTEGER, S_PIECES BIGINT",
        ),
        (
            "TABLE o AS SELECT i.item, m.name FROM items i JOIN makers m ON i.maker = m.maker",
            "ITEM INTEGER `PRIMARY KEY`, M_NAME STRING",
        ),
        (
            "STREAM o AS SELECT s.item, pieces, amount FROM orders o JOIN items i "
            "ON o.item = i.item JOIN stock s ON o.item = s.item",
            "S_ITEM INTEGER KEY, PIECES BIGINT, AMOUNT INTEGER",
        ),
    ],
)
def test_the_result_has_the_columns_that_ksqldb_gives_it(text: str, columns: str) -> None:
    expected = columns.replace("`PRIMARY KEY`", "PRIMARY KEY").replace("`KEY` ", "KEY ")
    assert schema(f"CREATE {text};") == expected


def test_windows_of_a_query_are_in_the_key_of_its_result() -> None:
    outcome = stored(
        "CREATE TABLE o AS SELECT id, COUNT(*) n FROM orders "
        "WINDOW HOPPING (SIZE 10 MINUTES, ADVANCE BY 1 MINUTE) GROUP BY id;"
    )
    assert outcome.sink.window == KeyWindow(WindowKind.HOPPING, 600_000)
    assert stored("CREATE STREAM o AS SELECT * FROM hourly;").sink.is_windowed
    assert not stored("CREATE STREAM o AS SELECT * FROM hourly PARTITION BY n;").sink.is_windowed


def test_formats_are_those_of_the_first_source_unless_given() -> None:
    shelf = stored("CREATE TABLE o AS SELECT * FROM shelves;").sink
    assert (shelf.topic, shelf.key_format.name) == ("O", "JSON")
    keyless = stored("CREATE STREAM o WITH (value_format = 'AVRO') AS SELECT * FROM keyless;").sink
    assert (keyless.key_format.name, keyless.value_format.name) == ("NONE", "AVRO")


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        ("orders o JOIN payments p WITHIN 1 HOUR ON o.id = p.id", JoinShape.STREAM_STREAM),
        ("orders o JOIN items i ON o.item = i.item", JoinShape.STREAM_TABLE),
        ("items i JOIN stock s ON s.item = i.item", JoinShape.TABLE_TABLE),
        ("items i JOIN makers m ON i.maker = m.maker", JoinShape.FOREIGN_KEY),
        ("items i JOIN makers m ON i.maker + 1 = m.maker", JoinShape.FOREIGN_KEY),
    ],
)
def test_joins_are_told_apart_by_what_they_join(source: str, shape: JoinShape) -> None:
    (outcome,) = run(session(), f"SELECT * FROM {source} EMIT CHANGES;")
    assert isinstance(outcome, PushQuery)
    assert isinstance(outcome.query.relation, ReadJoin)
    assert outcome.query.relation.shape is shape


def test_a_push_query_needs_no_key_and_may_have_a_row_s_time() -> None:
    (outcome,) = run(session(), "SELECT rowtime, amount FROM orders EMIT CHANGES LIMIT 3;")
    assert isinstance(outcome, PushQuery)
    assert [str(column) for column in outcome.query.columns] == [
        "ROWTIME BIGINT",
        "AMOUNT INTEGER",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("STREAM o AS SELECT amount FROM orders", "key column ORDERS.ID has to be selected"),
        ("STREAM o AS SELECT id, id AS again FROM orders", "selected twice"),
        ("STREAM o AS SELECT id, amount AS x, item AS x FROM orders", "two columns"),
        ("STREAM o AS SELECT id, rowtime FROM orders", "another name with AS"),
        ("STREAM o AS SELECT id, NULL AS x FROM orders", "cast it"),
        ("STREAM o AS SELECT id, amoun FROM orders", "did you mean AMOUNT"),
        ("STREAM o AS SELECT p.* FROM orders", "P is no source"),
        ("STREAM o AS SELECT * FROM nowhere", "no stream or table NOWHERE"),
        ("STREAM o AS SELECT * FROM orders LIMIT 3", "no LIMIT"),
        ("TABLE o AS SELECT * FROM orders", "write CREATE STREAM"),
        ("STREAM o AS SELECT item, COUNT(*) FROM orders GROUP BY item", "write CREATE TABLE"),
        ("STREAM o AS SELECT id, COUNT(*) FROM orders", "needs GROUP BY"),
        ("STREAM o AS SELECT * FROM orders WHERE COUNT(*) > 1", "WHERE cannot have COUNT"),
        ("STREAM o AS SELECT * FROM items PARTITION BY name", "a table|PARTITION BY"),
        ("STREAM o AS SELECT * FROM orders HAVING amount > 1", "HAVING needs GROUP BY"),
        ("TABLE o AS SELECT amount, COUNT(*) FROM orders GROUP BY item", "AMOUNT in SELECT"),
        (
            "TABLE o AS SELECT item, COUNT(*) FROM orders GROUP BY item HAVING amount > 1",
            "AMOUNT in HAVING",
        ),
        ("TABLE o AS SELECT COUNT(*) FROM orders GROUP BY item", "grouping expression ORDERS.ITEM"),
        ("TABLE o AS SELECT item FROM orders GROUP BY item", "needs an aggregate"),
        ("TABLE o AS SELECT item, COUNT(*) FROM orders GROUP BY item, item", "twice"),
        ("TABLE o AS SELECT SUM(item), COUNT(*) FROM orders GROUP BY SUM(item)", "aggregate"),
        ("TABLE o AS SELECT item FROM orders GROUP BY item HAVING COUNT(*) > 1", "no values"),
        ("TABLE o AS SELECT maker, MAX(item) FROM items GROUP BY maker", "MAX is for streams"),
        (
            "TABLE o AS SELECT maker, COUNT(*) FROM items WINDOW TUMBLING (SIZE 1 HOUR) "
            "GROUP BY maker",
            "WINDOW is for streams",
        ),
        ("TABLE o AS SELECT item, amount, COUNT(*) FROM orders GROUP BY item, amount", "KAFKA"),
        ("TABLE o AS SELECT id, EXPLODE(tags), COUNT(*) FROM orders GROUP BY id", "table function"),
        ("TABLE o AS SELECT item, EXPLODE(ARRAY[1]) FROM items", "streams alone"),
        ("STREAM o AS SELECT * FROM orders EMIT FINAL", "needs windows"),
        ("STREAM o AS SELECT * FROM orders a JOIN orders b WITHIN 1 DAY ON a.id = b.id", "itself"),
        ("STREAM o AS SELECT * FROM orders o JOIN payments p ON o.id = p.id", "WITHIN"),
        (
            "STREAM o AS SELECT * FROM orders o JOIN items i WITHIN 1 DAY ON o.item = i.item",
            "has no WITHIN",
        ),
        (
            "STREAM o AS SELECT * FROM orders o FULL JOIN items i ON o.item = i.item",
            "INNER or LEFT",
        ),
        ("STREAM o AS SELECT * FROM items i JOIN orders o ON o.item = i.item", "ORDERS|O first"),
        ("STREAM o AS SELECT * FROM orders o JOIN items i ON o.item = i.maker", "primary key"),
        ("STREAM o AS SELECT * FROM orders o JOIN items i ON o.id = i.item", "cast one"),
        ("STREAM o AS SELECT * FROM orders o JOIN items i ON o.item = 3", "exactly one source"),
        ("STREAM o AS SELECT * FROM orders o JOIN items i ON o.item = o.amount", "has to be of I"),
        (
            "STREAM o AS SELECT * FROM orders o JOIN items i ON o.item = i.item AND o.item = 3",
            "one condition",
        ),
        ("STREAM o AS SELECT * FROM orders o JOIN items i ON o.item > i.item", "are equal"),
        ("TABLE o AS SELECT * FROM items i RIGHT JOIN makers m ON i.maker = m.maker", "INNER or"),
        ("TABLE o AS SELECT * FROM items i JOIN shelves s ON i.item = s.aisle", "primary key"),
        (
            "STREAM o AS SELECT * FROM hourly h JOIN payments p WITHIN 1 DAY ON h.id = p.id",
            "has windows",
        ),
    ],
)
def test_what_ksqldb_refuses_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(SqlError, match=reason):
        stored(f"CREATE {text};")


def test_a_refusal_says_where() -> None:
    with pytest.raises(SqlError) as refused:
        stored("CREATE TABLE o AS\n  SELECT item, amount, COUNT(*) FROM orders GROUP BY item;")
    assert refused.value.location == Location(2, 16)


def test_topics_of_different_partitions_are_joined_only_where_one_is_made_anew() -> None:
    tables = (
        "CREATE TABLE a (k INT PRIMARY KEY, x INT) WITH (kafka_topic = 'a', value_format = 'JSON', "
        "partitions = 1); CREATE TABLE b (k INT PRIMARY KEY, y INT) WITH (kafka_topic = 'b', "
        "value_format = 'JSON', partitions = 2);"
    )
    with pytest.raises(SqlError, match="A has 1 partitions and B has 2"):
        stored("CREATE TABLE o AS SELECT a.k, x, y FROM a JOIN b ON a.k = b.k;", tables)
    stored("CREATE TABLE o AS SELECT a.k, x, y FROM a JOIN b ON a.x = b.k;", tables)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("INSERT INTO payments SELECT id, amount FROM orders", "has the columns"),
        ("INSERT INTO items SELECT * FROM items", "for streams"),
        ("INSERT INTO nowhere SELECT * FROM orders", "NOWHERE"),
        ("INSERT INTO hourly SELECT id, amount AS n FROM orders", "windows in its key"),
    ],
)
def test_rows_that_do_not_fit_are_not_inserted(text: str, reason: str) -> None:
    with pytest.raises(SqlError, match=reason):
        stored(f"{text};")


def test_rows_that_fit_are_inserted() -> None:
    outcome = stored("INSERT INTO payments SELECT id, amount, amount > 3 AS paid FROM orders;")
    assert (outcome.sink.name, outcome.is_new) == ("PAYMENTS", False)
