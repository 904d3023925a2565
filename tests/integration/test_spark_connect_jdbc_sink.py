"""The JDBC sink with a real MariaDB and with SQLite: every record a row, once, whatever happens."""

from __future__ import annotations

import datetime
import sqlite3
import threading
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.connector_runs import (
    mariadb,
    open_sink,
    open_source,
    page_configs,
    sink_batch,
    values,
)
from tests.mariadb import PASSWORD, USER
from tests.spark_session import spark
from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.connect.connectors.connector import (
    ConnectorError,
    RetriableError,
    TopicPartition,
)
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.mariadb import MariaDb

__all__ = ["mariadb", "spark"]

ORDER = Shape(
    key=Schema(Type.STRING),
    value=connect.struct({"id": Schema(Type.INT64), "item": Schema(Type.STRING, optional=True)}),
)


def given(url: str, **properties: str) -> dict[str, str]:
    return {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection.url": url,
        "connection.user": USER,
        "connection.password": PASSWORD,
        "auto.create": "true",
        "retry.backoff.ms": "100",
        **{name.replace("_", "."): value for name, value in properties.items()},
    }


def orders(*numbers: int) -> list[tuple[object, object]]:
    return [(f"k{number}", (number, f"item {number}")) for number in numbers]


@pytest.mark.parametrize("kind", ["mariadb", "sqlite"])
def test_inserts_are_done_once(
    spark: SparkSession, mariadb: MariaDb, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "shop.db"
    config = given(mariadb.url if kind == "mariadb" else f"jdbc:sqlite:{path}")

    def numbers() -> list[int]:
        if kind == "mariadb":
            return [int(row[0]) for row in mariadb.run("SELECT id FROM inserted ORDER BY id")]
        with sqlite3.connect(path) as database:
            return [row[0] for row in database.execute("SELECT id FROM inserted ORDER BY id")]

    sink = open_sink(spark, config, tasks_max=4)
    sink.moved_to({TopicPartition("inserted", 0): 0})
    sink.write(sink_batch(spark, ORDER, orders(0, 1, 2), topic="inserted"))
    sink.close()
    # After a crash the same records come again, cut in another way.
    again = open_sink(spark, config, tasks_max=4)
    again.write(sink_batch(spark, ORDER, orders(1, 2, 3, 4), start=1, topic="inserted"))
    again.write(sink_batch(spark, ORDER, orders(3, 4), start=3, topic="inserted"))
    assert numbers() == [0, 1, 2, 3, 4]
    # Another connector writes its own, and a topic that was made anew begins anew.
    other = open_sink(spark, config, name="other's")
    other.write(sink_batch(spark, ORDER, orders(5), topic="inserted"))
    again.moved_to({TopicPartition("inserted", 0): 0})
    again.write(sink_batch(spark, ORDER, orders(6), topic="inserted"))
    assert numbers() == [0, 1, 2, 3, 4, 5, 6]
    again.close()
    other.close()


@pytest.mark.parametrize("kind", ["mariadb", "sqlite"])
def test_upserts_deletes_and_new_columns(
    spark: SparkSession, mariadb: MariaDb, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "shop.db"
    config = given(
        mariadb.url if kind == "mariadb" else f"jdbc:sqlite:{path}",
        insert_mode="upsert",
        pk_mode="record_key",
        pk_fields="name",
        delete_enabled="true",
        auto_evolve="true",
        table_name_format="t_${topic}",
    )

    def rows(columns: str) -> list[list[str]]:
        query = f"SELECT {columns} FROM t_upserted ORDER BY name"
        if kind == "mariadb":
            return mariadb.run(query)
        with sqlite3.connect(path) as database:
            return [[str(value) for value in row] for row in database.execute(query)]

    sink = open_sink(spark, config)
    first: list[tuple[object, object]] = [("a", (1, "x")), ("b", (2, "y")), ("a", (3, "z"))]
    for _ in range(2):
        sink.write(
            sink_batch(spark, ORDER, [*first, ("c", (4, None)), ("b", None)], topic="upserted")
        )
        assert [row[:2] for row in rows("name, id, item")] == [["a", "3"], ["c", "4"]]
    wider = connect.struct(
        {
            "id": Schema(Type.INT64),
            "price": connect.decimal(2, 9, optional=True),
            "day": connect.date(optional=True),
            "hour": connect.time(optional=True),
            "at": connect.timestamp(optional=True),
            "raw": Schema(Type.BYTES, optional=True),
            "is_new": Schema(Type.BOOLEAN, optional=True),
        }
    )
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, datetime.UTC)
    row = (9, Decimal("1.25"), moment.date(), 45296789, moment, b"\x01", True)
    shape = Shape(ORDER.key, wider)
    sink.write(sink_batch(spark, shape, [("c", row)], topic="upserted"))
    (found,) = [each for each in rows("name, id, price, hour, is_new, hex(raw)") if each[0] == "c"]
    assert [*found[:3], found[3][:12], *found[4:]] == ["c", "9", "1.25", "12:34:56.789", "1", "01"]
    times = next(each for each in rows("name, day, at") if each[0] == "c")
    assert [times[1][:10], times[2][:23]] == ["2026-01-02", "2026-01-02 03:04:05.678"]
    # A field that old rows have no value for.
    needed = Shape(ORDER.key, connect.struct({"must": Schema(Type.STRING)}))
    with pytest.raises(ConnectorError, match="lacks the columns must, which cannot be added"):
        sink.write(sink_batch(spark, needed, [("c", ("x",))], topic="upserted"))
    sink.close()


def test_updates_change_what_is_there_and_keys_come_from_where_they_are_said_to(
    spark: SparkSession, mariadb: MariaDb
) -> None:
    mariadb.run("CREATE TABLE updated (id BIGINT PRIMARY KEY, item TEXT)")
    mariadb.run("INSERT INTO updated VALUES (1, 'old'), (2, 'old')")
    sink = open_sink(
        spark,
        given(mariadb.url, insert_mode="update", pk_mode="record_value", pk_fields="id"),
    )
    sink.write(sink_batch(spark, ORDER, orders(1, 3), topic="updated"))
    assert mariadb.run("SELECT * FROM updated ORDER BY id") == [["1", "item 1"], ["2", "old"]]
    sink.close()
    sink = open_sink(
        spark,
        given(mariadb.url, insert_mode="upsert", pk_mode="kafka", fields_whitelist="item"),
    )
    for _ in range(2):
        sink.write(sink_batch(spark, ORDER, orders(1, 2), start=7, topic="placed"))
    assert mariadb.run("SELECT * FROM placed ORDER BY __connect_offset") == [
        ["item 1", "placed", "0", "7"],
        ["item 2", "placed", "0", "8"],
    ]
    sink.close()


def test_the_examples_of_the_page(spark: SparkSession, mariadb: MariaDb) -> None:
    mariadb.run(
        "CREATE TABLE customers (id INT PRIMARY KEY, name TEXT);"
        "INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace')"
    )
    configs = page_configs("connect-jdbc.md", connection_url=mariadb.url)
    source, sink = (
        open_source(spark, configs["shop"]),
        open_sink(spark, configs["customers-to-shop"]),
    )
    (rows,) = source.poll()
    assert [each["name"] for each in values([rows])] == ["Ada", "Grace"]
    shape = Shape(Schema(Type.INT32), rows.shape.value)
    sink.write(
        sink_batch(spark, shape, [(1, (1, "Ada")), (2, (2, "Grace")), (1, None)], topic="customers")
    )
    assert mariadb.run("SELECT id, name FROM copy_of_customers") == [["2", "Grace"]]
    source.close()
    sink.close()


def test_what_cannot_be_written_is_refused_in_words(spark: SparkSession, mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE refused (id BIGINT PRIMARY KEY)")
    plain = given(mariadb.url) | {"auto.create": "false"}
    keyed = plain | {"pk.mode": "record_key", "pk.fields": "id", "insert.mode": "upsert"}
    text = Shape(value=Schema(Type.STRING))
    for config, shape, rows, topic, reason in (
        (plain, ORDER, orders(1), "nowhere", "there is no table `nowhere`.*auto.create=true"),
        (plain, ORDER, orders(1), "refused", "lacks the columns item.*auto.evolve=true"),
        (plain | {"fields.whitelist": "id"}, ORDER, orders(1, 1), "refused", "Duplicate entry"),
        (plain | {"fields.whitelist": "id"}, ORDER, [("k", None)], "refused", "delete.enabled"),
        (keyed | {"fields.whitelist": "no"}, ORDER, [(None, (1, "x"))], "refused", "no id for its"),
        (plain, text, [(None, "x")], "refused", "have to be structs"),
    ):
        sink = open_sink(spark, config, name=reason)
        with pytest.raises(ConnectorError, match=reason) as refused:
            sink.write(sink_batch(spark, shape, rows, topic=topic))
        assert not isinstance(refused.value, RetriableError), refused.value
        sink.close()
    assert mariadb.run("SELECT * FROM refused") == []


def test_a_connection_that_is_killed_while_it_writes_loses_and_doubles_nothing(
    spark: SparkSession, mariadb: MariaDb
) -> None:
    mariadb.run(
        "CREATE TABLE killed (id BIGINT, item TEXT);"
        "CREATE TRIGGER slowly BEFORE INSERT ON killed FOR EACH ROW SET NEW.item = SLEEP(0.002)"
    )
    sink = open_sink(spark, given(mariadb.url, batch_size="100"))
    batch = sink_batch(spark, ORDER, orders(*range(2000)), topic="killed")
    failures: list[BaseException] = []

    def write() -> None:
        try:
            sink.write(batch)
        except BaseException as failure:
            failures.append(failure)

    writing = threading.Thread(target=write)
    writing.start()
    busy = (
        "SELECT id FROM information_schema.processlist"
        f" WHERE user = '{USER}' AND info LIKE 'INSERT INTO `killed`%'"
    )
    for _ in range(2):
        (writer, *_) = wait_for(lambda: mariadb.run(busy))
        mariadb.run(f"KILL CONNECTION {writer[0]}")
        gone = f"{busy} AND id = {writer[0]}"
        wait_for(partial(mariadb.run, gone), gone, until=lambda rows: not rows)
    mariadb.run("DROP TRIGGER slowly")
    writing.join(HUNG_AFTER_S)
    assert failures == []
    assert mariadb.run("SELECT COUNT(*), COUNT(DISTINCT id) FROM killed") == [["2000", "2000"]]
    sink.close()


def test_a_database_that_goes_away_is_waited_for(spark: SparkSession, mariadb: MariaDb) -> None:
    sink = open_sink(spark, given(mariadb.url, max_retries="0"))
    sink.write(sink_batch(spark, ORDER, orders(0), topic="gone"))
    mariadb.kill()
    with pytest.raises(RetriableError):
        sink.write(sink_batch(spark, ORDER, orders(1), start=1, topic="gone"))
    mariadb.start()
    sink.write(sink_batch(spark, ORDER, orders(0, 1), topic="gone"))
    assert mariadb.run("SELECT id FROM gone ORDER BY id") == [["0"], ["1"]]
    sink.close()
