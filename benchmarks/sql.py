"""The SQL server: from its start to fifty queries at once, by its HTTP interface."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.targets import HEADWATER_OS, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.results import Results

    Say = Callable[[str], None]

SECTION = "sql"
COLUMN = "Headwater"
QUERIES_VARIABLE = "HEADWATER_BENCH_SQL_QUERIES"
QUERIES = 50

_STATEMENTS = 20
_KEYS = 1_000
_PULLS = 2_000
_CLIENTS = 4
_RATE = 10  # records a second, to each query
_FED_S = 30.0
_SETTLED_S = 45.0  # a real-time query waits for long only after a while without records
_IDLE_S = 20.0
_WITHIN_S = 300.0

READY = "sql: ready after the command"
DDL = "sql: CREATE STREAM with a new topic, median"
FIRST_COLD = "sql: first result of the first stored query, with Spark's start"
FIRST_WARM = "sql: first result of a stored query, Spark being warm"
PULL, PULL_95 = "sql: pull by key, median", "sql: pull by key, 95 %"
PULLS = f"sql: pulls by key, {_CLIENTS} clients"


def _queries() -> int:
    return int(os.environ.get(QUERIES_VARIABLE, QUERIES))


def _of_all(what: str) -> str:
    return f"sql: {_queries()} queries, {what}"


MEDIAN, LATE = "from record to result, median", "from record to result, 95 %"
IDLE, NEXT = "idle, CPU of server and JVM", "first result of one more"
GOALS = {
    READY: "2,000 ms",
    DDL: "100 ms",
    FIRST_WARM: "2,000 ms",
    PULL: "5 ms",
    PULLS: "1,000/s",
    _of_all(MEDIAN): "100 ms",
    _of_all(LATE): "300 ms",
    _of_all(IDLE): "10 %",
    _of_all(NEXT): "2,000 ms",
}
INTRODUCTION = f"""`headwater sql server` on Headwater's broker (`flush=os`). Queries are stored
ones, a filter and a count by key in turns, each with a topic of its own of one partition, {_RATE}
records a second to each for {_FED_S:.0f} s; what sends and receives them runs on the same cores.
A first result is measured from the request of `CREATE ... AS SELECT` until the result of a record
that was there before is in the query's topic. Clients of pull queries keep their connections."""


def measure(rounds: int, results: Results, say: Say) -> None:
    """Measure a server on a fresh broker, so many times."""
    for number in range(1, rounds + 1):
        say(f"round {number} of {rounds}: SQL")
        with (
            running(HEADWATER_OS) as broker,
            tempfile.TemporaryDirectory(prefix="hw-bench-") as directory,
            _server(broker.bootstrap_servers, directory) as server,
        ):
            for name, unit, value in _figures(server):
                say(f"    {name}: {value:.3g} {unit}")
                results.add(name, unit, COLUMN, value)


class _Server:
    """The server's process, asked by HTTP, and the topics around it."""

    def __init__(self, servers: str, process: psutil.Process, port: int, ready_s: float) -> None:
        self.servers = servers
        self.process = process
        self.port = port
        self.ready_s = ready_s
        self.producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})

    def run(self, text: str) -> float:
        """Run statements, and return how many milliseconds it took."""
        properties = {"auto.offset.reset": "earliest"}
        body = json.dumps({"ksql": text, "streamsProperties": properties})
        began = time.perf_counter()
        with closing(http.client.HTTPConnection("127.0.0.1", self.port)) as client:
            client.request("POST", "/ksql", body, {"Content-Type": "application/json"})
            answer = client.getresponse()
            read = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise RuntimeError(f"{text}: {read.decode()}")
        return (time.perf_counter() - began) * 1000

    def produce(self, topic: str, key: str, value: dict[str, Any]) -> None:
        """Send a record to the only partition of a topic."""
        self.producer.produce(topic, json.dumps(value), key, partition=0)
        self.producer.poll(0)

    def processes(self) -> list[psutil.Process]:
        """Return the server and its JVM."""
        return [self.process, *self.process.children(recursive=True)]

    def cpu_s(self) -> float:
        """Return the CPU seconds of both so far."""
        times = (process.cpu_times() for process in self.processes())
        return float(sum(each.user + each.system for each in times))


@contextmanager
def _server(servers: str, directory: str) -> Iterator[_Server]:
    command = [str(Path(sys.executable).with_name("headwater")), "sql", "server"]
    command += ["--port", "0", "--bootstrap-server", servers]
    command += ["--property", f"ksql.streams.state.dir={directory}"]
    log = Path(directory) / "log"
    ready = re.compile(r"SQL server listening on http://127\.0\.0\.1:(\d+)")
    began = time.perf_counter()
    with log.open("w") as output:
        process = subprocess.Popen(command, stderr=output)
    try:
        while (found := ready.search(log.read_text())) is None:
            if process.poll() is not None or time.perf_counter() - began > _WITHIN_S:
                raise RuntimeError(f"the server did not come up: {log.read_text()}")
            time.sleep(0.005)
        ready_s = time.perf_counter() - began
        yield _Server(servers, psutil.Process(process.pid), int(found[1]), ready_s)
    finally:
        process.terminate()
        process.wait(120)


def _figures(server: _Server) -> Iterator[tuple[str, str, float]]:
    yield READY, "ms", server.ready_s * 1000
    yield DDL, "ms", median(server.run(_stream(f"d{number}")) for number in range(_STATEMENTS))
    yield FIRST_COLD, "ms", _first_result_ms(server, "cold")
    server.run(_stream("counted") + _query("warmth", "counted", is_count=True))
    yield FIRST_WARM, "ms", median(_first_result_ms(server, f"warm{each}") for each in range(3))
    yield from _pulls(server)
    yield from _many(server)


