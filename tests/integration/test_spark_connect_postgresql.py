"""The JDBC connectors with a real PostgreSQL: types, new rows, upserts, deletes, inserts once."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.conftest import unmet
from tests.connector_runs import open_sink, open_source, sink_batch, values
from tests.postgresql import PASSWORD, USER, PostgreSql, is_installed
from tests.spark_session import spark

from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.shape import Shape
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

__all__ = ["spark"]

ORDER = Shape(
    key=Schema(Type.STRING),
    value=connect.struct({"id": Schema(Type.INT64), "item": Schema(Type.STRING, optional=True)}),
)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSql]:
    if not is_installed():
        unmet("PostgreSQL is not installed")
    with TemporaryFolder("postgresql") as folder:
        server = PostgreSql(folder)
        server.start()
        yield server
        server.stop()


def given(postgresql: PostgreSql, kind: str, **properties: str) -> dict[str, str]:
    return {
        "connector.class": f"io.confluent.connect.jdbc.Jdbc{kind}Connector",
        "connection.url": postgresql.url,
        "connection.user": USER,
        "connection.password": PASSWORD,
        **{name.replace("_", "."): value for name, value in properties.items()},
    }


def test_rows_are_read_with_their_types_and_new_ones_once(
    spark: SparkSession, postgresql: PostgreSql
) -> None:
    postgresql.run(
        """
        CREATE TABLE orders (id BIGSERIAL PRIMARY KEY, item TEXT NOT NULL, price NUMERIC(9,2),
          n SMALLINT, is_paid BOOLEAN, photo BYTEA, day DATE, at TIMESTAMPTZ NOT NULL,
          tag UUID, more JSONB);
        INSERT INTO orders (item, price, n, is_paid, photo, day, at, tag, more) VALUES
          ('tea', 2.50, 3, true, '\\x01', '2026-01-02', '2026-01-02 03:04:05.678901+02',
           'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": 1}'),
          ('milk', NULL, NULL, NULL, NULL, NULL, '2026-01-02 00:00:00Z', NULL, NULL);
        """
    )
    config = given(
        postgresql,
        "Source",
        mode="timestamp+incrementing",
        incrementing_column_name="id",
        timestamp_column_name="at",
        table_whitelist="orders",
        topic_prefix="pg-",
        poll_interval_ms="1",
        numeric_mapping="best_fit",
    )
    source = open_source(spark, config)
    rows = source.poll()
    tea = next(each for each in values(rows) if each["item"] == "tea")
    assert (tea["id"], tea["n"], tea["is_paid"], tea["photo"]) == (1, 3, True, b"\x01")
    assert Decimal(str(tea["price"])) == Decimal("2.5")
    assert (tea["tag"], tea["more"]) == ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", '{"a": 1}')
    found = [(each["id"], each["item"]) for each in values(rows)]
    assert sorted(found) == [(1, "tea"), (2, "milk")]
    assert source.poll() == []
    postgresql.run("UPDATE orders SET at = '2026-02-01Z', item = 'cream' WHERE id = 2")
    assert [(each["id"], each["item"]) for each in values(source.poll())] == [(2, "cream")]
    source.close()


def test_rows_are_written_changed_and_deleted(spark: SparkSession, postgresql: PostgreSql) -> None:
    config = given(
        postgresql,
        "Sink",
        insert_mode="upsert",
        pk_mode="record_key",
        pk_fields="name",
        delete_enabled="true",
        auto_create="true",
        auto_evolve="true",
    )
    sink = open_sink(spark, config)
    batch = [("a", (1, "x")), ("b", (2, "y")), ("a", (3, "z")), ("b", None)]
    for _ in range(2):
        sink.write(sink_batch(spark, ORDER, batch, topic="upserted"))
        assert postgresql.run("SELECT name, id, item FROM upserted") == [["a", "3", "z"]]
    wider = Shape(
        key=ORDER.key,
        value=connect.struct(
            {"id": Schema(Type.INT64), "price": connect.decimal(2, 9, optional=True)}
        ),
    )
    sink.write(sink_batch(spark, wider, [("c", (4, Decimal("1.25")))], start=4, topic="upserted"))
    found = postgresql.run("SELECT name, id, item, price FROM upserted ORDER BY name")
    assert found == [["a", "3", "z", ""], ["c", "4", "", "1.25"]]
    sink.close()


def test_inserts_are_done_once(spark: SparkSession, postgresql: PostgreSql) -> None:
    config = given(postgresql, "Sink", auto_create="true")
    sink = open_sink(spark, config, tasks_max=2)
    rows: list[tuple[object, object]] = [(f"k{n}", (n, None)) for n in range(5)]
    sink.write(sink_batch(spark, ORDER, rows[:3], topic="inserted"))
    sink.write(sink_batch(spark, ORDER, rows[1:], start=1, topic="inserted"))
    found = postgresql.run("SELECT id FROM inserted ORDER BY id")
    assert found == [["0"], ["1"], ["2"], ["3"], ["4"]]
    sink.close()
