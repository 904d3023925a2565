"""Changes of a real MariaDB become Debezium's events: types, keys, restarts, schema changes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.captures import Captured, Event
from tests.conftest import unmet
from tests.mariadb import BINLOG, PASSWORD, USER, MariaDb, is_installed

from headwater.connect.connectors.connector import ConnectorError, RetriableError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    if not is_installed():
        unmet("mariadbd is not installed")
    server = MariaDb(tmp_path_factory.mktemp("mariadb"), BINLOG)
    server.start()
    yield server
    server.stop()


def given(mariadb: MariaDb, table: str, **properties: str) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
        "database.hostname": "127.0.0.1",
        "database.port": str(mariadb.port),
        "database.user": USER,
        "database.password": PASSWORD,
        "database.server.id": "6001",
        "topic.prefix": "dbz",
        "table.include.list": f"shop.{table}",
        "include.schema.changes": "false",
        "poll.interval.ms": "1",
        **{name.replace("_", "."): value for name, value in properties.items()},
    }


def rows(events: list[Event]) -> list[tuple[str | None, object]]:
    """Return what happened, and the id of the row."""
    return [(event.op, event.key["id"]) for event in events]


TYPES = """
  id BIGINT UNSIGNED PRIMARY KEY, tiny TINYINT, flag BOOLEAN NOT NULL, small SMALLINT UNSIGNED,
  medium MEDIUMINT, number INT UNSIGNED, big BIGINT, price DECIMAL(9,2), f FLOAT, d DOUBLE,
  c CHAR(3), v VARCHAR(20) NOT NULL, latin VARCHAR(20) CHARACTER SET latin1, t TEXT,
  bin BINARY(4), varbin VARBINARY(8), photo BLOB, day DATE, at TIME(6), dt DATETIME,
  dt6 DATETIME(6), ts TIMESTAMP(3) NULL, y YEAR, bit1 BIT(1), bit9 BIT(9),
  e ENUM('new','it''s'), s SET('a','b','c'), more JSON
