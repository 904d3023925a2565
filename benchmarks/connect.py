"""Connect: files, tables and changes into topics, files and tables out of them, idle connectors."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import apache_kafka
from benchmarks.connect_databases import Databases, database
from benchmarks.connect_files import LINE_BYTES, Files
from benchmarks.connect_worker import Engine, working
from benchmarks.targets import HEADWATER_OS, running

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.results import Results

    Say = Callable[[str], None]
    Add = Callable[[str, str, float], None]

SECTION = "connect"
HEADWATER = "Headwater"
KAFKA_CONNECT = "Kafka Connect"
RECORDS_VARIABLE = "HEADWATER_BENCH_CONNECT_RECORDS"
RECORDS = 1_000_000
IDLE = 10

_DEBEZIUM = "3.5.0.Final"
_FILE_CONNECTOR = f"org.apache.kafka:connect-file:{apache_kafka.VERSION}"
_CHANGES_CONNECTOR = f"io.debezium:debezium-connector-mariadb:{_DEBEZIUM}"
_WARM = 1000
_SETTLED_AFTER_S = 15.0

CPU = f"worker with {IDLE} idle connectors: CPU"
MEMORY = f"worker with {IDLE} idle connectors: memory"
DELAY = "from a committed row to a consumer, looking every second: slowest of 20"
DATABASE_MEMORY = "worker after these databases: memory"

INTRODUCTION = f"""Our worker on Spark next to Apache Kafka {apache_kafka.VERSION}'s own Connect
worker, with the heap and collector of its start script, each on a broker of ours with `flush=os`.
Theirs has its FileStream connectors, and Debezium {_DEBEZIUM} for MariaDB's changes. A JDBC source
cannot be had by a Maven coordinate; Debezium's JDBC sink can, and does not start in Kafka
{apache_kafka.VERSION}'s worker with the libraries that come with its coordinate.

Lines are strings, rows JSON with schemas, with four columns, in one partition. The time is from the
request that makes the connector until all lines or rows are committed to the topic, or are in the
file or table. Before that, connectors of the same kind have moved {_WARM:,} lines or rows, which
warms both JVMs a little. Changes are inserts, updates and deletes in transactions of 100 rows, made
while the connector is stopped; their time is from the request that resumes it.

