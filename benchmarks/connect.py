"""Connect: a file into a topic and out of it again, and a worker that has nothing to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from benchmarks import apache_kafka
from benchmarks.targets import HEADWATER_OS, free_port, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchmarks.results import Results

    Say = Callable[[str], None]

HEADWATER = "Headwater"
KAFKA_CONNECT = "Kafka Connect"
LINES = 1_000_000
LINE_BYTES = 100
IDLE = 10

_FILE_CONNECTOR = f"org.apache.kafka:connect-file:{apache_kafka.VERSION}"
_PACKAGE = "org.apache.kafka.connect.file"
_STRING = "org.apache.kafka.connect.storage.StringConverter"
_WITHIN_S = 300.0
_WARM_LINES = 1000
_SETTLED_AFTER_S = 15.0
_MEASURED_S = 20.0
_POLL_S = 0.02

SOURCE = f"file source, {LINES:,} lines of {LINE_BYTES} bytes"
SINK = f"file sink, {LINES:,} lines of {LINE_BYTES} bytes"
CPU = f"worker with {IDLE} idle connectors: CPU"
MEMORY = f"worker with {IDLE} idle connectors: memory"
GOALS = {SOURCE: "1.0x", SINK: "1.0x", CPU: "15", MEMORY: "1,200"}

INTRODUCTION = f"""Our worker on Spark next to Apache Kafka {apache_kafka.VERSION}'s own Connect
worker, with its FileStream connectors and the heap and collector of its start script, each on a
broker of ours with `flush=os`. Lines are strings, in one partition. The time is from the request
that makes the connector until all lines are committed to the topic, or are in the file. Before
that, connectors of the same kind have moved {_WARM_LINES:,} lines, which warms both JVMs a little.

Ours writes a source's lines and its position in one transaction, Kafka Connect writes them at least
once. Memory is of all of a worker's processes; CPU time is of {_MEASURED_S:.0f} s."""


class Engine(NamedTuple):
    """A worker to measure."""

    name: str
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}


ENGINES = (
    Engine(HEADWATER),
    Engine(
        KAFKA_CONNECT,
        ("--engine", "kafka", "--plugin", _FILE_CONNECTOR),
        {
            "KAFKA_HEAP_OPTS": "-Xms256m -Xmx2g",
            "KAFKA_JVM_PERFORMANCE_OPTS": "-XX:+UseG1GC -XX:MaxGCPauseMillis=20",
        },
    ),
)


def measure(rounds: int, results: Results, say: Say) -> None:
    """Measure each worker on a broker of its own, in turn."""
    for number in range(rounds):
        for engine in ENGINES:
            say(f"round {number + 1} of {rounds}: {engine.name}")
            _measure_engine(engine, results, say)


def _measure_engine(engine: Engine, results: Results, say: Say) -> None:
    def add(row: str, unit: str, value: float) -> None:
        say(f"    {engine.name}: {row}: {value:,.0f} {unit}")
        results.add(row, unit, engine.name, value)

    with (
        tempfile.TemporaryDirectory(prefix="hw-bench-") as folder,
        running(HEADWATER_OS) as broker,
        _worker(engine, broker.bootstrap_servers) as worker,
    ):
        files = _Files(Path(folder), broker.bootstrap_servers, worker)
        files.copy("warm", _WARM_LINES)
        source_s, sink_s = files.copy("lines", LINES)
        add(SOURCE, "lines/s", LINES / source_s)
        add(SINK, "lines/s", LINES / sink_s)
        # Four are there already, and have nothing more to do.
        for number in range((IDLE - 4) // 2):
            files.copy(f"idle-{number}", 1)
        time.sleep(_SETTLED_AFTER_S)
        add(CPU, "% of a core", worker.cpu_share())
        add(MEMORY, "MB", worker.resident_mb())


class _Worker(NamedTuple):
    """A worker that answers."""

    process: psutil.Popen
    url: str

    def put(self, name: str, config: Mapping[str, str]) -> None:
        request = urllib.request.Request(
            f"{self.url}/connectors/{name}/config",
            json.dumps(config).encode(),
            {"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(request, timeout=_WITHIN_S).close()

    def is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError(f"the worker ended with exit code {self.process.returncode}")
        try:
            urllib.request.urlopen(f"{self.url}/connectors", timeout=5).close()
        except (urllib.error.URLError, ConnectionError):
            return False
        return True

    def processes(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]

    def cpu_share(self) -> float:
        before, started = self._cpu_s(), time.perf_counter()
        time.sleep(_MEASURED_S)
        return 100 * (self._cpu_s() - before) / (time.perf_counter() - started)

    def resident_mb(self) -> float:
        return float(sum(each.memory_info().rss for each in self.processes())) / 1e6

    def _cpu_s(self) -> float:
        times = [each.cpu_times() for each in self.processes()]
        return float(sum(each.user + each.system for each in times))


@contextmanager
def _worker(engine: Engine, bootstrap_servers: str) -> Iterator[_Worker]:
    port = free_port()
    command = [
        *(str(Path(sys.executable).with_name("headwater")), "connect", "worker"),
        *("--bootstrap-server", bootstrap_servers, "--port", str(port), *engine.options),
    ]
    process = psutil.Popen(
        command,
        env={**os.environ, **engine.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        worker = _Worker(process, f"http://127.0.0.1:{port}")
        _until(worker.is_ready, "the worker answers")
        yield worker
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(_WITHIN_S)


class _Files:
    """Files that a worker reads into topics, and writes again."""

    def __init__(self, folder: Path, bootstrap_servers: str, worker: _Worker) -> None:
        self._folder = folder
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers})
        self._worker = worker

    def copy(self, topic: str, lines: int) -> tuple[float, float]:
        """Move so many lines from a file to a topic, and on to another; return both times."""
        source, copy = self._folder / f"{topic}.txt", self._folder / f"{topic}.copy"
        with source.open("w") as file:
            file.writelines(f"{number:0{LINE_BYTES}d}\n" for number in range(lines))
        started = time.perf_counter()
        self._make(f"{topic}-source", "Source", topic=topic, file=str(source))
        _until(lambda: self._committed(topic) >= lines, f"{lines} lines in the topic")
        read = time.perf_counter()
        self._make(f"{topic}-sink", "Sink", topics=topic, file=str(copy))
        size = lines * (LINE_BYTES + 1)
        _until(lambda: copy.exists() and copy.stat().st_size >= size, f"{lines} lines in the file")
        return read - started, time.perf_counter() - read

    def _make(self, name: str, kind: str, **config: str) -> None:
        of_kind = {"connector.class": f"{_PACKAGE}.FileStream{kind}Connector"}
        converters = {"key.converter": _STRING, "value.converter": _STRING}
        self._worker.put(name, {**of_kind, **converters, **config})

    def _committed(self, topic: str) -> int:
        if topic not in self._admin.list_topics(timeout=60).topics:
            return 0
        asked = {TopicPartition(topic, 0): OffsetSpec.latest()}
        level = IsolationLevel.READ_COMMITTED
        (found,) = self._admin.list_offsets(asked, isolation_level=level).values()
        return int(found.result(60).offset)


def _until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {_WITHIN_S:g} s: {what}")
        time.sleep(_POLL_S)
