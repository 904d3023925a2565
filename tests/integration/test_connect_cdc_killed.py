"""A worker is killed within snapshots and within changes: each row and change is told once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests import mariadb as maria
from tests import postgresql as postgres
from tests.conftest import unmet
from tests.connect_process import WITHIN_S, ConnectProcess
from tests.effort import often
from tests.integration.test_connect_killed import committed
from tests.waiting import wait_for

from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess

ROWS, CHANGES, BATCH = 1600, 1600, 200
# Each start of a JVM takes its time, and what changes do without a JVM has tests of its own.
KILLS = often(1, in_soak=2)
BATCHES = {"max.batch.size": "50", "transaction.max.rows": str(BATCH), "poll.interval.ms": "50"}
JSON = {
    side: value
    for name in ("key", "value")
    for side, value in {
        f"{name}.converter": "org.apache.kafka.connect.json.JsonConverter",
        f"{name}.converter.schemas.enable": "false",
    }.items()
}
TOPICS = {"maria": "maria.shop.orders", "postgres": "postgres.public.orders"}


@pytest.fixture
def mariadb(tmp_path: Path) -> Iterator[maria.MariaDb]:
    if not maria.is_installed():
        unmet("mariadbd is not installed")
    server = maria.MariaDb(tmp_path, maria.BINLOG)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def postgresql() -> Iterator[postgres.PostgreSql]:
    if not postgres.is_installed():
        unmet("PostgreSQL is not installed")
    with TemporaryFolder("postgresql") as folder:
        server = postgres.PostgreSql(folder, ["wal_level=logical"])
        server.start()
        yield server
        server.stop()


def test_each_row_and_each_change_is_told_once(
    broker: BrokerProcess, mariadb: maria.MariaDb, postgresql: postgres.PostgreSql
) -> None:
    numbers = f"INSERT INTO orders SELECT seq, 'read' FROM seq_1_to_{ROWS}"
    mariadb.run(f"CREATE TABLE orders (id INT PRIMARY KEY, state VARCHAR(9)); {numbers};")
    numbers = f"INSERT INTO orders SELECT n, 'read' FROM generate_series(1, {ROWS}) n"
    postgresql.run(f"CREATE TABLE orders (id int PRIMARY KEY, state text); {numbers};")
    worker = ConnectProcess(broker.bootstrap_servers).start()
    try:
        worker.put("maria", _mariadb(mariadb))
        worker.put("postgres", _postgresql(postgresql))
        _until_one_has_written(worker, dict.fromkeys(TOPICS, BATCH))
        worker.kill()
        cut = {name: _events(broker, topic) for name, topic in TOPICS.items()}
        assert any(0 < len(events) < ROWS for events in cut.values()), "killed within a snapshot"
        worker.start()
        # What was cut begins again, from the beginning.
        before = {name: len(of) if len(of) < ROWS else 0 for name, of in cut.items()}
        for name, topic in TOPICS.items():
            _wait_for(broker, worker, topic, before[name] + ROWS)
        first, end = ROWS + 1, ROWS + CHANGES
        last = f"BEGIN; {{}}; COMMIT; DELETE FROM orders WHERE id = {end};"
        last += f"UPDATE orders SET state = 'paid' WHERE id = {end - 1};"
        written = {name: worker.progress(name).get("rows_written", 0) for name in TOPICS}
        mariadb.run(last.format(f"INSERT INTO orders SELECT seq, 'new' FROM seq_{first}_to_{end}"))
        postgresql.run(
            last.format(
                f"INSERT INTO orders SELECT n, 'new' FROM generate_series({first}, {end}) n"
            )
        )
        if KILLS > 1:
            _until_one_has_written(worker, {name: rows + BATCH for name, rows in written.items()})
            worker.kill()
            told = [len(_events(broker, of)) - before[name] - ROWS for name, of in TOPICS.items()]
            assert any(0 < count < CHANGES for count in told), "killed within the changes"
            worker.start()
        for name, topic in TOPICS.items():
            _wait_for(broker, worker, topic, before[name] + ROWS + CHANGES + 3)
            read = [("r", number) for number in range(1, ROWS + 1)]
            assert _events(broker, topic) == [
                *read[: before[name]],
                *read,
                *(("c", number) for number in range(first, end + 1)),
                ("d", end),
                (None, None),
                ("u", end - 1),
            ]
    finally:
        worker.stop()


def _mariadb(server: maria.MariaDb) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
        **_database(server.port, maria.USER, maria.PASSWORD, "maria"),
        "table.include.list": "shop.orders",
        "include.schema.changes": "false",
    }


def _postgresql(server: postgres.PostgreSql) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        **_database(server.port, postgres.USER, postgres.PASSWORD, "postgres"),
        "database.dbname": postgres.DATABASE,
        "table.include.list": "public.orders",
    }


def _database(port: int, user: str, password: str, prefix: str) -> dict[str, str]:
    return {
        "database.hostname": "127.0.0.1",
        "database.port": str(port),
        "database.user": user,
        "database.password": password,
        "topic.prefix": prefix,
        **BATCHES,
        **JSON,
    }


def _events(broker: BrokerProcess, topic: str) -> list[tuple[Any, Any]]:
    """Return what happened to which row, in the topic's order."""
    events: list[tuple[Any, Any]] = []
    for text in committed(broker.bootstrap_servers, topic):
        value = json.loads(text) if text else {}
        row = value.get("after") or value.get("before") or {}
        events.append((value.get("op"), row.get("id")))
    return events


def _until_one_has_written(worker: ConnectProcess, rows: dict[str, int]) -> None:
    wait_for(
        lambda: {name: worker.progress(name).get("rows_written", 0) for name in rows},
        lambda: str(worker.get("/connectors?expand=status")),
        until=lambda written: any(written[name] >= count for name, count in rows.items()),
        within_s=WITHIN_S,
    )


def _wait_for(broker: BrokerProcess, worker: ConnectProcess, topic: str, count: int) -> None:
    wait_for(
        lambda: len(committed(broker.bootstrap_servers, topic)),
        lambda: f"{count} in {topic}: {worker.get('/connectors?expand=status')}",
        until=lambda found: found >= count,
        within_s=WITHIN_S,
    )