Ours writes a source's rows and its position in one transaction, and a sink's rows and theirs in one
of the database; Kafka Connect writes them at least once. Memory is of all of a worker's processes;
CPU time is of 20 s."""


def _jvm(*coordinates: str) -> Engine:
    return Engine(
        KAFKA_CONNECT,
        (
            *("--engine", "kafka"),
            *(word for each in coordinates for word in ("--plugin", each)),
        ),
        {
            "KAFKA_HEAP_OPTS": "-Xms256m -Xmx2g",
            "KAFKA_JVM_PERFORMANCE_OPTS": "-XX:+UseG1GC -XX:MaxGCPauseMillis=20",
        },
    )


class Rows:
    """The rows of the table for so many records, and those among them that are wanted."""

    def __init__(self, records: int, wanted: Sequence[str] = ("",)) -> None:
        self.records, self.changes = records, records // 10
        self._wanted = wanted
        lines = f"{records:,} lines of {LINE_BYTES} bytes"
        self.file_source, self.file_sink = f"file source, {lines}", f"file sink, {lines}"
        self.jdbc_source = f"JDBC source, {records:,} rows"
        self.jdbc_sink = f"JDBC sink, {records:,} rows"
        self.capture = f"change data capture, {self.changes:,} changes"

    def wants(self, *rows: str) -> bool:
        """Tell whether one of these rows is to be measured."""
        return any(text in row for row in rows for text in self._wanted)


_ALL = Rows(RECORDS)
GOALS = {
    _ALL.file_source: "1.0x",
    _ALL.file_sink: "1.0x",
    CPU: "15",
    MEMORY: "1,200",
    _ALL.capture: "1.0x",
    DELAY: "2,000",
}


def measure(rounds: int, results: Results, say: Say, wanted: Sequence[str] = ("",)) -> None:
    """Measure each worker on a broker of its own, in turn; only rows that have a `wanted` text."""
    rows = Rows(int(os.environ.get(RECORDS_VARIABLE, RECORDS)), wanted)
    for number in range(rounds):
        for part, engines in (
            (_files, (Engine(HEADWATER), _jvm(_FILE_CONNECTOR))),
            (_databases, (Engine(HEADWATER), _jvm(_CHANGES_CONNECTOR))),
        ):
            for engine in engines:
                say(f"round {number + 1} of {rounds}: {engine.name}")
                _measure_engine(part, engine, rows, results, say)


def _measure_engine(
    part: Callable[[Engine, Rows, Add], None],
    engine: Engine,
    rows: Rows,
    results: Results,
    say: Say,
) -> None:
    def add(row: str, unit: str, value: float) -> None:
        if rows.wants(row):
            say(f"    {engine.name}: {row}: {value:,.0f} {unit}")
            results.add(row, unit, engine.name, value)

    part(engine, rows, add)


def _files(engine: Engine, rows: Rows, add: Add) -> None:
    if not rows.wants(rows.file_source, rows.file_sink, CPU, MEMORY):
        return
    with (
        tempfile.TemporaryDirectory(prefix="hw-bench-") as folder,
        running(HEADWATER_OS) as broker,
        working(engine, broker.bootstrap_servers) as worker,
    ):
        files = Files(Path(folder), worker)
        files.copy("warm", _WARM)
        source_s, sink_s = files.copy("lines", rows.records)
        add(rows.file_source, "lines/s", rows.records / source_s)
        add(rows.file_sink, "lines/s", rows.records / sink_s)
        # Four are there already, and have nothing more to do.
        for number in range((IDLE - 4) // 2):
            files.copy(f"idle-{number}", 1)
        time.sleep(_SETTLED_AFTER_S)
        add(CPU, "% of a core", worker.cpu_share())
        add(MEMORY, "MB", worker.resident_mb())


def _databases(engine: Engine, rows: Rows, add: Add) -> None:
    if not rows.wants(rows.jdbc_source, rows.jdbc_sink, rows.capture, DELAY, DATABASE_MEMORY):
        return
    with (
        tempfile.TemporaryDirectory(prefix="hw-bench-") as folder,
        running(HEADWATER_OS) as broker,
        working(engine, broker.bootstrap_servers) as worker,
    ):
        server = database(Path(folder))
        server.start()
        try:
            _measure_databases(
                Databases(server, broker.bootstrap_servers, worker), engine, rows, add
            )
            add(DATABASE_MEMORY, "MB", worker.resident_mb())
        finally:
            server.stop()


def _measure_databases(databases: Databases, engine: Engine, rows: Rows, add: Add) -> None:
    is_ours = engine.name == HEADWATER
    if is_ours and rows.wants(rows.jdbc_source):
        databases.read("warm_source", _WARM)
        add(rows.jdbc_source, "rows/s", rows.records / databases.read("items", rows.records))
    if is_ours and rows.wants(DELAY):
        add(DELAY, "ms", max(databases.delays_ms("late")))
    if is_ours and rows.wants(rows.jdbc_sink):
        databases.write("warm_sink", _WARM, _SINK)
        add(rows.jdbc_sink, "rows/s", rows.records / databases.write("copies", rows.records, _SINK))
    if rows.wants(rows.capture):
        captured_s = databases.capture("changes", rows.changes, _CAPTURE)
        add(rows.capture, "changes/s", rows.changes / captured_s)


_CAPTURE = "io.debezium.connector.mariadb.MariaDbConnector"
_SINK = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
    "connection.user": "bench",
    "connection.password": "bench",
    "auto.create": "true",
}