"""
ROW = (
    "18, -128, true, 65535, -8388608, 4294967295, -9223372036854775808, -1234567.89, 16777217, "
    "0.1, 'abc', 'zürich', 'ü', 'text', X'0100', X'00FF00', X'DEADBEEF', '2026-01-02', "
    "'-12:34:56.789012', '2026-01-02 03:04:05', '2026-01-02 03:04:05.678901', "
    "'2026-01-02 03:04:05.120', 2026, b'1', b'100000001', 'it''s', 'a,c', '{\"a\": 1}'"
)
EXPECTED = {
    "id": 18,
    "tiny": -128,
    "flag": 1,
    "small": 65535,
    "medium": -8388608,
    "number": 4294967295,
    "big": -(2**63),
    "price": Decimal("-1234567.89"),
    "f": 16777216.0,
    "d": 0.1,
    "c": "abc",
    "v": "zürich",
    "latin": "ü",
    "t": "text",
    "bin": b"\x01\x00\x00\x00",
    "varbin": b"\x00\xff\x00",
    "photo": b"\xde\xad\xbe\xef",
    "day": 20455,
    "at": -45296789012,
    "dt": 1767323045000,
    "dt6": 1767323045678901,
    "ts": "2026-01-02T03:04:05.12Z",
    "y": 2026,
    "bit1": True,
    "bit9": b"\x01\x01",
    "e": "it's",
    "s": "a,c",
    "more": '{"a": 1}',
}
NAMES = {
    "price": "org.apache.kafka.connect.data.Decimal",
    "day": "io.debezium.time.Date",
    "at": "io.debezium.time.MicroTime",
    "dt": "io.debezium.time.Timestamp",
    "dt6": "io.debezium.time.MicroTimestamp",
    "ts": "io.debezium.time.ZonedTimestamp",
    "y": "io.debezium.time.Year",
    "bit9": "io.debezium.data.Bits",
    "e": "io.debezium.data.Enum",
    "s": "io.debezium.data.EnumSet",
}


def test_rows_have_the_same_types_in_the_snapshot_and_in_changes(mariadb: MariaDb) -> None:
    mariadb.run(f"CREATE TABLE types ({TYPES}); INSERT INTO types VALUES ({ROW});")
    captured = Captured(given(mariadb, "types"))
    (read,) = captured.count(1)
    assert (read.topic, read.op, read.key) == ("dbz.shop.types", "r", {"id": 18})
    assert read.value["after"] == EXPECTED
    nulls = ", ".join(["NULL"] * 8)
    mariadb.run(
        f"UPDATE types SET id = 18, c = 'xyz'; UPDATE types SET c = 'abc'; "
        f"INSERT INTO types VALUES (19, NULL, false, {nulls}, '', {', '.join(['NULL'] * 16)});"
    )
    first, second, created = captured.count(3)
    assert first.value["before"] == EXPECTED
    assert first.value["after"] == {**EXPECTED, "c": "xyz"}
    assert second.value["after"] == EXPECTED
    assert first.shape == read.shape, "the binlog describes a table as the catalog does"
    empty = dict.fromkeys(EXPECTED) | {"id": 19, "flag": 0, "v": ""}
    assert created.value["after"] == empty
    assert created.value["before"] is None
    envelope = read.shape.value
    assert envelope is not None
    assert (envelope.name, envelope.version) == ("dbz.shop.types.Envelope", 2)
    after = envelope.field("after")
    assert after is not None
    found = {each.name: each.schema.name for each in after.schema.fields if each.schema.name}
    assert found == NAMES
    source = created.value["source"]
    assert (source["connector"], source["db"], source["table"]) == ("mariadb", "shop", "types")
    assert (source["snapshot"], read.value["source"]["snapshot"]) == ("false", "last")
    assert source["gtid"].startswith("0-1-")
    captured.close()


def test_modes_change_what_values_become(mariadb: MariaDb) -> None:
    mariadb.run(
        "CREATE TABLE modes (id INT PRIMARY KEY, big BIGINT UNSIGNED, price DECIMAL(5,2), "
        "at DATETIME(6), raw BLOB, hidden INT);"
        "INSERT INTO modes VALUES (1, 18446744073709551615, 1.50, '2026-01-02 03:04:05.678', "
        "X'FF', 7)"
    )
    modes = {
        "bigint_unsigned_handling_mode": "precise",
        "decimal_handling_mode": "string",
        "time_precision_mode": "connect",
        "binary_handling_mode": "hex",
        "column_exclude_list": "shop.modes.hidden",
    }
    captured = Captured(given(mariadb, "modes", **modes))
    row = captured.count(1)[0].value["after"]
    captured.close()
    assert row.pop("at").isoformat() == "2026-01-02T03:04:05.678000+00:00"
    assert row == {"id": 1, "big": Decimal(2**64 - 1), "price": "1.50", "raw": "ff"}
    captured = Captured(given(mariadb, "modes"))
    with pytest.raises(ConnectorError, match=r"shop\.modes\.big .* bigint.unsigned.handling.mode"):
        captured.batch()
    captured.close()


def test_changes_deletes_keys_and_truncates(mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE ops (id INT PRIMARY KEY, name TEXT); CREATE TABLE other (id INT);")
    captured = Captured(given(mariadb, "ops", skipped_operations="none"))
    captured.batch()
    assert captured.events == []
    assert captured.offset is not None, "the place where changes begin is stored"
    mariadb.run(
        "INSERT INTO ops VALUES (1, 'a'), (2, 'b'); INSERT INTO other VALUES (1);"
        "UPDATE ops SET name = 'c' WHERE id = 1; UPDATE ops SET id = 3 WHERE id = 2;"
        "DELETE FROM ops WHERE id = 1; TRUNCATE TABLE `shop`.`ops`; INSERT INTO ops VALUES (4, '')"
    )
    found = captured.count(10)
    assert [event.op for event in found] == ["c", "c", "u", "d", None, "c", "d", None, "t", "c"]
    assert [event.key["id"] for event in found if event.op != "t"] == [1, 2, 1, 2, 2, 3, 1, 1, 4]
    deleted = found[6].value
    assert (deleted["before"], deleted["after"]) == ({"id": 1, "name": "c"}, None)
    assert captured.batch() == [], "nothing has happened"
    captured.close()


def test_a_kill_loses_and_doubles_nothing(mariadb: MariaDb) -> None:
    """Batches end within transactions; after each, one is read that is lost."""
    mariadb.run(
        "CREATE TABLE killed (id INT PRIMARY KEY, filler VARCHAR(500));"
        "INSERT INTO killed SELECT seq, REPEAT('x', 400) FROM seq_1_to_100;"
    )
    captured = Captured(given(mariadb, "killed", max_batch_size="10", transaction_max_rows="30"))
    assert len(captured.batch()) == 30
    assert len(captured.lose()) == 30
    captured.events.clear()
    assert len(captured.batch()) == 30, "a snapshot that was cut begins again"
    captured.count(70)
    assert rows(captured.events) == [("r", number) for number in range(1, 101)]
    mariadb.run("INSERT INTO killed SELECT seq, REPEAT('x', 400) FROM seq_101_to_400;")
    mariadb.run("DELETE FROM killed WHERE id = 400; INSERT INTO killed VALUES (401, '');")
    captured.events.clear()
    while len(captured.events) < 303:
        captured.batch()
        captured.lose()
    changed = [("c", number) for number in range(101, 401)]
    assert rows(captured.events) == [*changed, ("d", 400), (None, 400), ("c", 401)]
    captured.close()


def test_snapshot_and_changes_meet(mariadb: MariaDb) -> None:
    """What changes while rows are read comes after them, and once."""
    mariadb.run(
        "CREATE TABLE meeting (id INT PRIMARY KEY, n INT);"
        "INSERT INTO meeting SELECT seq, 0 FROM seq_1_to_50;"
    )
    captured = Captured(given(mariadb, "meeting", max_batch_size="5", transaction_max_rows="10"))
    captured.batch()
    mariadb.run("UPDATE meeting SET n = 1; INSERT INTO meeting VALUES (51, 1);")
    captured.count(40 + 50 + 1)
    read, changed = captured.events[:50], captured.events[50:]
    assert all(event.op == "r" and event.value["after"]["n"] == 0 for event in read)
    assert rows(changed) == [*(("u", number) for number in range(1, 51)), ("c", 51)]
    captured.close()


def test_a_table_is_altered(mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE altered (id INT PRIMARY KEY, old INT);")
    captured = Captured(given(mariadb, "altered", include_schema_changes="true"))
    captured.batch()
    captured.events.clear()
    mariadb.run(
        "INSERT INTO altered VALUES (1, 1); ALTER TABLE altered ADD COLUMN new TEXT AFTER id;"
        "INSERT INTO altered VALUES (2, 'x', 2); ALTER TABLE altered DROP COLUMN old;"
        "INSERT INTO altered VALUES (3, 'y');"
    )
    found = captured.count(5)
    told = [event for event in found if event.topic == "dbz.shop.altered"]
    after = [event.value["after"] for event in told]
    assert after == [{"id": 1, "old": 1}, {"id": 2, "new": "x", "old": 2}, {"id": 3, "new": "y"}]
    statements = [event for event in found if event.topic == "dbz"]
    assert [each.key for each in statements] == [{"databaseName": "shop"}] * 2
    assert "DROP COLUMN old" in statements[1].value["ddl"]
    captured.close()


def test_a_restarted_database_goes_on(mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE again (id INT PRIMARY KEY); INSERT INTO again VALUES (1);")
    captured = Captured(given(mariadb, "again"))
    captured.count(1)
    mariadb.run("INSERT INTO again VALUES (2);")
    mariadb.kill()
    with pytest.raises(RetriableError, match=r"127\.0\.0\.1|database|server"):
        captured.batch()
    captured.close()
    mariadb.start()
    mariadb.run("INSERT INTO again VALUES (3);")
    assert rows(captured.count(2)) == [("c", 2), ("c", 3)]
    captured.close()


def test_what_cannot_be_captured_is_refused(mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE odd (id INT PRIMARY KEY, place POINT, u UUID);")
    with pytest.raises(ConnectorError, match=r"shop\.odd\.place is of type point"):
        Captured(given(mariadb, "odd")).open()
    without = Captured(given(mariadb, "odd", column_exclude_list=r"shop\.odd\.(place|u)"))
    without.batch()
    mariadb.run("INSERT INTO odd VALUES (1, POINT(1, 2), UUID())")
    assert without.count(1)[0].value["after"] == {"id": 1}
    without.close()
    assert without.offset is not None
    without.offset = {**without.offset, "file": "binlog.000099"}
    with pytest.raises(ConnectorError, match=r"no longer has binlog\.000099.*when_needed"):
        without.open()
    without.given["snapshot.mode"] = "when_needed"
    assert rows(without.count(1)) == [("r", 1)]
    without.close()
    with pytest.raises(ConnectorError, match="Access denied"):
        Captured(given(mariadb, "odd", database_password="wrong")).open()
    mariadb.run("SET GLOBAL binlog_row_metadata = 'NO_LOG'; SET GLOBAL binlog_row_image = MINIMAL;")
    try:
        with pytest.raises(ConnectorError) as refused:
            Captured(given(mariadb, "odd")).open()
    finally:
        mariadb.run("SET GLOBAL binlog_row_metadata = 'FULL'; SET GLOBAL binlog_row_image = FULL;")
    assert "binlog_row_metadata is NO_LOG, not FULL" in str(refused.value)
    assert "SET GLOBAL binlog_row_image = 'FULL'" in str(refused.value)


def test_modes_of_snapshots_and_heartbeats(mariadb: MariaDb) -> None:
    mariadb.run("CREATE TABLE beats (id INT PRIMARY KEY); INSERT INTO beats VALUES (1);")
    only = Captured(given(mariadb, "beats", snapshot_mode="initial_only"))
    assert rows(only.count(1)) == [("r", 1)]
    none = Captured(given(mariadb, "beats", snapshot_mode="no_data", heartbeat_interval_ms="1"))
    none.batch()
    mariadb.run("INSERT INTO beats VALUES (2); CREATE TABLE unrelated (id INT);")
    assert rows(none.count(1, "dbz.shop.beats")) == [("c", 2)]
    before = none.offset
    mariadb.run("INSERT INTO unrelated VALUES (1);")
    beat = none.count(1, "__debezium-heartbeat.dbz")[0]
    assert beat.key == {"serverName": "dbz"}
    assert none.offset != before, "the offset has moved though no captured table has changed"
    assert only.batch() == []
    only.close()
    none.close()
