"""The examples on the page about change data capture: events as a worker would write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.conftest import unmet
from tests.connector_runs import StoredOffsets, open_source, page_configs
from tests.mariadb import BINLOG, MariaDb
from tests.mariadb import is_installed as has_mariadb
from tests.postgresql import PostgreSql
from tests.postgresql import is_installed as has_postgresql
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.connect.worker.connector_spec import ConnectorSpec
from headwater.connect.worker.source_records import SourceRecords
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.connect.connectors.connector import Source

__all__ = ["spark"]

PAGE = "connect-cdc.md"
CONVERTERS = {
    f"{side}.converter": "org.apache.kafka.connect.json.JsonConverter" for side in ("key", "value")
}


def test_mariadb_with_schemas(spark: SparkSession, tmp_path: Path) -> None:
    if not has_mariadb():
        unmet("mariadbd is not installed")
    server = MariaDb(tmp_path, BINLOG)
    server.start()
    try:
        server.run(
            "CREATE TABLE customers (id INT PRIMARY KEY, name TEXT, since DATE, owes DECIMAL(9,2));"
            "INSERT INTO customers VALUES (1, 'Anne', '2026-01-02', 2.50);"
        )
        config = page_configs(PAGE, database_port=str(server.port))["shop"]
        source = open_source(spark, config)
        read = written(config, source, 2)
        server.run("DELETE FROM customers;")
        deleted = written(config, source, 2)
        assert source.poll() == ()
        source.close()
    finally:
        server.stop()
    (ddl,) = [value for topic, _, value in read if topic == "dbz"]
    assert ddl["payload"]["ddl"].startswith("CREATE TABLE `customers`")
    (customer,) = [each for each in read if each[0] == "dbz.shop.customers"]
    topic, key, event = customer
    assert key["schema"]["name"] == f"{topic}.Key"
    assert key["payload"] == {"id": 1}
    assert event["schema"]["name"] == f"{topic}.Envelope"
    fields = {each["field"]: each for each in event["schema"]["fields"][1]["fields"]}
    assert fields["since"]["name"] == "io.debezium.time.Date"
    assert fields["owes"]["parameters"] == {"scale": "2", "connect.decimal.precision": "9"}
    after = {"id": 1, "name": "Anne", "since": 20455, "owes": "APo="}
    assert (event["payload"]["op"], event["payload"]["after"]) == ("r", after)
    assert event["payload"]["source"]["snapshot"] == "last"
    (_, _, event), (_, key, tombstone) = deleted
    assert (event["payload"]["op"], event["payload"]["before"]) == ("d", after)
    assert (key["payload"], tombstone) == ({"id": 1}, None)


def test_postgresql_unwrapped(spark: SparkSession) -> None:
    if not has_postgresql():
        unmet("PostgreSQL is not installed")
    with TemporaryFolder("postgresql") as folder:
        server = PostgreSql(folder, ["wal_level=logical"])
        server.start()
        try:
            server.run(
                "CREATE TABLE customers (id int PRIMARY KEY, name text, since date, n numeric);"
                "INSERT INTO customers VALUES (1, 'Anne', '2026-01-02', 1.5);"
            )
            config = page_configs(PAGE, database_port=str(server.port))["sales"]
            config |= CONVERTERS | {f"{side}.schemas.enable": "false" for side in CONVERTERS}
            source = open_source(spark, config)
            records = written(config, source, 1)
            server.run("UPDATE customers SET name = 'Anna'; DELETE FROM customers;")
            records += written(config, source, 2)
            source.close()
        finally:
            server.stop()
    row = {"id": 1, "name": "Anne", "since": 20455, "n": {"scale": 1, "value": "Dw=="}}
    assert records == [
        ("pg.public.customers", {"id": 1}, row),
        ("pg.public.customers", {"id": 1}, {**row, "name": "Anna"}),
        ("pg.public.customers", {"id": 1}, None),
    ]


def written(config: dict[str, str], source: Source, count: int) -> list[tuple[str, Any, Any]]:
    """Return so many records at least, as they would be in their topics."""
    made = SourceRecords(ConnectorSpec.read("cdc", config, CONVERTERS))
    offsets = StoredOffsets()
    found: list[tuple[str, Any, Any]] = []

    def look() -> int:
        polled = source.poll()
        for rows in polled:
            for record in made.of(rows).collect():
                key, value = (part and json.loads(part) for part in (record.key, record.value))
                found.append((record.topic, key, value))
        offsets.keep(polled)
        if polled:
            source.committed()
        return len(found)

    wait_for(look, lambda: str(found), until=lambda so_far: so_far >= count)
    return found