def _stream(name: str) -> str:
    return (
        f"CREATE STREAM {name} (id STRING KEY, n INT, sent DOUBLE) "
        f"WITH (kafka_topic='{name}', value_format='JSON', partitions=1);"
    )


def _query(name: str, source: str, *, is_count: bool) -> str:
    if is_count:
        return (
            f"CREATE TABLE {name} WITH (kafka_topic='{name}') AS SELECT id, COUNT(*) AS n, "
            f"LATEST_BY_OFFSET(sent) AS sent FROM {source} GROUP BY id;"
        )
    return (
        f"CREATE STREAM {name} WITH (kafka_topic='{name}') AS "
        f"SELECT id, n, sent FROM {source} WHERE n > 0;"
    )


def _first_result_ms(server: _Server, name: str) -> float:
    server.run(_stream(name))
    server.produce(name, "a", {"N": 1, "SENT": 0.0})
    server.producer.flush()
    began = time.perf_counter()
    server.run(_query(f"{name}_out", name, is_count=False))
    for _ in _received(server, [f"{name}_out"], 1):
        pass
    return (time.perf_counter() - began) * 1000


def _received(server: _Server, topics: list[str], count: int) -> Iterator[dict[str, Any]]:
    """Iterate over so many results as they come."""
    settings = {"bootstrap.servers": server.servers, "group.id": "bench"}
    with closing(Consumer(settings)) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
        deadline = time.perf_counter() + _WITHIN_S
        while count:
            message = consumer.poll(0.1)
            if time.perf_counter() > deadline:
                raise RuntimeError(f"{count} results of {topics} did not come")
            if message is None or message.error() is not None or message.value() is None:
                continue
            value: dict[str, Any] = json.loads(message.value() or b"")
            yield {name.upper(): part for name, part in value.items()}
            count -= 1


def _pulls(server: _Server) -> Iterator[tuple[str, str, float]]:
    server.run(
        "CREATE TABLE items (id STRING PRIMARY KEY, n INT) "
        "WITH (kafka_topic='items', value_format='JSON', partitions=1);"
    )
    for number in range(_KEYS):
        server.produce("items", f"key-{number}", {"N": number})
    server.producer.flush()
    with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as client:
        _pull(client, _KEYS - 1)
        times = sorted(_pull(client, number % _KEYS) for number in range(_PULLS))
    yield PULL, "ms", times[len(times) // 2]
    yield PULL_95, "ms", times[int(len(times) * 0.95)]

    def pull_all() -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as client:
            for number in range(_PULLS):
                _pull(client, number % _KEYS)

    threads = [threading.Thread(target=pull_all) for _ in range(_CLIENTS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield PULLS, "requests/s", _CLIENTS * _PULLS / (time.perf_counter() - began)


def _pull(client: http.client.HTTPConnection, number: int) -> float:
    body = json.dumps({"sql": f"SELECT n FROM items WHERE id = 'key-{number}';"})
    began = time.perf_counter()
    client.request("POST", "/query-stream", body, {"Content-Type": "application/json"})
    lines = client.getresponse().read().splitlines()
    lasted = (time.perf_counter() - began) * 1000
    assert json.loads(lines[1]) == [number]
    return lasted


def _many(server: _Server) -> Iterator[tuple[str, str, float]]:
    count = _queries()
    names = [f"many{number}" for number in range(count)]
    for name in names:
        server.run(_stream(name))
        server.produce(name, "first", {"N": 1, "SENT": 0.0})
        server.producer.flush()
    began = time.perf_counter()
    for number, name in enumerate(names):
        server.run(_query(f"{name}_out", name, is_count=number % 2 == 1))
    outputs = [f"{name}_out" for name in names]
    for _ in _received(server, outputs, count):
        pass
    yield _of_all("until all have a result"), "ms", (time.perf_counter() - began) * 1000
    latencies = _latencies(server, names, outputs)
    yield _of_all(MEDIAN), "ms", latencies[len(latencies) // 2]
    yield _of_all(LATE), "ms", latencies[int(len(latencies) * 0.95)]
    memory = sum(process.memory_info().rss for process in server.processes())
    yield _of_all("resident memory"), "MB", memory / 1e6
    time.sleep(_SETTLED_S)
    before, began = server.cpu_s(), time.perf_counter()
    time.sleep(_IDLE_S)
    used = 100 * (server.cpu_s() - before) / (time.perf_counter() - began)
    yield _of_all(IDLE), "% of a core", used
    yield _of_all(NEXT), "ms", _first_result_ms(server, "next")


def _latencies(server: _Server, names: list[str], outputs: list[str]) -> list[float]:
    """Return how long each record took to become a result, in order; all have to come."""
    records = int(_FED_S * _RATE)

    def feed() -> None:
        began = time.perf_counter()
        for number in range(records):
            for name in names:
                server.produce(name, f"{number % 20}", {"N": 1, "SENT": time.time()})
            server.producer.poll(0)
            time.sleep(max(0.0, began + (number + 1) / _RATE - time.perf_counter()))
        server.producer.flush()

    feeding = threading.Thread(target=feed)
    feeding.start()
    wanted = (records + 1) * len(names)  # with the first ones, which were sent before
    found = (
        (time.time() - value["SENT"]) * 1000
        for value in _received(server, outputs, wanted)
        if value["SENT"]
    )
    in_order = sorted(found)
    feeding.join()
    return in_order
