"""Connect workers to measure: ours on Spark, and Apache Kafka's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from benchmarks.targets import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

WITHIN_S = 600.0
_MEASURED_S = 20.0
_POLL_S = 0.02
# What Kafka's worker says of a connector that it has just been given, or while it shares them out.
_NOT_YET = (404, 409)


class Engine(NamedTuple):
    """A worker to measure."""

    name: str
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}


class Worker(NamedTuple):
    """A worker that answers, on the broker that it works with."""

    process: psutil.Popen
    url: str
    admin: AdminClient

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Make a connector."""
        self._put(f"{name}/config", config)

    def stop(self, name: str) -> None:
        """Stop a connector, and wait until it is."""
        self._put(f"{name}/stop", {})

        def is_stopped() -> bool:
            status = self._status(name)
            return status is not None and status["connector"]["state"] == "STOPPED"

        until(is_stopped, f"{name} is stopped")

    def resume(self, name: str) -> None:
        """Let a stopped connector go on."""
        self._put(f"{name}/resume", {})

    def committed(self, topic: str) -> int:
        """Return how many offsets of a topic's first partition a consumer may read."""
        if topic not in self.admin.list_topics(timeout=60).topics:
            return 0
        asked = {TopicPartition(topic, 0): OffsetSpec.latest()}
        level = IsolationLevel.READ_COMMITTED
        (found,) = self.admin.list_offsets(asked, isolation_level=level).values()
        return int(found.result(60).offset)

    def failure(self, name: str) -> str | None:
        """Return why a connector has failed, if it has."""
        status = self._status(name)
        for each in () if status is None else (status["connector"], *status["tasks"]):
            if each["state"] == "FAILED":
                return str(each.get("trace"))
        return None

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
        before, started = self.cpu_s(), time.perf_counter()
        time.sleep(_MEASURED_S)
        return 100 * (self.cpu_s() - before) / (time.perf_counter() - started)

    def resident_mb(self) -> float:
        return float(sum(each.memory_info().rss for each in self.processes())) / 1e6

    def cpu_s(self) -> float:
        times = [each.cpu_times() for each in self.processes()]
        return float(sum(each.user + each.system for each in times))

    def _status(self, name: str) -> Any:
        """Return a connector's status; None while the worker has none of a new one."""
        url = f"{self.url}/connectors/{name}/status"
        try:
            with urllib.request.urlopen(url, timeout=WITHIN_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as failure:
            if failure.code not in _NOT_YET:
                raise
            return None

    def _put(self, path: str, body: Mapping[str, str]) -> None:
        request = urllib.request.Request(
            f"{self.url}/connectors/{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method="PUT",
        )
        urllib.request.urlopen(request, timeout=WITHIN_S).close()


@contextmanager
def working(engine: Engine, bootstrap_servers: str) -> Iterator[Worker]:
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
        admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
        worker = Worker(process, f"http://127.0.0.1:{port}", admin)
        until(worker.is_ready, "the worker answers")
        yield worker
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(WITHIN_S)


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something; raises RuntimeError if it does not happen."""
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {WITHIN_S:g} s: {what}")
        time.sleep(_POLL_S)
