"""Changes of a real PostgreSQL become Debezium's events: types, keys, restarts, schema changes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.captures import Captured, Event
from tests.conftest import unmet
from tests.postgresql import DATABASE, PASSWORD, USER, PostgreSql, is_installed
from tests.waiting import wait_for

from headwater.connect.connectors.connector import ConnectorError, RetriableError
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSql]:
    if not is_installed():
        unmet("PostgreSQL is not installed")
    with TemporaryFolder("postgresql") as folder:
        server = PostgreSql(folder, ["wal_level=logical", "max_replication_slots=20"])
        server.start()
        yield server
        server.stop()


def given(postgresql: PostgreSql, table: str, **properties: str) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(postgresql.port),
        "database.user": USER,
        "database.password": PASSWORD,
        "database.dbname": DATABASE,
        "topic.prefix": "dbz",
        "table.include.list": f"public.{table}",
        "slot.name": f"slot_{table}",
        "poll.interval.ms": "1",
        **{name.replace("_", "."): value for name, value in properties.items()},
    }


def rows(events: list[Event]) -> list[tuple[str | None, object]]:
    """Return what happened, and the id of the row."""
    return [(event.op, event.key["id"]) for event in events]


COLUMNS = {
    "id": "bigint primary key",
    "flag": "boolean not null",
    "small": "smallint",
    "number": "integer",
    "price": "numeric(9,2)",
    "anything": "numeric",
    "amount": "money",
    "f": "real",
    "d": "double precision",
    "c": "char(3)",
    "v": "varchar(20) not null",
    "raw": "bytea",
    "day": "date",
    "at": "time",
    "at3": "time(3)",
    "atz": "timetz",
    "dt": "timestamp",
    "dt3": "timestamp(3)",
    "ts": "timestamptz",
    "forever": "timestamp",
    "span": "interval",
    "tag": "uuid",
    "more": "jsonb",
    "state": "mood",
    "bit1": "bit(1)",
    "bit9": "bit(9)",
    "host": "inet",
    "numbers": "integer[]",
    "words": "text[]",
    "named": "positive",
}
ROW = r"""
  18, true, -32768, 2147483647, -1234567.89, 123.4500, 1234.5, 0.1, 0.1, 'abc', 'zürich',
  '\xdeadbeef', '2026-01-02', '12:34:56.789012', '12:34:56.789', '12:34:56+02',
  '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05.678', '2026-01-02 03:04:05.12+02',
  'infinity', '1 day 2 hours 0.5 seconds', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": 1}',
  'it''s', '1', '100000001', '10.0.0.1', '{1,NULL,3}', '{"a b","c\"d",NULL}', 7
