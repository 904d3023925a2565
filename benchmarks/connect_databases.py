"""Connect and a MariaDB: its rows into topics, records into its tables, its changes into topics."""

from __future__ import annotations

import json
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pymysql  # type: ignore[import-untyped]
from confluent_kafka import Consumer, Producer, TopicPartition
from examples.mariadb import MariaDb

from benchmarks.connect_worker import WITHIN_S, until

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchmarks.connect_worker import Worker

POLL_MS = 1000

_NAME = "bench"
_OPTIONS = (
    "--innodb-buffer-pool-size=512M",
    "--innodb-log-file-size=256M",
    "--innodb-flush-log-at-trx-commit=2",
    "--performance-schema=OFF",
    "--skip-name-resolve",
    "--log-bin=binlog",
    "--server-id=1",
    "--binlog-format=ROW",
    "--binlog-row-metadata=FULL",
)
_COLUMNS = "id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100), price DOUBLE, day DATE"
_SEQUENCE = "seq, CONCAT('item number ', seq), seq / 4, '2026-11-19' FROM seq_{}_to_{}"
_DAY = 20_776  # since 1970, as Connect's JSON has dates
_SCHEMA = {
    "type": "struct",
    "optional": False,
    "fields": [
        {"field": "id", "type": "int64", "optional": False},
        {"field": "name", "type": "string", "optional": True},
        {"field": "price", "type": "double", "optional": True},
        {
            "field": "day",
            "type": "int32",
            "optional": True,
            "name": "org.apache.kafka.connect.data.Date",
            "version": 1,
        },
    ],
}
# A transaction of a program is small.
_ROWS_OF_A_CHANGE = 100
_SAMPLES = 20
_WARM_ROWS = 1000
_QUIET_S = 2.0
_MOST_QUEUED = 200_000


def database(folder: Path) -> MariaDb:
    """Return a database with a user, not started."""
    return MariaDb(folder, database=_NAME, user=_NAME, password=_NAME, options=_OPTIONS)


