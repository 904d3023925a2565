"""The JDBC source with a real MariaDB and with SQLite: every new row, once, with its type."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.connector_runs import StoredOffsets, mariadb, open_source, values
from tests.mariadb import PASSWORD, USER
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.connect.connectors.connector import ConnectorError, RetriableError
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Type

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.mariadb import MariaDb

    from headwater.connect.connectors.connector import Source

__all__ = ["mariadb", "spark"]

CLASS = "io.confluent.connect.jdbc.JdbcSourceConnector"


def given(mariadb: MariaDb, tables: str, **properties: str) -> dict[str, str]:
    return {
        "connector.class": CLASS,
        "connection.url": mariadb.url,
        "connection.user": USER,
        "connection.password": PASSWORD,
        "mode": "incrementing",
        "topic.prefix": "db-",
        "poll.interval.ms": "1",
        **({"table.whitelist": tables} if tables else {}),
        **{name.replace("_", "."): value for name, value in properties.items()},
    }


def numbers(source: Source) -> list[int]:
    return [value["id"] for value in values(source.poll())]


def test_columns_have_the_types_of_confluents_connector(
    spark: SparkSession, mariadb: MariaDb
) -> None:
    mariadb.run(
        """
        CREATE TABLE all_types (
            id INT AUTO_INCREMENT PRIMARY KEY, ub INT UNSIGNED, ti TINYINT, tu TINYINT UNSIGNED,
            sm SMALLINT, bi BIGINT, fl FLOAT, do DOUBLE, n DECIMAL(9,2), n0 DECIMAL(6,0),
            c CHAR(3), v VARCHAR(20) NOT NULL, t TEXT, bl BLOB, da DATE, tim TIME(3),
            dt DATETIME(6), ts TIMESTAMP(3) NULL, j JSON, e ENUM('a','b'));
        SET time_zone = '+02:00';
        INSERT INTO all_types VALUES
            (1, 4294967295, -1, 200, 7, 8, 1.5, 2.5, 12.34, 123456, 'abc', 'hällo', 'text',
             x'0102', '2026-01-02', '12:34:56.789', '2026-01-02 03:04:05.123456',
             '2026-01-02 03:04:05.123', '{"a":1}', 'b'),
            (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'x', NULL, NULL, NULL,
             NULL, NULL, NULL, NULL, NULL);
        """
    )
    source = open_source(
        spark,
        given(mariadb, "all_types", db_timezone="Europe/Zurich", numeric_mapping="precision_only"),
    )
    rows = source.poll()
    assert rows[0].offsets == (({"protocol": "1", "table": "shop.all_types"}, {"incrementing": 2}),)
    schema = rows[0].shape.value
    assert schema is not None
    assert schema.name == "all_types"
    assert {field.name: field.schema.type for field in schema.fields if not field.schema.name} == {
        "id": Type.INT32,
        "ub": Type.INT64,
        "ti": Type.INT8,
        "tu": Type.INT16,
        "sm": Type.INT16,
        "bi": Type.INT64,
        "fl": Type.FLOAT32,
        "do": Type.FLOAT64,
        "n0": Type.INT32,
        "c": Type.STRING,
        "v": Type.STRING,
        "t": Type.STRING,
        "bl": Type.BYTES,
        "j": Type.STRING,
        "e": Type.STRING,
    }
    assert {field.name: field.schema.name for field in schema.fields if field.schema.name} == {
        "n": connect.DECIMAL,
        "da": connect.DATE,
        "tim": connect.TIME,
        "dt": connect.TIMESTAMP,
        "ts": connect.TIMESTAMP,
    }
    assert [field.name for field in schema.fields if not field.schema.optional] == ["id", "v"]
    first, second = values(rows)
    moments = ("da", "dt", "ts")
    assert {name: value for name, value in first.items() if name not in moments} == {
        "id": 1,
        "ub": 4294967295,
        "ti": -1,
        "tu": 200,
        "sm": 7,
        "bi": 8,
        "fl": 1.5,
        "do": 2.5,
        "n": Decimal("12.34"),
        "n0": 123456,
        "c": "abc",
        "v": "hällo",
        "t": "text",
        "bl": b"\x01\x02",
        "tim": 45296789,
        "j": '{"a":1}',
        "e": "b",
    }
    assert {value for name, value in second.items() if name not in ("id", "v")} == {None}
    texts = [f"CAST(value.{name} AS STRING)" for name in moments]
    # A DATETIME is what a clock in Zürich showed, a TIMESTAMP a moment, written two hours ahead.
    assert rows[0].frame.selectExpr(*texts).first() == (
        "2026-01-02",
        "2026-01-02 02:04:05.123456",
        "2026-01-02 01:04:05.123",
    )
    source.close()


def test_incrementing_goes_on_from_its_offset_also_in_parallel(
    spark: SparkSession, mariadb: MariaDb
) -> None:
    mariadb.run(
        "CREATE TABLE counted (id BIGINT AUTO_INCREMENT PRIMARY KEY, name TEXT);"
        "INSERT INTO counted (name) SELECT seq FROM seq_1_to_90000"
    )
    offsets = StoredOffsets()
    config = given(mariadb, "shop.counted", transaction_max_rows="70000")
    source = open_source(spark, config, offsets, tasks_max=3)
    rows = source.poll()
    assert rows[0].frame.rdd.getNumPartitions() == 3
    assert sorted(row.value.id for row in rows[0].frame.collect()) == list(range(1, 70001))
    assert source.next_poll_s() == 0  # there is more
    offsets.keep(rows)
    source.close()

    again = open_source(spark, config, offsets, tasks_max=3)
    rows = again.poll()
    assert sorted(row.value.id for row in rows[0].frame.collect()) == list(range(70001, 90001))
    before = _jobs(spark)
    assert again.poll() == []
    assert _jobs(spark) == before  # who only looks starts no Spark job
    mariadb.run("INSERT INTO counted VALUES (90001, 'x'); ALTER TABLE counted ADD more INT")
    assert values(again.poll()) == [{"id": 90001, "name": "x", "more": None}]
    again.close()


def test_changes_are_found_by_their_time_and_late_commits_are_waited_for(
    spark: SparkSession, mariadb: MariaDb
) -> None:
    mariadb.run(
        "CREATE TABLE changed (id INT PRIMARY KEY, at DATETIME(6) NOT NULL);"
        "INSERT INTO changed VALUES (1, '2026-01-01 00:00:00.5'), (2, '2026-01-01 00:00:00.5'),"
        " (3, '2026-01-02')"
    )
    config = given(
        mariadb,
        "changed",
        mode="timestamp+incrementing",
        timestamp_column_name="at",
        incrementing_column_name="id",
        timestamp_delay_interval_ms="1500",
    )
    source = open_source(spark, config | {"transaction.max.rows": "1"})
    rows = source.poll()
    assert values(rows)[0]["id"] == 1
    assert rows[0].offsets[0][1] == {
        "incrementing": 1,
        "timestamp": 1767225600500,
        "timestamp_nanos": 500_000_000,
    }
    assert [numbers(source), numbers(source), numbers(source)] == [[2], [3], []]
    source.close()

    offsets = StoredOffsets()
    offsets.keep(rows)
    source = open_source(spark, config, offsets)
    assert numbers(source) == [2, 3]
    mariadb.run("INSERT INTO changed VALUES (5, UTC_TIMESTAMP(6))")
    assert numbers(source) == []  # too young
    # A transaction that began earlier commits only now.
    mariadb.run("INSERT INTO changed VALUES (4, UTC_TIMESTAMP(6) - INTERVAL 0.5 SECOND)")
    found: list[int] = []

    def read_on() -> list[int]:
        found.extend(numbers(source))
        return found

    assert wait_for(read_on, until=lambda ids: len(ids) >= 2) == [4, 5]
    mariadb.run("UPDATE changed SET at = '2026-01-03' WHERE id = 1")
    assert numbers(source) == []  # a time before the last one's is not seen
    mariadb.run("UPDATE changed SET at = UTC_TIMESTAMP(6) WHERE id = 1")
    assert wait_for(lambda: numbers(source)) == [1]
    source.close()


def test_tables_are_chosen_and_read_whole_or_by_a_query(
    spark: SparkSession, mariadb: MariaDb
) -> None:
    mariadb.run(
        "CREATE TABLE bulk_a (id INT AUTO_INCREMENT PRIMARY KEY, x INT);"
        "CREATE TABLE bulk_b LIKE bulk_a; CREATE TABLE bulk_c LIKE bulk_a;"
        "INSERT INTO bulk_a VALUES (1, 10), (2, 20); INSERT INTO bulk_b VALUES (1, 30);"
    )
    config = given(
        mariadb, "", mode="bulk", table_include_list=r"shop\.bulk_.*", table_exclude_list=r".*_c"
    )
    source = open_source(spark, config)
    for _ in range(2):
        rows = source.poll()
        assert {each.frame.first().topic for each in rows} == {"db-bulk_a", "db-bulk_b"}  # type: ignore[union-attr]
        assert [value["x"] for value in values(rows)] == [10, 20, 30]
        assert all(each.offsets == () for each in rows)
    source.close()
    # Tables that are alike, in records without schemas, are one frame.
    source = open_source(
        spark,
        given(mariadb, "bulk_a,bulk_b")
        | {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}
        | {"value.converter.schemas.enable": "false"},
    )
    (rows_,) = source.poll()
    assert sorted((row.topic, row.value.x) for row in rows_.frame.collect()) == [
        ("db-bulk_a", 10),
        ("db-bulk_a", 20),
        ("db-bulk_b", 30),
    ]
    assert len(rows_.offsets) == 2
    source.close()
    query = given(mariadb, "", query="SELECT id, x + 1 AS y FROM bulk_a WHERE x > 10;")
    source = open_source(spark, query | {"incrementing.column.name": "bulk_a.id"})
    rows = source.poll()
    assert (values(rows), rows[0].frame.first().topic) == ([{"id": 2, "y": 21}], "db-")  # type: ignore[union-attr]
    assert rows[0].offsets == (({"query": "query"}, {"incrementing": 2}),)
    source.close()


def test_many_tables_are_asked_once_and_read_in_their_turns(
    spark: SparkSession, mariadb: MariaDb
) -> None:
    names = [f"many_{number:03d}" for number in range(110)]
    made = [
        f"CREATE TABLE {name} (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=MEMORY;"
        f"INSERT INTO {name} VALUES (1), (2)"
        for name in names
    ]
    mariadb.run(";".join(made))
    config = given(mariadb, "", table_include_list=r"shop\.many_.*", poll_interval_ms="3600000")
    source = open_source(spark, config | {"transaction.max.rows": "1"})

    def read_on() -> tuple[list[str], int]:
        """Return the tables of which rows were read, and how many questions that took."""
        before = _questions(mariadb)
        rows = source.poll()
        offsets = [pair for each in rows for pair in each.offsets]
        return [str(partition["table"])[-3:] for partition, _ in offsets], (
            _questions(mariadb) - before
        )

    read: list[str] = []
    first, questions = read_on()
    assert questions >= len(names)
    while source.next_poll_s() == 0:
        tables, questions = read_on()
        # Those that are read alone: where their next rows end, and which columns they have.
        assert questions <= 2 * len(tables)
        read += tables
    # Each in its turn, and what was left of it after all others.
    assert [*first, *read] == [name[-3:] for name in names] * 2
    source.close()


def test_what_cannot_be_read_is_refused_in_words(spark: SparkSession, mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE nullable (id INT, at DATETIME); CREATE TABLE twice (a INT, b INT)")
    for config, reason in (
        (given(mariadb, "nullable") | {"incrementing.column.name": "id"}, "may be null"),
        (given(mariadb, "nullable") | {"incrementing.column.name": "no"}, "has no column no"),
        (given(mariadb, "twice"), "has 0 columns that the database counts"),
        (given(mariadb, "twice") | {"connection.password": "wrong"}, "Access denied"),
    ):
        source = open_source(spark, config)
        with pytest.raises(ConnectorError, match=reason) as refused:
            source.poll()
        assert not isinstance(refused.value, RetriableError)
        source.close()


def test_a_database_that_goes_away_is_waited_for(spark: SparkSession, mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE away (id INT AUTO_INCREMENT PRIMARY KEY); INSERT INTO away VALUES ()")
    source = open_source(spark, given(mariadb, "away"))
    assert numbers(source) == [1]
    mariadb.kill()
    with pytest.raises(RetriableError):
        source.poll()
    with pytest.raises(RetriableError):
        source.poll()
    mariadb.start()
    mariadb.run("INSERT INTO away VALUES ()")
    assert numbers(source) == [2]
    source.close()


def test_sqlite_is_read_by_number_and_by_time(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, item TEXT,"
            " price DECIMAL(9,2), at DATETIME NOT NULL, photo BLOB);"
            "INSERT INTO orders VALUES (1, 'tea', 2.5, '2026-01-01 00:00:00', x'01'),"
            " (5000000000, 'milk', 1, '2026-01-01 00:00:00.25', NULL);"
        )
    config = {
        "connector.class": CLASS,
        "connection.url": f"jdbc:sqlite:{path}",
        "mode": "timestamp+incrementing",
        "timestamp.column.name": "at",
        "incrementing.column.name": "id",
        "poll.interval.ms": "1",
    }
    source = open_source(spark, config)
    rows = source.poll()
    found = [(each["id"], each["item"], each["photo"]) for each in values(rows)]
    assert found == [(1, "tea", b"\x01"), (5000000000, "milk", None)]
    assert rows[0].offsets[0][0] == {"protocol": "1", "table": "orders"}
    assert rows[0].frame.selectExpr("CAST(value.at AS STRING)").collect() == [
        ("2026-01-01 00:00:00",),
        ("2026-01-01 00:00:00.25",),
    ]
    assert source.poll() == []
    with sqlite3.connect(path) as database:
        database.execute("UPDATE orders SET at = '2026-02-01 00:00:00' WHERE id = 1")
    assert numbers(source) == [1]
    source.close()


def _questions(mariadb: MariaDb) -> int:
    return int(mariadb.run("SHOW GLOBAL STATUS LIKE 'Com_select'")[0][1])


def _jobs(spark: SparkSession) -> set[int]:
    return set(spark.sparkContext.statusTracker().getJobIdsForGroup(None))