"""
EXPECTED = {
    "id": 18,
    "flag": True,
    "small": -32768,
    "number": 2147483647,
    "price": Decimal("-1234567.89"),
    "anything": {"scale": 4, "value": (1234500).to_bytes(3, "big")},
    "amount": Decimal("1234.50"),
    "f": pytest.approx(0.1),
    "d": 0.1,
    "c": "abc",
    "v": "zürich",
    "raw": b"\xde\xad\xbe\xef",
    "day": 20455,
    "at": 45296789012,
    "at3": 45296789,
    "atz": "10:34:56Z",
    "dt": 1767323045678901,
    "dt3": 1767323045678,
    "ts": "2026-01-02T01:04:05.12Z",
    "forever": 9223372036825200000,
    "span": 93600500000,
    "tag": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "more": '{"a": 1}',
    "state": "it's",
    "bit1": True,
    "bit9": b"\x01\x01",
    "host": "10.0.0.1",
    "numbers": [1, None, 3],
    "words": ["a b", 'c"d', None],
    "named": 7,
}
NAMES = {
    "price": "org.apache.kafka.connect.data.Decimal",
    "anything": "io.debezium.data.VariableScaleDecimal",
    "amount": "org.apache.kafka.connect.data.Decimal",
    "day": "io.debezium.time.Date",
    "at": "io.debezium.time.MicroTime",
    "at3": "io.debezium.time.Time",
    "atz": "io.debezium.time.ZonedTime",
    "dt": "io.debezium.time.MicroTimestamp",
    "dt3": "io.debezium.time.Timestamp",
    "ts": "io.debezium.time.ZonedTimestamp",
    "forever": "io.debezium.time.MicroTimestamp",
    "span": "io.debezium.time.MicroDuration",
    "tag": "io.debezium.data.Uuid",
    "more": "io.debezium.data.Json",
    "state": "io.debezium.data.Enum",
    "bit9": "io.debezium.data.Bits",
}


def test_rows_have_the_same_types_in_the_snapshot_and_in_changes(postgresql: PostgreSql) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    postgresql.run(
        "CREATE TYPE mood AS ENUM ('new', 'it''s'); "
        "CREATE DOMAIN positive AS integer CHECK (VALUE > 0);"
        f"CREATE TABLE types ({columns}, place point, g int GENERATED ALWAYS AS (1) STORED);"
        f"INSERT INTO types VALUES ({ROW});"
    )
    captured = Captured(given(postgresql, "types"))
    (read,) = captured.count(1)
    assert (read.topic, read.op, read.key) == ("dbz.public.types", "r", {"id": 18})
    assert read.value["after"] == EXPECTED, "a point is of no known type"
    postgresql.run(
        "UPDATE types SET c = 'xyz'; ALTER TABLE types REPLICA IDENTITY FULL;"
        "UPDATE types SET c = 'abc'; INSERT INTO types (id, flag, v) VALUES (19, false, '');"
    )
    first, second, created = captured.count(3)
    assert (first.value["before"], first.value["after"]["c"]) == (None, "xyz")
    assert (second.value["before"], second.value["after"]) == (first.value["after"], EXPECTED)
    assert first.shape == read.shape, "the log describes a table as the catalog does"
    assert created.value["after"] == dict.fromkeys(EXPECTED) | {"id": 19, "flag": False, "v": ""}
    envelope = read.shape.value
    assert envelope is not None
    after = envelope.field("after")
    assert after is not None
    found = {each.name: each.schema.name for each in after.schema.fields if each.schema.name}
    assert found == NAMES
    source = created.value["source"]
    assert (source["connector"], source["schema"], source["table"]) == (
        "postgresql",
        "public",
        "types",
    )
    assert source["txId"] > 0
    assert source["lsn"] > 0
    captured.close()


def test_changes_deletes_keys_and_truncates(postgresql: PostgreSql) -> None:
    postgresql.run(
        "CREATE TABLE ops (id int PRIMARY KEY, name text NOT NULL, large text);"
        "CREATE TABLE other (id int); ALTER TABLE ops ALTER large SET STORAGE EXTERNAL;"
    )
    captured = Captured(given(postgresql, "ops", skipped_operations="none"))
    captured.batch()
    assert captured.events == []
    assert captured.offset is not None, "the place where changes begin is stored"
    postgresql.run(
        "INSERT INTO ops VALUES (1, 'a', repeat('x', 9000)), (2, 'b', NULL); "
        "INSERT INTO other VALUES (1); UPDATE ops SET name = 'c' WHERE id = 1;"
        "UPDATE ops SET id = 3 WHERE id = 2; DELETE FROM ops WHERE id = 1; TRUNCATE ops;"
        "BEGIN; INSERT INTO ops VALUES (5, ''); ROLLBACK; INSERT INTO ops VALUES (4, '')"
    )
    found = captured.count(10)
    assert [event.op for event in found] == ["c", "c", "u", "d", None, "c", "d", None, "t", "c"]
    assert [event.key["id"] for event in found if event.op != "t"] == [1, 2, 1, 2, 2, 3, 1, 1, 4]
    assert found[2].value["after"]["large"] == "__debezium_unavailable_value"
    assert found[6].value["before"] == {"id": 1, "name": "", "large": None}, "the key is told"
    assert found[6].value["after"] is None
    captured.close()


def test_a_kill_loses_and_doubles_nothing(postgresql: PostgreSql) -> None:
    """Batches end within transactions; after each, one is read that is lost."""
    postgresql.run(
        "CREATE TABLE killed (id int PRIMARY KEY);"
        "INSERT INTO killed SELECT * FROM generate_series(1, 100);"
    )
    captured = Captured(given(postgresql, "killed", max_batch_size="7", transaction_max_rows="30"))
    assert len(captured.batch()) >= 30
    assert len(captured.lose()) >= 30
    captured.events.clear()
    postgresql.run("INSERT INTO killed VALUES (101);")
    captured.count(101)
    assert rows(captured.events) == [("r", number) for number in range(1, 102)], (
        "a snapshot that was cut begins again, and what it has seen is no change"
    )
    postgresql.run("INSERT INTO killed SELECT * FROM generate_series(102, 400);")
    postgresql.run("DELETE FROM killed WHERE id = 400; INSERT INTO killed VALUES (401);")
    captured.events.clear()
    while len(captured.events) < 302:
        captured.batch()
        captured.lose()
    changed = [("c", number) for number in range(102, 401)]
    assert rows(captured.events) == [*changed, ("d", 400), (None, 400), ("c", 401)]
    captured.close()


def test_snapshot_and_changes_meet(postgresql: PostgreSql) -> None:
    """What changes while rows are read comes after them, and once; so does who was not done yet."""
    postgresql.run(
        "CREATE TABLE meeting (id int PRIMARY KEY, n int);"
        "INSERT INTO meeting SELECT n, 0 FROM generate_series(1, 50) n;"
    )
    captured = Captured(given(postgresql, "meeting", max_batch_size="5", transaction_max_rows="10"))
    captured.batch()
    postgresql.run("UPDATE meeting SET n = 1; INSERT INTO meeting VALUES (51, 1);")
    captured.count(40 + 50 + 1)
    read, changed = captured.events[:50], captured.events[50:]
    assert all(event.op == "r" and event.value["after"]["n"] == 0 for event in read)
    assert rows(changed) == [*(("u", number) for number in range(1, 51)), ("c", 51)]
    captured.close()


def test_a_table_is_altered(postgresql: PostgreSql) -> None:
    postgresql.run("CREATE TABLE altered (id int PRIMARY KEY, old int NOT NULL);")
    captured = Captured(given(postgresql, "altered"))
    captured.batch()
    postgresql.run(
        "INSERT INTO altered VALUES (1, 1); ALTER TABLE altered ADD COLUMN new text;"
        "INSERT INTO altered VALUES (2, 2, 'x'); ALTER TABLE altered DROP COLUMN old;"
        "INSERT INTO altered VALUES (3, 'y');"
    )
    after = [event.value["after"] for event in captured.count(3)]
    assert after == [{"id": 1, "old": 1}, {"id": 2, "old": 2, "new": "x"}, {"id": 3, "new": "y"}]
    captured.close()


def test_a_restarted_database_goes_on_and_forgets_what_was_told(postgresql: PostgreSql) -> None:
    postgresql.run("CREATE TABLE again (id int PRIMARY KEY); INSERT INTO again VALUES (1);")
    captured = Captured(given(postgresql, "again"))
    captured.count(1)
    postgresql.run("INSERT INTO again VALUES (2);")
    postgresql.kill()
    with pytest.raises(RetriableError):
        captured.batch()
    captured.close()
    postgresql.start()
    postgresql.run("INSERT INTO again VALUES (3);")
    assert rows(captured.count(2)) == [("c", 2), ("c", 3)]
    postgresql.run("CREATE TABLE elsewhere (id int); INSERT INTO elsewhere VALUES (1);")
    lag = (
        "SELECT pg_current_wal_flush_lsn() - confirmed_flush_lsn FROM pg_replication_slots "
        "WHERE slot_name = 'slot_again'"
    )
    wait_for(
        lambda: captured.batch() or postgresql.run(lag),
        until=lambda found: found == [["0"]],
    )
    captured.close()


def test_what_cannot_be_captured_is_refused(postgresql: PostgreSql) -> None:
    postgresql.run("CREATE TABLE odd (id int PRIMARY KEY); INSERT INTO odd VALUES (1);")
    with pytest.raises(ConnectorError, match="password authentication failed"):
        Captured(given(postgresql, "odd", database_password="wrong")).open()
    missing = {"publication_name": "mine", "publication_autocreate_mode": "disabled"}
    with pytest.raises(ConnectorError, match="no publication mine"):
        Captured(given(postgresql, "odd", **missing)).open()
    missing["publication_autocreate_mode"] = "filtered"
    captured = Captured(given(postgresql, "odd", **missing))
    assert rows(captured.count(1)) == [("r", 1)]
    captured.close()
    assert postgresql.run("SELECT tablename FROM pg_publication_tables WHERE pubname = 'mine'") == [
        ["odd"]
    ]
    postgresql.run("SELECT pg_drop_replication_slot('slot_odd')")
    with pytest.raises(ConnectorError, match=r"slot slot_odd is gone.*when_needed"):
        captured.open()
    captured.given["snapshot.mode"] = "when_needed"
    assert rows(captured.count(1)) == [("r", 1)]
    captured.close()