class Databases:
    """Tables of one database, for one worker after another."""

    def __init__(self, server: MariaDb, bootstrap_servers: str, worker: Worker) -> None:
        self._server = server
        self._bootstrap_servers = bootstrap_servers
        self._worker = worker

    def read(self, table: str, rows: int) -> float:
        """Read a table of so many rows into a topic; return how long it took."""
        self._fill(table, rows)
        started = time.perf_counter()
        self._make(f"{table}-source", self._jdbc_source(table))
        until(lambda: self._committed(f"{table}-source", f"jdbc-{table}") >= rows, "all rows")
        return time.perf_counter() - started

    def write(self, table: str, rows: int, sink: Mapping[str, str]) -> float:
        """Write so many records of a topic into a new table; return how long it took."""
        self._run(f"DROP TABLE IF EXISTS `{table}`")
        self._produce(table, rows)
        written = self._rows_written()
        started = time.perf_counter()
        place = {"topics": table, "connection.url": self._server.url}
        self._make(f"{table}-sink", {**place, **sink})

        def is_there() -> bool:
            self._check(f"{table}-sink")
            # To count a table's rows takes the database as long as to write some thousands.
            if self._rows_written() - written < rows:
                return False
            return int(self._run(f"SELECT COUNT(*) FROM `{table}`")[0][0]) >= rows

        until(is_there, f"{rows} rows in the table")
        return time.perf_counter() - started

    def capture(self, table: str, changes: int, connector_class: str) -> float:
        """Change rows so often while nobody looks; return how long it takes to tell it all."""
        topic, connector = f"cdc.{_NAME}.{table}", f"{table}-cdc"
        self._run(f"DROP TABLE IF EXISTS `{table}`; CREATE TABLE `{table}` ({_COLUMNS})")
        self._make(
            connector,
            {
                "connector.class": connector_class,
                "database.hostname": "127.0.0.1",
                "database.port": str(self._server.port),
                "database.user": _NAME,
                "database.password": _NAME,
                "database.server.id": "5432",
                "topic.prefix": "cdc",
                "database.include.list": _NAME,
                "table.include.list": f"{_NAME}.{table}",
                "snapshot.mode": "no_data",
                "include.schema.changes": "false",
                "schema.history.internal.kafka.bootstrap.servers": self._bootstrap_servers,
                "schema.history.internal.kafka.topic": f"history-{table}",
            },
        )
        self._run_in(connector, topic, table)
        self._worker.stop(connector)
        already = self._worker.committed(topic)
        events = self._change(table, changes)
        started = time.perf_counter()
        self._worker.resume(connector)
        until(lambda: self._committed(connector, topic) - already >= events, f"{events} events")
        return time.perf_counter() - started

    def delays_ms(self, table: str) -> list[float]:
        """Return how long it takes from committed rows until a consumer has their records."""
        topic = f"jdbc-{table}"
        self._fill(table, 1)
        self._make(f"{table}-source", self._jdbc_source(table))
        until(lambda: self._committed(f"{table}-source", topic) >= 1, "the first row")
        consumer = Consumer({"bootstrap.servers": self._bootstrap_servers, "group.id": table})
        consumer.assign([TopicPartition(topic, 0, self._worker.committed(topic))])
        delays = []
        with closing(consumer), closing(self._connect()) as connection:
            for number in range(_SAMPLES):
                # At all moments between two looks.
                time.sleep(POLL_MS / 1000 * number / _SAMPLES)
                with connection.cursor() as cursor:
                    cursor.execute(f"INSERT INTO `{table}` (name) VALUES ('late')")
                started = time.perf_counter()
                message = consumer.poll(WITHIN_S)
                if message is None or message.error() is not None:
                    raise RuntimeError(f"the row did not come: {message and message.error()}")
                delays.append(1000 * (time.perf_counter() - started))
        return delays

    def _jdbc_source(self, table: str) -> dict[str, str]:
        return {
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            "connection.url": self._server.url,
            "connection.user": _NAME,
            "connection.password": _NAME,
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "table.whitelist": table,
            "topic.prefix": "jdbc-",
            "poll.interval.ms": str(POLL_MS),
        }

    def _make(self, name: str, config: Mapping[str, str]) -> None:
        converter = "org.apache.kafka.connect.json.JsonConverter"
        self._worker.put(name, {"key.converter": converter, "value.converter": converter, **config})

    def _committed(self, connector: str, topic: str) -> int:
        self._check(connector)
        return self._worker.committed(topic)

    def _check(self, connector: str) -> None:
        if (failure := self._worker.failure(connector)) is not None:
            raise RuntimeError(f"{connector} has failed: {failure}")

    def _fill(self, table: str, rows: int) -> None:
        self._run(f"DROP TABLE IF EXISTS `{table}`; CREATE TABLE `{table}` ({_COLUMNS})")
        self._run(f"INSERT INTO `{table}` SELECT {_SEQUENCE.format(1, rows)}")

    def _run_in(self, connector: str, topic: str, table: str) -> None:
        """Let a connector tell its first changes, and all that are under way."""

        def is_told() -> bool:
            # Changes from before its first look are nothing to it.
            self._insert(table, range(_WARM_ROWS))
            self._run(f"DELETE FROM `{table}`")
            return self._committed(connector, topic) > 0

        until(is_told, "the first changes")
        seen = -1
        while seen != (seen := self._worker.committed(topic)):
            time.sleep(_QUIET_S)

    def _change(self, table: str, count: int) -> int:
        """Insert, update and delete rows in small transactions; return how many events that is.

        Half of the changes are inserts, four in ten updates, the rest deletes.
        """
        rows, updates, deletes = range(count // 2), 4 * count // 10, count // 10
        self._insert(table, rows)
        for statement, changed in (
            (f"UPDATE `{table}` SET price = price + 1", rows[:updates]),
            (f"DELETE FROM `{table}`", rows[-deletes:]),
        ):
            self._run(
                "".join(
                    f"{statement} WHERE id BETWEEN {first} AND {last};"
                    for first, last in _parts(changed)
                )
            )
        return len(rows) + updates + 2 * deletes  # a tombstone follows each delete

    def _insert(self, table: str, rows: range) -> None:
        into = f"INSERT INTO `{table}` SELECT"
        self._run("".join(f"{into} {_SEQUENCE.format(*part)};" for part in _parts(rows)))

    def _produce(self, topic: str, rows: int) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self._bootstrap_servers,
                "linger.ms": 20,
                "queue.buffering.max.messages": 2 * _MOST_QUEUED,
                "delivery.report.only.error": True,
            }
        )
        start = f'{{"schema": {json.dumps(_SCHEMA)}, "payload": '
        for number in range(1, rows + 1):
            row = {"id": number, "name": f"item {number}", "price": number / 4, "day": _DAY}
            producer.produce(topic, f"{start}{json.dumps(row)}}}", partition=0)
            while len(producer) > _MOST_QUEUED:
                producer.poll(0.05)
        producer.flush()

    def _rows_written(self) -> int:
        return int(self._run("SHOW GLOBAL STATUS LIKE 'Handler_write'")[0][1])

    def _run(self, sql: str) -> list[list[str]]:
        return self._server.run(sql)

    def _connect(self) -> Any:
        return pymysql.connect(
            host="127.0.0.1",
            port=self._server.port,
            user=_NAME,
            password=_NAME,
            database=_NAME,
            autocommit=True,
        )


def _parts(rows: range) -> Iterable[tuple[int, int]]:
    """Cut rows, counted from 0, into ranges of ids, counted from 1."""
    for start in range(0, len(rows), _ROWS_OF_A_CHANGE):
        part = rows[start : start + _ROWS_OF_A_CHANGE]
        yield part[0] + 1, part[-1] + 1
